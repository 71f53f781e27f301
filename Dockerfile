# Two images: the default one has tiphys and nothing else, for an init container that gives it to the sidecars of plugins
# (docs/beside-argo-cd.md); `--target ci` has git, helm, kustomize (in tiphys-native) and tiphys, for jobs of CI systems.
#
#   docker build --build-arg TIPHYS_COMMIT="$(git rev-parse HEAD)" --tag registry.example.com/tiphys:1 .
#   docker build --build-arg TIPHYS_COMMIT="$(git rev-parse HEAD)" --tag registry.example.com/tiphys-ci:1 --target ci .
FROM rust:1.95.0-slim AS build
WORKDIR /src
COPY . .
# What `tiphys version` says; the history is not among the files.
ARG TIPHYS_COMMIT
RUN cargo xtask build --output /out/tiphys

FROM build AS tools
COPY --from=golang:1.26 /usr/local/go /usr/local/go
# Static programs, which start in any image.
ENV PATH=/usr/local/go/bin:$PATH CGO_ENABLED=0
RUN cargo xtask tools --for plugins

FROM debian:13-slim AS ci
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /out/tiphys /usr/local/bin/
COPY --from=tools /src/target/tools/bin/helm /src/target/tools/bin/tiphys-native /usr/local/bin/

# Without a shell, and nothing is written but where a command is told to: it runs with a read-only root file system.
FROM scratch
COPY --from=build /out/tiphys /tiphys
# Argo CD's user.
USER 999:999
ENTRYPOINT ["/tiphys"]
