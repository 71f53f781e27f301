# What the plugin of the soak does, as the variable ARGOCD_ENV_DOES says; all kinds of plugins in one.
sum=$(cat apps/*/*.yaml | cksum)
print() {
    echo "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\"}, \"data\": {\"sum\": \"$sum\"}}"
}
case $ARGOCD_ENV_DOES in
print)
    print
    ;;
spoil)
    # None of this may be seen by another run.
    for file in apps/*/*.yaml; do
        echo spoilt >>"$file"
    done
    rm -r apps/app-0000
    mv apps elsewhere
    ln -s / apps
    mkdir -p deep/deeper
    chmod 0 deep elsewhere
    print
    ;;
leave)
    # Processes that leave the group, do not end when asked, and have a child that is not waited for.
    (trap '' TERM && setsid sh -c 'trap "" TERM; sleep 600 & sleep 600' >/dev/null 2>&1 </dev/null &)
    (sleep 600 >/dev/null 2>&1 &)
    print
    ;;
hold)
    # A process that keeps standard output open.
    sleep 600 &
    print
    ;;
hang)
    trap '' TERM
    sleep 600
    ;;
fail)
    echo "failed on purpose" >&2
    exit 3
    ;;
kill)
    kill -9 $$
    ;;
much)
    head -c 8000000 /dev/zero | tr '\0' 'x'
    ;;
loud)
    head -c 8000000 /dev/zero | tr '\0' 'x' >&2
    exit 1
    ;;
esac
