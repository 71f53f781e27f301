# Runs etcd and kube-apiserver until standard input ends, and then removes their directory, unless it has a file `keep`.
# Standard input is a pipe from the test, so that the servers end with it, whatever ends it.
folder=$1
shift
exec 3<&0
"$ETCD" --data-dir "$folder/etcd" --unsafe-no-fsync --log-level error \
    --listen-client-urls "$ETCD_URL" --advertise-client-urls "$ETCD_URL" \
    --listen-peer-urls "$PEER_URL" --initial-advertise-peer-urls "$PEER_URL" --initial-cluster "default=$PEER_URL" \
    </dev/null 3<&- >"$folder/etcd.log" 2>&1 &
etcd=$!
"$APISERVER" --etcd-servers "$ETCD_URL" "$@" </dev/null 3<&- >"$folder/apiserver.log" 2>&1 &
apiserver=$!
(
    # A signal to the whole process group, as of `timeout`, ends the test and this script, but not kube-apiserver.
    trap '' HUP INT TERM
    cat <&3 >/dev/null
    kill -9 $etcd $apiserver
    [ -e "$folder/keep" ] || rm -rf "$folder"
) 2>/dev/null &
wait $apiserver
kill -9 $etcd 2>/dev/null
wait $etcd
