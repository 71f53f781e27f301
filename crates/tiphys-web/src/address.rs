//! Addresses of pages: loopback addresses only.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

/// A loopback address. Each page load runs a plugin with the rights of the user who serves the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopbackAddress(SocketAddr);

/// An address is malformed or not a loopback address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLoopback {
    /// An address that other machines can reach.
    #[error(
        "{0} can be reached from other machines, and each load of the page runs the plugin with your rights; only loopback addresses are \
         served: write PORT, 127.0.0.1:PORT or [::1]:PORT, and reach it from elsewhere through an SSH tunnel"
    )]
    Reachable(IpAddr),
    /// Another syntax.
    #[error("write PORT, 127.0.0.1:PORT, [::1]:PORT or localhost:PORT; port 0 is any free one")]
    Syntax,
}

impl LoopbackAddress {
    /// The address.
    pub fn get(self) -> SocketAddr {
        self.0
    }
}

impl Default for LoopbackAddress {
    /// A free port of `127.0.0.1`.
    fn default() -> Self {
        Self(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }
}

impl FromStr for LoopbackAddress {
    type Err = NotLoopback;

    /// Parses `PORT`, `ADDR:PORT` or `localhost:PORT` without a name lookup.
    fn from_str(text: &str) -> Result<Self, NotLoopback> {
        let port = |text: &str| text.parse::<u16>().map_err(|_| NotLoopback::Syntax);
        if let Some(text) = text.strip_prefix("localhost:") {
            return Ok(Self(SocketAddr::from((Ipv4Addr::LOCALHOST, port(text)?))));
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            let reachable = !address.ip().to_canonical().is_loopback();
            return if reachable { Err(NotLoopback::Reachable(address.ip())) } else { Ok(Self(address)) };
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            let reachable = !address.to_canonical().is_loopback();
            return Err(if reachable { NotLoopback::Reachable(address) } else { NotLoopback::Syntax });
        }
        Ok(Self(SocketAddr::from((Ipv4Addr::LOCALHOST, port(text)?))))
    }
}

impl fmt::Display for LoopbackAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests;
