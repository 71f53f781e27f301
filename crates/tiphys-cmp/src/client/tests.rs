use std::sync::Arc;

use tiphys_plugin::Plugin as _;
use tokio::net::UnixListener;

use super::RemotePlugin;
use crate::archives::Archives;

#[tokio::test(start_paused = true)]
async fn server_that_does_not_answer_ends_the_request_for_its_configuration() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("silent.sock");
    let _silent = UnixListener::bind(&socket).expect("the socket is bound");
    let plugin = RemotePlugin::new(socket, Arc::new(Archives::new(directory.path().to_path_buf())));
    let error = plugin.configuration().await.expect_err("no answer").to_string();
    assert!(error.contains("Timeout expired"), "{error}");
}
