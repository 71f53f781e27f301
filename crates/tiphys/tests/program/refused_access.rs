//! A repository behind HTTP that requires credentials.

use std::sync::mpsc;

use tiphys_testkit::canned_server::{Canned, CannedServer};

use crate::world::World;

/// Serves 401 for every request. Returns its address and the received `Authorization` headers.
pub(crate) fn server() -> (String, mpsc::Receiver<String>) {
    let (sender, receiver) = mpsc::channel();
    let server = CannedServer::start(None, move |request| {
        if let Some(value) = request.header("Authorization") {
            drop(sender.send(value.to_owned()));
        }
        Canned::new(401, "").with("WWW-Authenticate", "Basic realm=\"git\"")
    });
    let address = server.host();
    // It ends with the test process.
    Box::leak(Box::new(server));
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
