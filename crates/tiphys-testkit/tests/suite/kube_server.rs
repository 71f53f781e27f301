//! The Kubernetes API server of tests.

use serde_json::json;
use tiphys_testkit::kube_server::KubeServer;
use tiphys_testkit::wait;

#[tokio::test]
async fn server_has_objects_and_ends_with_its_handle() {
    let server = KubeServer::start();
    let path = "/api/v1/namespaces/default/configmaps";
    server.create(path, &json!({"metadata": {"name": "a"}, "data": {"k": "v"}}));
    assert_eq!(server.read(&format!("{path}/a"))["data"], json!({"k": "v"}));
    server.delete(&format!("{path}/a"));
    assert_eq!(
        server.read(path)["items"]
            .as_array()
            .map(|items| items.iter().any(|item| item["metadata"]["name"] == "a")),
        Some(false)
    );
    let address = server.address();
    drop(server);
    wait::eventually("the port is closed", || std::net::TcpStream::connect(address).is_err()).await;
}
