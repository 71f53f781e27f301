//! What is shown of addresses.

use super::Address;

#[test]
fn an_address_shows_itself_without_a_password() {
    for (address, shown) in [
        ("https://bob:hunter22@a.example.com/x", "https://bob:***@a.example.com/x"),
        ("https://token@a.example.com", "https://***@a.example.com"),
        ("https://a.example.com/x?token=hunter22", "https://a.example.com/x?***"),
        ("s3://key:hunter22@bucket/x", "s3://key:***@bucket/x"),
        ("bob:hunter22@r.example.com/charts", "bob:***@r.example.com/charts"),
        ("r.example.com:5000/charts", "r.example.com:5000/charts"),
        ("https://a.example.com/x", "https://a.example.com/x"),
    ] {
        let address = Address::new(address);
        assert_eq!((address.to_string(), format!("{address:?}")), (shown.to_owned(), shown.to_owned()));
    }
}
