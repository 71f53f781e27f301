//! A dropped future or response closes its connection.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use tiphys_http::{Response, Target};
use tokio::task::spawn_blocking;

use crate::json::post;
use crate::raw_server::read_head;
use crate::{get, plain_client, url};

/// Accepts a connection and reads the request.
async fn accepted(listener: TcpListener) -> TcpStream {
    let accept = move || {
        let (mut stream, _) = listener.accept().expect("a client connects");
        read_head(&mut stream);
        stream
    };
    spawn_blocking(accept).await.expect("it does not panic")
}

/// Waits until the client has closed the connection. The rest of a request is ignored.
async fn is_closed(mut stream: TcpStream) {
    let read = move || while matches!(stream.read(&mut [0; 16]), Ok(1..)) {};
    spawn_blocking(read).await.expect("it does not panic");
}

#[tokio::test]
async fn dropped_request_closes_the_connection() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let text = format!("http://{}", listener.local_addr().expect("it is bound"));
    let client = plain_client().await;
    let stream = tokio::select! {
        response = get(&client, &text) => panic!("the server does not respond: {response:?}"),
        stream = accepted(listener) => stream,
    };
    is_closed(stream).await;
}

#[tokio::test]
async fn dropped_request_with_json_closes_the_connection() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let target = Target::new(url(&format!("http://{}", listener.local_addr().expect("it is bound"))));
    let client = plain_client().await;
    let stream = tokio::select! {
        response = post(&client, &target) => panic!("the server does not respond: {response:?}"),
        stream = accepted(listener) => stream,
    };
    is_closed(stream).await;
}

#[tokio::test]
async fn dropped_response_closes_the_connection() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let text = format!("http://{}", listener.local_addr().expect("it is bound"));
    let client = plain_client().await;
    let respond = async {
        let mut stream = accepted(listener).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc").expect("the client reads");
        stream
    };
    let (response, stream) = tokio::join!(get(&client, &text), respond);
    drop::<Response>(response.expect("a response"));
    is_closed(stream).await;
}
