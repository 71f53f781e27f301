//! The proxy for a server, by the rules of Go: the repository's own, else that of the environment.

use std::net::IpAddr;

use reqwest::Url;
use tiphys_model::access::{RepositoryAccess, Secret};

use crate::url::is_host;
use crate::{Environment, HttpError};

/// Proxies for both schemes, and the hosts that are reached without one. Proxy URLs may contain a password.
#[derive(Debug)]
pub(crate) struct ProxySettings {
    http: Option<Secret>,
    https: Option<Secret>,
    no_proxy: Vec<String>,
}

impl ProxySettings {
    /// Reads the repository's settings, or the environment if they have no proxy.
    pub(crate) fn new(access: &RepositoryAccess, environment: Environment<'_>) -> Self {
        let own = access.proxy.expose();
        if !own.is_empty() {
            let proxy = Some(Secret::new(own));
            return Self { http: proxy.clone(), https: proxy, no_proxy: rules(&access.no_proxy) };
        }
        let either = |upper: &str| {
            let value = environment(upper).or_else(|| environment(&upper.to_ascii_lowercase()));
            value.filter(|value| !value.is_empty())
        };
        Self {
            http: either("HTTP_PROXY").map(Secret::new),
            https: either("HTTPS_PROXY").map(Secret::new),
            no_proxy: rules(&either("NO_PROXY").unwrap_or_default()),
        }
    }

    /// The proxy for a URL, with its credentials; none for a direct connection.
    pub(crate) fn proxy_for(&self, url: &Url) -> Result<Option<Url>, HttpError> {
        let Some(text) = self.setting_for(url) else { return Ok(None) };
        let proxy = parse(text.expose());
        let invalid = || HttpError::Other("its proxy is not a valid URL; expected http or https".to_owned());
        proxy.map(Some).ok_or_else(invalid)
    }

    fn setting_for(&self, url: &Url) -> Option<&Secret> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !self.is_direct(url))
    }

    /// Whether no proxy is used. Loopback addresses never use one.
    fn is_direct(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.');
        let ip: Option<IpAddr> = host.parse().ok();
        if host == "localhost" || ip.is_some_and(|ip| ip.is_loopback()) {
            return true;
        }
        let port = url.port_or_known_default().unwrap_or_default();
        self.no_proxy.iter().any(|rule| matches(rule, host, ip, port))
    }
}

/// Parses a proxy's URL. Its scheme may be missing; path and query are dropped.
fn parse(text: &str) -> Option<Url> {
    let text = text.trim();
    let url = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
    let mut url = url.ok().filter(|url| ["http", "https"].contains(&url.scheme()))?;
    // reqwest ignores proxies whose host it cannot use, and connects directly.
    if !is_host(url.host_str()?) {
        return None;
    }
    url.set_path("");
    url.set_query(None);
    url.set_fragment(None);
    Some(url)
}

fn rules(text: &str) -> Vec<String> {
    text.split(',').map(|rule| rule.trim().to_ascii_lowercase()).filter(|rule| !rule.is_empty()).collect()
}

/// Whether a rule of `NO_PROXY` matches: `*`, an IP address, a network, or a domain with its subdomains; a leading dot matches only
/// subdomains. A port may follow.
fn matches(rule: &str, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
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
    let same_prefix = |one: u128, other: u128, width: u32| {
        bits <= width && (bits == 0 || (one ^ other) >> (width - bits) == 0)
    };
    match (ip, network) {
        (IpAddr::V4(ip), IpAddr::V4(network)) => {
            same_prefix(u32::from(ip).into(), u32::from(network).into(), u32::BITS)
        }
        (IpAddr::V6(ip), IpAddr::V6(network)) => same_prefix(ip.into(), network.into(), u128::BITS),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
