#!/bin/sh
cat <<END
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data: {p: "$PARAM_P"}
END
