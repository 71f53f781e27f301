//! A local HTTP proxy that connects every `CONNECT` to one server, whatever it names.

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// A proxy. Its threads end with the process.
#[derive(Debug)]
pub struct Tunnel {
    address: SocketAddr,
    connected: Arc<Mutex<Vec<String>>>,
}

impl Tunnel {
    /// Starts a proxy to the server at `host`, as `127.0.0.1:PORT`.
    pub fn start(host: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let connected: Arc<Mutex<Vec<String>>> = Arc::default();
        let (host, log) = (host.to_owned(), Arc::clone(&connected));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (host, log) = (host.clone(), Arc::clone(&log));
                // A client that breaks off is none of the proxy's errors.
                thread::spawn(move || drop(connect(client, &host, &log)));
            }
        });
        Self { address, connected }
    }

    /// `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The servers that clients named, as `HOST:PORT`.
    pub fn connected(&self) -> Vec<String> {
        self.connected.lock().expect("not poisoned").clone()
    }
}

fn connect(mut client: TcpStream, host: &str, log: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    log.lock().unwrap_or_else(PoisonError::into_inner).extend(line.split(' ').nth(1).map(str::to_owned));
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line)?;
    }
    let server = TcpStream::connect(host)?;
    client.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
    let (mut to_server, mut from_server) = (server.try_clone()?, server);
    let mut to_client = client.try_clone()?;
    let back = thread::spawn(move || {
        drop(io::copy(&mut from_server, &mut to_client));
        drop(to_client.shutdown(Shutdown::Both));
    });
    io::copy(&mut reader, &mut to_server)?;
    to_server.shutdown(Shutdown::Write)?;
    drop(back.join());
    Ok(())
}
