{
  panel(title, query):: { title: title, targets: [{ expr: query }] },
  of(team):: {
    title: 'Team ' + team,
    panels: [$.panel('Requests', 'sum(rate(http_requests_total{namespace="%s"}[5m]))' % team)],
  },
}
