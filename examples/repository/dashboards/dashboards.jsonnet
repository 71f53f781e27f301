// A ConfigMap with a dashboard for each team.
local dashboard = import 'lib/dashboard.libsonnet';

function(teams) [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'dashboard-' + team, labels: { dashboards: std.extVar('instance') } },
    data: { [team + '.json']: std.manifestJsonMinified(dashboard.of(team)) },
  }
  for team in teams
]
