//! An address of a server without pages, which serves metrics or receives webhooks.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpListener;

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct Endpoint {
    pub(crate) listener: TcpListener,
    address: SocketAddr,
}

impl Endpoint {
    /// Binds an address. `[::]` becomes `0.0.0.0` on a system without IPv6. The error does not name the address.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = bind_all(address, async |address| TcpListener::bind(address).await).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Returns the address with the port that was assigned.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Calls `bind` with the address, and on a system without IPv6 with `0.0.0.0` instead of `[::]`.
pub(crate) async fn bind_all<L>(
    address: SocketAddr,
    bind: impl AsyncFn(SocketAddr) -> io::Result<L>,
) -> io::Result<L> {
    match bind(address).await {
        Err(error) if address.ip() == Ipv6Addr::UNSPECIFIED && is_without_version_6(&error) => {
            bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()))).await
        }
        result => result,
    }
}

/// Whether the kernel has no IPv6 (not built, or disabled at boot), or no IPv6 address (disabled later).
fn is_without_version_6(error: &io::Error) -> bool {
    /// `EAFNOSUPPORT` on Linux, which has no `ErrorKind`.
    const NO_SUCH_FAMILY: i32 = 97;
    error.kind() == io::ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(NO_SUCH_FAMILY)
}
