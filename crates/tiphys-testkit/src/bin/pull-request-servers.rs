//! Starts the servers of the demo's pull requests: `pull-request-servers CA_FILE` writes the CA of GitHub's certificate to the file, prints the
//! address of the proxy and that of the plugin service, and ends when its standard input does.
#![expect(clippy::print_stdout, reason = "the addresses are its output")]

use std::io::{self, Error, Read as _};
use std::{env, fs};

use tiphys_testkit::pull_requests::PullRequestServers;

fn main() -> io::Result<()> {
    let file = env::args_os().nth(1).ok_or_else(|| Error::other("expected the path of the CA's file"))?;
    let servers = PullRequestServers::start();
    fs::write(file, servers.authority.pem())?;
    println!("{}\n{}", servers.tunnel.url(), servers.plugin.host());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
