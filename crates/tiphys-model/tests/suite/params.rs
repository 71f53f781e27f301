//! Parameters: recorded answers, and properties of random input.

mod oracle;
mod properties;
