#!/bin/sh
# One ConfigMap that holds the parameters.
cat <<END
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"shop"},"data":{"replicas":"${PARAM_REPLICAS:-1}","size":"$PARAM_SIZE","host":"$PARAM_HOSTS_0"}}
END
