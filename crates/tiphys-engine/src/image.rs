//! References of images in overrides of kustomize.

use tiphys_model::params::Image;

/// Minimum length of a digest's hexadecimal part, as the OCI specification requires.
const DIGEST_HEX_MIN: usize = 32;

/// Maximum length of a tag.
const TAG_CHARS_MAX: usize = 128;

/// A replacement of an image that kustomize cannot use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{value:?} does not replace the image {image}; write a tag, NAME:TAG, NAME@DIGEST, or a name with a slash"
)]
pub struct ImageError {
    /// The image.
    image: String,
    /// The invalid replacement.
    value: String,
}

/// Returns an image override as a map entry: the replaced image and its replacement. `old=new:tag` contains both. `image:tag` and
/// `image@digest` replace the image without tag and digest.
pub(crate) fn image_entry(image: &str) -> (String, String) {
    match image.split_once('=') {
        Some((old, new)) => (old.to_owned(), new.to_owned()),
        None => (Image::parse(image).name.to_owned(), image.to_owned()),
    }
}

/// Whether an image override has a replacement. A variable may have one.
pub(crate) fn replaces_image(image: &str) -> bool {
    image.contains(['=', '$']) || !Image::parse(image).version.is_empty()
}

/// Returns the replacement of an image that a user means: a value without a name is a tag or a digest, and replaces that of the current
/// replacement. A name without a slash needs a tag, so that it is not one.
pub fn image_replacement(image: &str, value: &str, current: Option<&str>) -> Result<String, ImageError> {
    let name = Image::parse(current.filter(|current| !current.is_empty()).unwrap_or(image)).name;
    let is_digest = |text: &str| {
        text.split_once(':').is_some_and(|(algorithm, hex)| {
            !algorithm.is_empty()
                && hex.len() >= DIGEST_HEX_MIN
                && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let tag = match value.strip_prefix(':') {
        Some(tag) => tag,
        None if value.starts_with('@') => return Ok(format!("{name}{value}")),
        None if is_digest(value) => return Ok(format!("{name}@{value}")),
        None if value.contains(['/', ':', '@', '*']) && !value.contains('=') => return Ok(value.to_owned()),
        None => value,
    };
    if is_tag(tag) {
        Ok(format!("{name}:{tag}"))
    } else {
        Err(ImageError { image: image.to_owned(), value: value.to_owned() })
    }
}

/// Whether a string may be a tag. Variables of the build environment may be a part of it.
fn is_tag(text: &str) -> bool {
    let is_word = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '$');
    text.starts_with(is_word)
        && text.chars().all(|char| is_word(char) || matches!(char, '.' | '-' | '{' | '}'))
        && text.len() <= TAG_CHARS_MAX
}

#[cfg(test)]
mod tests {
    use super::image_replacement;

    #[test]
    fn value_without_a_name_is_the_tag_or_the_digest() {
        let digest = format!("sha256:{}", "0a".repeat(32));
        let at_digest = format!("@{digest}");
        let cases = [
            ("ghcr.io/acme/web", "3.0", None, "ghcr.io/acme/web:3.0"),
            ("ghcr.io/acme/web", ":3.0", None, "ghcr.io/acme/web:3.0"),
            ("ghcr.io/acme/web", "3.0", Some("ghcr.io/acme/web:1.0"), "ghcr.io/acme/web:3.0"),
            ("web", "3.0", Some("localhost:5000/web:1.0"), "localhost:5000/web:3.0"),
            ("web", "3.0", Some("localhost:5000/web"), "localhost:5000/web:3.0"),
            ("web", "3.0", Some("web@sha256:00"), "web:3.0"),
            ("web", "3.0", Some("*:1.0"), "*:3.0"),
            ("ubuntu:20.04", "26.04", None, "ubuntu:26.04"),
            ("web", "httpd:2.4", Some("web:1"), "httpd:2.4"),
            ("web", "docker.io/library/httpd", Some("web:1"), "docker.io/library/httpd"),
            ("web", "*:2", None, "*:2"),
            ("web", "$ARGOCD_APP_REVISION", None, "web:$ARGOCD_APP_REVISION"),
            ("web", &digest, Some("web:1"), &format!("web@{digest}")),
            ("web", &at_digest, None, &format!("web@{digest}")),
        ];
        for (image, value, current, expected) in cases {
            assert_eq!(image_replacement(image, value, current).as_deref(), Ok(expected), "{image} {value}");
        }
        for value in ["", ":", "a b", "-1", "a=b", "a=b/c:1", "1.0+2"] {
            assert!(image_replacement("web", value, None).is_err(), "{value:?}");
        }
    }
}
