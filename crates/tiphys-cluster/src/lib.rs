//! Readers of live objects: a folder of YAML that stands for a cluster.
