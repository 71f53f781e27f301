# Generation by the shell script of the proposal's Example 3, with line breaks that every shell writes.
ARGUMENTS=$(printf '%s' "$ARGOCD_APP_PARAMETERS" | jq -r '.[] | select(.name == "values-files").array | .[] | "--values=" + .')
PARAMETERS=$(printf '%s' "$ARGOCD_APP_PARAMETERS" | jq -r '.[] | select(.name == "helm-parameters").map | to_entries | map("\(.key)=\(.value)") | .[] | "--set=" + .')
printf '%s\n%s\n' "$ARGUMENTS" "$PARAMETERS" | xargs helm template .
