use clap::Parser as _;
use tiphys_service::{FileGlobbing, ServiceOptions};

use super::of_controller;
use crate::args::{Arguments, Command};

#[test]
fn file_globbing_is_that_of_the_flag_or_the_setting() {
    let globbing = |flags: &[&str], setting| {
        let arguments = Arguments::try_parse_from([&["tiphys", "appset-controller"], flags].concat());
        let Command::AppSetController(args) = arguments.expect("valid arguments").command else {
            panic!("another command")
        };
        let options = ServiceOptions { file_globbing: setting, ..ServiceOptions::default() };
        of_controller(options, &args, "argocd").file_globbing
    };
    let flag = "--enable-new-git-file-globbing";
    assert_eq!(globbing(&[], FileGlobbing::DoubleStar), FileGlobbing::DoubleStar);
    assert_eq!(globbing(&[flag], FileGlobbing::Git), FileGlobbing::DoubleStar);
    assert_eq!(globbing(&[&format!("{flag}=false")], FileGlobbing::DoubleStar), FileGlobbing::Git);
}
