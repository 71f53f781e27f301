//! The address of a page.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::address::LoopbackAddress;

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// The URL of the page.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn into_listener(self) -> TcpListener {
        self.listener
    }
}

/// Binds an address. The error does not name it.
pub async fn bind(address: LoopbackAddress) -> io::Result<Bound> {
    let listener = TcpListener::bind(address.get()).await?;
    let address = listener.local_addr()?;
    Ok(Bound { listener, address })
}
