//! References of images in values of parameters.

/// An image reference in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image<'a> {
    /// The name, with its registry.
    pub name: &'a str,
    /// `:tag` and `@digest`; empty if there are none.
    pub version: &'a str,
}

impl<'a> Image<'a> {
    /// Splits a reference. A colon before the last `/` belongs to the registry.
    pub fn parse(reference: &'a str) -> Self {
        let named = reference.split('@').next().unwrap_or_default();
        let base = named.rfind('/').map_or(0, |slash| slash + 1);
        let end =
            named.get(base..).and_then(|base| base.rfind(':')).map_or(named.len(), |colon| base + colon);
        let (name, version) = reference.split_at(end);
        Self { name, version }
    }
}

#[cfg(test)]
mod tests {
    use super::Image;

    #[test]
    fn reference_is_split_before_tag_or_digest() {
        for (reference, name, version) in [
            ("nginx", "nginx", ""),
            ("nginx:1.27", "nginx", ":1.27"),
            ("localhost:5000/tool", "localhost:5000/tool", ""),
            ("localhost:5000/tool:1", "localhost:5000/tool", ":1"),
            ("ghcr.io/x/y@sha256:00", "ghcr.io/x/y", "@sha256:00"),
            ("ghcr.io/x/y:1@sha256:00", "ghcr.io/x/y", ":1@sha256:00"),
            ("", "", ""),
        ] {
            assert_eq!(Image::parse(reference), Image { name, version }, "{reference}");
        }
    }
}
