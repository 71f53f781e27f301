#!/bin/sh
# Stands for helm: tells a version, takes down with which arguments it was called, and prints a file.
case $1 in
version)
    printf v4.3.1
    ;;
*)
    printf '%s\0' "$@" >"$0.arguments"
    exec cat "$0.output"
    ;;
esac
