//! Which proxy leads to a server, by Go's rules: a repository's own, else that of the environment.

use std::net::IpAddr;

use tiphys_access::RepositoryAccess;
use ureq::Proxy;

use super::{Address, Scheme, Variable, WebError};
use crate::Secret;

/// Proxies for both schemes, and for which hosts none is used.
#[derive(Debug)]
pub(super) struct Proxies {
    http: Option<Secret>,
    https: Option<Secret>,
    none_for: Vec<String>,
}

impl Proxies {
    pub(super) fn new(access: &RepositoryAccess, variable: Variable<'_>) -> Self {
        let own = access.proxy.expose();
        if !own.is_empty() {
            let proxy = Some(Secret::new(own));
            return Self { http: proxy.clone(), https: proxy, none_for: list(&access.no_proxy) };
        }
        let either = |upper: &str| {
            let value = variable(upper).or_else(|| variable(&upper.to_ascii_lowercase()));
            value.filter(|value| !value.is_empty())
        };
        Self {
            http: either("HTTP_PROXY").map(Secret::new),
            https: either("HTTPS_PROXY").map(Secret::new),
            none_for: list(&either("NO_PROXY").unwrap_or_default()),
        }
    }

    pub(super) fn of(&self, address: &Address) -> Result<Option<Proxy>, WebError> {
        let Some(text) = self.text_for(address) else { return Ok(None) };
        let text = text.expose();
        let url = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let wrong = || WebError::Other("the proxy for it is no http or https URL".to_owned());
        // The client takes others and panics when it is to use them.
        let is_http = url.split_once("://").is_some_and(|(scheme, _)| {
            ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        });
        if !is_http {
            return Err(wrong());
        }
        Proxy::new(&url).map(Some).map_err(|_| wrong())
    }

    fn text_for(&self, address: &Address) -> Option<&Secret> {
        let proxy = match address.scheme {
            Scheme::Http => &self.http,
            Scheme::Https => &self.https,
        };
        proxy.as_ref().filter(|_| !self.is_direct(address))
    }

    /// Whether no proxy is used. This machine is never behind one.
    fn is_direct(&self, address: &Address) -> bool {
        let host = address.host.trim_matches(['[', ']']).trim_end_matches('.');
        let ip: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
            return true;
        }
        self.none_for.iter().any(|rule| fits(rule, host, ip, address.port()))
    }
}

fn list(text: &str) -> Vec<String> {
    text.split(',').map(|rule| rule.trim().to_ascii_lowercase()).filter(|rule| !rule.is_empty()).collect()
}

/// `*`, an address, a network, or a name: that host and all below it, with a dot in front only those below. A port may follow.
fn fits(rule: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
    if rule == "*" {
        return true;
    }
    if let Some((network, bits)) = rule.split_once('/') {
        let (Ok(network), Ok(bits)) = (network.parse(), bits.parse()) else { return false };
        return ip.is_some_and(|ip| is_in_network(ip, network, bits));
    }
    let (name, rule_port) = match rule.rsplit_once(':') {
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => {
            (name, digits.parse::<u16>().ok())
        }
        _ => (rule, None),
    };
    if rule_port.is_some_and(|rule_port| rule_port != port) {
        return false;
    }
    let name = name.trim_matches(['[', ']']);
    if let Ok(rule) = name.parse::<IpAddr>() {
        return ip == Some(rule);
    }
    let name = name.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(name);
    match name.strip_prefix('.') {
        Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')),
    }
}

fn is_in_network(ip: IpAddr, network: IpAddr, bits: u32) -> bool {
    let same = |one: u128, other: u128, width: u32| {
        bits <= width && (bits == 0 || (one ^ other) >> (width - bits) == 0)
    };
    match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => {
            same(u32::from(ip).into(), u32::from(network).into(), u32::BITS)
        }
        (IpAddr::V6(ip), IpAddr::V6(network)) => same(ip.into(), network.into(), u128::BITS),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
