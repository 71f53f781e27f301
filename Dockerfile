# tiphys and nothing else, static: for an init container that gives it to the sidecars of plugins (docs/beside-argo-cd.md).
#
#   docker build --build-arg TIPHYS_COMMIT="$(git rev-parse HEAD)" --tag registry.example.com/tiphys:1 .
#
# There is no shell, and nothing is written but where a command is told to: it runs with a read-only root file system.
FROM rust:1.95.0-slim AS build
WORKDIR /src
COPY . .
# What `tiphys version` says; the history is not among the files.
ARG TIPHYS_COMMIT
RUN cargo xtask build --output /out/tiphys

FROM scratch
COPY --from=build /out/tiphys /tiphys
# Argo CD's user.
USER 999:999
ENTRYPOINT ["/tiphys"]
