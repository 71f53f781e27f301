//! Starts the API server of the demo with the kinds of Argo CD: `kube-server DIR` writes `kubeconfig`, `ca.pem` and `token` of an
//! administrator to the directory, prints the server's URL, and ends when its standard input does.
#![expect(clippy::print_stdout, reason = "the URL is its output")]

use std::io::{self, Error, Read as _};
use std::path::Path;
use std::{env, fs};

use tiphys_testkit::kube_server::{ADMIN_TOKEN, KubeServer};

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).ok_or_else(|| Error::other("expected the path of a directory"))?;
    let server = KubeServer::start();
    server.serve_argo_cd();
    let files = [
        ("kubeconfig", &*server.kubeconfig(ADMIN_TOKEN)),
        ("ca.pem", server.ca_pem()),
        ("token", ADMIN_TOKEN),
    ];
    for (name, content) in files {
        fs::write(Path::new(&folder).join(name), content)?;
    }
    println!("{}", server.url());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
