//! Functions for URLs.

use std::collections::BTreeMap;

use super::{Call, Failure, Function, Outcome, Type, fail};
use crate::gotemplate::value::{Map, Str, Value};
use crate::url::{Url, UserInfo};

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("urlParse", &[Type::String], parse), Function::new("urlJoin", &[Type::Map], join)];

fn parse(call: &mut Call<'_>) -> Outcome {
    let url = match Url::parse(&call.string(0)) {
        Ok(url) => url,
        Err(error) => return fail(format!("unable to parse url: {error}")),
    };
    let fields: [(&str, Vec<u8>); 8] = [
        ("hostname", url.hostname().to_vec()),
        ("userinfo", url.user_info().into_bytes()),
        ("scheme", url.scheme),
        ("host", url.host),
        ("path", url.path),
        ("query", url.query.unwrap_or_default()),
        ("opaque", url.opaque),
        ("fragment", url.fragment),
    ];
    let entries: BTreeMap<Str, Value> =
        fields.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    Ok(Value::Map(Map::new(entries)))
}

fn join(call: &mut Call<'_>) -> Outcome {
    let map = call.map(0);
    let field = |key: &str| match map.get(key.as_bytes()) {
        None => Ok(Vec::new()),
        Some(Value::String(value)) => Ok(value.to_vec()),
        Some(Value::Nil) => fail("runtime error: invalid memory address or nil pointer dereference"),
        Some(other) => {
            fail(format!("unable to parse {key} key, must be of type string, but {} found", other.kind()))
        }
    };
    let url = Url {
        scheme: field("scheme")?,
        host: field("host")?,
        path: field("path")?,
        query: Some(field("query")?).filter(|query| !query.is_empty()),
        opaque: field("opaque")?,
        fragment: field("fragment")?,
        user: user_of(&field("userinfo")?)?,
        ..Url::default()
    };
    Ok(url.print().into())
}

/// Returns the user name and password of printed user information.
fn user_of(text: &[u8]) -> Result<Option<UserInfo>, Failure> {
    if text.is_empty() {
        return Ok(None);
    }
    match Url::parse(&[b"proto://", text, b"@host"].concat()) {
        Ok(url) => Ok(url.user),
        Err(error) => fail(format!("unable to parse userinfo in dict: {error}")),
    }
}
