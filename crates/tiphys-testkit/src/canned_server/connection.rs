//! A connection to a client, with or without TLS.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A connection to a client.
pub(super) enum Connection {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Connection {
    pub(super) fn new(stream: TcpStream, tls: Option<Arc<ServerConfig>>) -> io::Result<Self> {
        // Small parts of answers are not delayed.
        stream.set_nodelay(true)?;
        let Some(config) = tls else { return Ok(Self::Plain(stream)) };
        let session = ServerConnection::new(config).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(StreamOwned::new(session, stream))))
    }

    /// Closes the connection so that the client sees its end, with TLS a `close_notify`.
    pub(super) fn end(self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.shutdown(Shutdown::Write),
            Self::Tls(mut stream) => {
                stream.conn.send_close_notify();
                stream.flush()?;
                stream.sock.shutdown(Shutdown::Write)
            }
        }
    }

    /// Forwards all bytes to and from a server until one side closes its connection.
    pub(super) fn forward(self, to: SocketAddr) -> io::Result<()> {
        let Self::Plain(client) = self else { return Err(io::ErrorKind::Unsupported.into()) };
        let server = TcpStream::connect(to)?;
        thread::scope(|scope| {
            for (mut from, mut to) in [(&client, &server), (&server, &client)] {
                scope.spawn(move || {
                    // An error of a connection is the client's to report.
                    drop(io::copy(&mut from, &mut to));
                    drop(to.shutdown(Shutdown::Both));
                });
            }
        });
        Ok(())
    }

    fn stream(&mut self) -> &mut dyn Stream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => stream,
        }
    }
}

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream().read(buffer)
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream().flush()
    }
}
