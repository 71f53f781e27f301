#!/bin/sh
# The first table of the demo: Applications that need no other program than tiphys. Run by `cargo xtask demo` in the workspace's root.
set -eu
printf '\n==> tiphys render: a plain directory, and a shell plugin\n'
TIPHYS_CACHE_DIR=target/demo/cache exec tiphys render -o table --store xtask/demo/first/store.yaml --plugins xtask/demo/first/plugin \
  --repo https://git.example.com/platform/first.git=xtask/demo/first/repository
