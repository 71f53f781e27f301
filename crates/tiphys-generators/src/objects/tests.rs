use super::{ConfigObject, ObjectOrigin, Recipient};
use std::collections::BTreeMap;

#[test]
fn a_secret_is_sent_only_to_addresses_of_the_same_trust() {
    use ObjectOrigin::{Caller, Repository};
    for (address, secret, is_sent) in [
        (Caller, Caller, true),
        (Caller, Repository, true),
        (Repository, Repository, true),
        (Repository, Caller, false),
    ] {
        let recipient = Recipient { origin: address, name: "ConfigMap a".to_owned() };
        let object = ConfigObject {
            data: BTreeMap::new(),
            secret_type: String::new(),
            origin: secret,
            name: "Secret b".to_owned(),
        };
        assert_eq!(recipient.check(&object).is_ok(), is_sent, "{address:?} {secret:?}");
    }
}
