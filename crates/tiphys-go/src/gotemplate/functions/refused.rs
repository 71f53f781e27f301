//! Functions of sprig that are refused: they create or use keys, certificates and passwords, which would be different in each rendering,
//! or would be visible in the Application.

use super::{Call, Function, Outcome, Type, fail};

macro_rules! refused {
    ($($name:literal),+ $(,)?) => {
        pub(super) const FUNCTIONS: &[Function] = &[
            $(Function::new($name, &[], |call: &mut Call<'_>| refuse(call, $name)).and(Type::Any).missing()),+
        ];
    };
}

refused!(
    "bcrypt",
    "htpasswd",
    "genPrivateKey",
    "derivePassword",
    "buildCustomCert",
    "genCA",
    "genCAWithKey",
    "genSelfSignedCert",
    "genSelfSignedCertWithKey",
    "genSignedCert",
    "genSignedCertWithKey",
    "encryptAES",
    "decryptAES",
);

fn refuse(_: &mut Call<'_>, name: &str) -> Outcome {
    fail(format!(
        "{name} is refused, because templates must not create or decrypt keys, certificates and passwords; \
         store them in a Secret"
    ))
}
