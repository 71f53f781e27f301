//! Expressions and what meets them.

use super::*;

#[test]
fn expressions_are_met_as_their_words_say() {
    let accepted = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
    for (expression, expected) in [
        ("MIT", Some(true)),
        ("GPL-3.0", Some(false)),
        ("MIT OR GPL-3.0", Some(true)),
        ("GPL-3.0 OR MIT", Some(true)),
        ("MIT AND GPL-3.0", Some(false)),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", Some(true)),
        ("MIT OR GPL-3.0 AND LGPL-3.0", Some(true)),
        ("(MIT OR GPL-3.0) AND LGPL-3.0", Some(false)),
        ("MIT/Apache-2.0", Some(true)),
        ("GPL-2.0 / MIT", Some(true)),
        ("Apache-2.0 WITH LLVM-exception", Some(true)),
        ("MIT WITH LLVM-exception", Some(false)),
        ("", None),
        ("MIT OR", None),
        ("(MIT", None),
        ("MIT Apache-2.0", None),
        ("MIT)", None),
    ] {
        assert_eq!(is_met(expression, &|name| accepted.contains(&name)), expected, "{expression:?}");
    }
}
