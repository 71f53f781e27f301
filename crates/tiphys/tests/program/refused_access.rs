//! A repository behind HTTP that requires credentials.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use crate::world::World;

/// Serves 401 for every request. Returns its address and the received `Authorization` headers.
pub(crate) fn server() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it listens").to_string();
    let (sender, receiver) = mpsc::channel();
    // The thread ends with the test process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let reader = BufReader::new(stream.try_clone().expect("the socket can be shared"));
            for line in reader.lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
                let header =
                    line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("Authorization"));
                if let Some((_, value)) = header {
                    drop(sender.send(value.to_owned()));
                }
            }
            let answer = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n\
                          Connection: close\r\n\r\n";
            // The client may have disconnected.
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    (address, receiver)
}

fn world(address: &str) -> World {
    let world = World::empty();
    let application = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web}}\nspec:\n  source: {{repoURL: \
         http://{address}/team/apps.git, path: plain}}\n  destination: {{namespace: shop}}\n"
    );
    world.write("store/web.yaml", &application);
    world
}

#[test]
fn refusal_names_repository_tried_credentials_and_remedy() {
    let (address, authorizations) = server();
    let world = world(&address);
    let output = world.run(&["render", "--store=store"]);
    assert_eq!((output.code, output.stdout.as_str()), (3, ""));
    let expected = "error: application web (store/web.yaml:1:1): source http://SERVER/team/apps.git at HEAD, path plain: \
                    repository http://SERVER/team/apps.git refused access; tried git's credential helpers of this user; set a \
                    git credential helper that knows this server, or add a Secret labelled argocd.argoproj.io/secret-type: \
                    repository to the store: ";
    let shown = output.stderr.replace(&address, "SERVER");
    assert!(shown.starts_with(expected), "{shown}");
    assert!(authorizations.try_recv().is_err(), "no credentials were sent");
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn secret_of_the_store_is_sent_and_never_printed() {
    let (address, authorizations) = server();
    let world = world(&address);
    let secret = format!(
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: repo\n  labels: {{argocd.argoproj.io/secret-type: repository}}\nstringData:\n  \
         url: http://{address}/team/apps.git\n  username: robot\n  password: correct-horse\n"
    );
    world.write("store/secret.yaml", &secret);
    let output = world.run(&["render", "--store=store", "-vvv"]);
    assert_eq!((output.code, output.stdout.as_str()), (3, ""));
    // "robot:correct-horse" in base64.
    let sent = "Basic cm9ib3Q6Y29ycmVjdC1ob3JzZQ==";
    assert_eq!(authorizations.try_recv().as_deref(), Ok(sent));
    assert!(output.stderr.contains("refused access; tried "), "{}", output.stderr);
    for hidden in ["correct-horse", &sent["Basic ".len()..]] {
        assert!(!output.stderr.contains(hidden), "{hidden} is shown: {}", output.stderr);
    }
    assert_eq!(world.left_behind(), Vec::<std::path::PathBuf>::new());
}
