//! The plugin protocol over gRPC on a Unix socket: server and client.
