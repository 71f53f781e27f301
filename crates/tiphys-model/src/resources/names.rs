//! The form of names of Kubernetes objects.

/// Maximum length of a subdomain in bytes.
const SUBDOMAIN_BYTES_MAX: usize = 253;

/// Problem of a subdomain, in the words of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubdomainProblem {
    /// It is too long.
    #[error("must be no more than {SUBDOMAIN_BYTES_MAX} bytes")]
    TooLong,
    /// It is empty, or has characters that no subdomain has at their position.
    #[error(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an \
         alphanumeric character"
    )]
    Characters,
}

/// Returns what is wrong with a subdomain
/// ([`IsDNS1123Subdomain`](https://pkg.go.dev/k8s.io/apimachinery/pkg/util/validation#IsDNS1123Subdomain)). The API server requires that
/// names of Applications are subdomains.
pub fn subdomain_problems(text: &str) -> Vec<SubdomainProblem> {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_label = |label: &[u8]| {
        let ends = [label.first(), label.last()];
        ends.into_iter().all(|end| end.is_some_and(|byte| is_end(*byte)))
            && label.iter().all(|byte| is_end(*byte) || *byte == b'-')
    };
    let has_characters = text.as_bytes().split(|byte| *byte == b'.').all(is_label);
    let too_long = (text.len() > SUBDOMAIN_BYTES_MAX).then_some(SubdomainProblem::TooLong);
    too_long.into_iter().chain((!has_characters).then_some(SubdomainProblem::Characters)).collect()
}

#[cfg(test)]
mod tests;
