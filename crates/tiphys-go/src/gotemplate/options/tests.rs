//! Options of templates.

use crate::gotemplate::{MissingKey, OptionError};

#[test]
fn unknown_option_is_rejected() {
    assert_eq!(MissingKey::parse(&["missingkey=zero", "missingkey=error"]), Ok(MissingKey::Error));
    assert_eq!(MissingKey::parse::<&str>(&[]), Ok(MissingKey::Default));
    assert_eq!(MissingKey::parse(&["missingkey=invalid"]), Ok(MissingKey::Default));
    assert_eq!(MissingKey::parse(&[""]), Err(OptionError::Empty));
    for unknown in ["missingkey=fail", "MissingKey=error", "missingkey=error "] {
        assert_eq!(MissingKey::parse(&[unknown]), Err(OptionError::Unknown(unknown.to_owned())));
    }
}
