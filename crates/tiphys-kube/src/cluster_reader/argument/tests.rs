use std::sync::Arc;

use tiphys_model::resources::IN_CLUSTER_SERVER;

use super::{ClusterStateArgument, Clusters};
use crate::cluster_reader::FolderCluster;

#[test]
fn argument_without_cluster_means_in_cluster() {
    let cases = [
        ("live", IN_CLUSTER_SERVER, "live"),
        ("./a=b", IN_CLUSTER_SERVER, "./a=b"),
        ("=x", IN_CLUSTER_SERVER, "=x"),
        ("prod=live/prod", "prod", "live/prod"),
        ("prod=a=b", "prod", "a=b"),
        ("https://1.2.3.4:6443=live", "https://1.2.3.4:6443", "live"),
        ("in-cluster=live", IN_CLUSTER_SERVER, "live"),
    ];
    for (text, cluster, folder) in cases {
        let expected = ClusterStateArgument { cluster: cluster.to_owned(), folder: folder.into() };
        assert_eq!(ClusterStateArgument::parse(text), expected, "{text}");
    }
}

#[test]
fn cluster_is_found_by_url_or_name() {
    let mut clusters = Clusters::default();
    clusters.insert("in-cluster", Arc::new(FolderCluster::default()));
    clusters.insert("prod", Arc::new(FolderCluster::default()));
    let cases = [
        (IN_CLUSTER_SERVER, true),
        ("in-cluster", true),
        ("prod", true),
        ("https://elsewhere", false),
        ("test", false),
    ];
    for (cluster, known) in cases {
        assert_eq!(clusters.named(cluster).is_some(), known, "{cluster}");
    }
}
