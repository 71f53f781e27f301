//! Helm repositories over HTTP and TLS.

use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{CWD, Mode, mkfifoat};
use tiphys_source::{ChartSource, CopyOrigin, CredentialReach, Freshness, LocalCopy, Network};
use tiphys_testkit::certificates::Authority;
use tiphys_testkit::chart_server::{Access, ChartServer, Failure, Transport};

use crate::charts::workbench::{Workbench, chain, chart, failure, fetch, log_in, pair, tree_of, web, with};

fn served(charts: &[&str]) -> ChartServer {
    let server = ChartServer::start(Transport::Plain);
    let charts: Vec<_> = charts.iter().map(|version| web(version)).collect();
    server.repository("/charts", &charts);
    server
}

#[tokio::test]
async fn a_range_is_the_newest_version_that_is_in_it() {
    let (bench, server) = (Workbench::new(), served(&["1.0.0", "1.2.0", "v1.10.0", "2.0.0", "2.1.0-rc.1"]));
    let url = format!("{}/charts", server.url());
    let sources = bench.sources();
    for (wanted, version) in [
        ("1.2.0", "1.2.0"),
        ("1.x", "v1.10.0"),
        ("~1.2", "1.2.0"),
        ("*", "2.0.0"),
        (">=2.0.0-0", "2.1.0-rc.1"),
    ] {
        let found = fetch(&sources, &chart(&url, "web", wanted)).await.expect("it is fetched");
        assert_eq!(found, pair(version, version), "{wanted}");
    }
    assert_eq!(server.count("/charts/index.yaml"), 1);
}

#[tokio::test]
async fn a_partial_version_is_told_as_it_is_written_and_taken_as_helm_takes_it() {
    let (bench, server) = (Workbench::new(), served(&["1.2.0", "1.2.7", "1.3.0"]));
    let source = chart(&format!("{}/charts/", server.url()), "web", "1.2");
    assert_eq!(fetch(&bench.sources(), &source).await.expect("it is fetched"), pair("1.2", "1.2.7"));
    // It is looked up by every command, as a range is.
    server.repository("/charts", &[web("1.2.7"), web("1.2.8")]);
    assert_eq!(fetch(&bench.sources(), &source).await.expect("it is fetched"), pair("1.2", "1.2.8"));
    let offline = bench.sources_with(|_, request| request.network = Network::Offline);
    assert_eq!(fetch(&offline, &source).await.expect("it is there"), pair("1.2", "1.2.8"));
}

#[tokio::test]
async fn an_exact_version_is_fetched_once_and_a_range_is_looked_up_once_a_command() {
    let (bench, server) = (Workbench::new(), served(&["1.0.0"]));
    let url = format!("{}/charts", server.url());
    let (exact, range) = (chart(&url, "web", "1.0.0"), chart(&url, "web", "^1"));
    for _ in 0..2 {
        fetch(&bench.sources(), &exact).await.expect("it is fetched");
    }
    assert_eq!((server.count("/charts/index.yaml"), server.count("/charts/web-1.0.0.tgz")), (1, 1));

    server.forget();
    for _ in 0..2 {
        let sources = bench.sources();
        for _ in 0..2 {
            fetch(&sources, &range).await.expect("it is fetched");
        }
    }
    assert_eq!((server.count("/charts/index.yaml"), server.count("/charts/web-1.0.0.tgz")), (2, 0));

    server.forget();
    let sources = bench.sources_with(|_, request| request.network = Network::Offline);
    for source in [&exact, &range] {
        assert_eq!(fetch(&sources, source).await.expect("it is in the cache"), pair("1.0.0", "1.0.0"));
    }
    assert_eq!(server.requests().len(), 0);

    let sources = bench.sources_with(|_, request| request.freshness = Freshness::Refresh);
    fetch(&sources, &exact).await.expect("it is looked at again");
    assert_eq!((server.count("/charts/index.yaml"), server.count("/charts/web-1.0.0.tgz")), (1, 1));
}

/// All that lead to the one version that there is. For a registry the last one is a tag.
const REVISIONS: [&str; 3] = ["1.0.0", "^1", "1"];

/// Asserts that the others do not get the chart of the first: neither in the same command, nor in the next one, nor without the network.
async fn are_apart(first: &ChartSource, others: &[ChartSource], revisions: &[&str], expected: &str) {
    let bench = Workbench::new();
    let sources = bench.sources();
    for &revision in revisions {
        let at =
            |source: &ChartSource| ChartSource { target_revision: revision.to_owned(), ..source.clone() };
        fetch(&sources, &at(first)).await.expect("it is fetched");
        for other in others.iter().map(at) {
            for sources in [&sources, &bench.sources()] {
                let text = failure(sources, &other).await;
                assert!(text.contains(expected), "{revision}: {text}");
            }
            let offline = bench.sources_with(|_, request| request.network = Network::Offline);
            assert!(failure(&offline, &other).await.contains("the network must not be used"), "{revision}");
        }
        let offline = bench.sources_with(|_, request| request.network = Network::Offline);
        fetch(&offline, &at(first)).await.expect("it is in the cache");
    }
}

#[tokio::test]
async fn what_one_login_has_fetched_is_not_for_those_who_have_another_one_or_none() {
    let server = served(&["1.0.0"]);
    server.protect("/charts/", Access::Basic);
    let anonymous = chart(&format!("{}/charts", server.url()), "web", "");
    let other_user = with(anonymous.clone(), |access| {
        log_in(access);
        access.password = tiphys_model::access::Secret::new("wrong");
    });
    are_apart(&with(anonymous.clone(), log_in), &[anonymous, other_user], &REVISIONS, "401").await;
}

#[tokio::test]
async fn what_a_login_in_the_url_is_told_is_not_for_those_who_have_none() {
    let server = served(&["1.0.0"]);
    // Archives need no credentials.
    server.protect("/charts/index.yaml", Access::Basic);
    let [other_user, anonymous] =
        ["user:pass@", ""].map(|login| chart(&format!("http://{login}{}/charts", server.host()), "web", ""));
    are_apart(&other_user, &[anonymous], &REVISIONS, "401").await;
}

#[tokio::test]
async fn what_was_reached_in_one_way_is_not_for_those_who_go_another_one() {
    let (authority, other) = (Authority::new(), Authority::new());
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.repository("/charts", &[web("1.0.0")]);
    let unknown = chart(&format!("{}/charts", server.url()), "web", "");
    let trusted_by = |authority: &Authority| {
        with(unknown.clone(), |access| authority.pem().clone_into(&mut access.ca_data))
    };
    let unasked = with(unknown.clone(), |access| access.insecure = true);
    for first in [trusted_by(&authority), unasked] {
        are_apart(&first, &[unknown.clone(), trusted_by(&other)], &REVISIONS, "TLS: ").await;
    }
    let server = ChartServer::start(Transport::Plain);
    server.images("charts", &[web("1.0.0")]);
    let over_tls = chart(&format!("{}/charts", server.host()), "web", "");
    let plain = with(over_tls.clone(), |access| access.insecure_oci_force_http = true);
    are_apart(&plain, &[over_tls], &REVISIONS[..2], "TLS: ").await;
}

#[tokio::test]
async fn an_index_that_names_the_archive_of_another_repository_does_not_get_it() {
    let (bench, private) = (Workbench::new(), served(&["1.0.0"]));
    private.protect("/charts/", Access::Basic);
    let source = with(chart(&format!("{}/charts", private.url()), "web", "1.0.0"), log_in);
    fetch(&bench.sources(), &source).await.expect("it is fetched");
    // The same index without the archive.
    let public = ChartServer::start(Transport::Plain);
    public.repository("/charts", &[web("1.0.0")]).fail("/charts/web-1.0.0.tgz", Some(Failure::Status(404)));
    let text = failure(&bench.sources(), &chart(&format!("{}/charts", public.url()), "web", "1.0.0")).await;
    assert!(text.contains("404"), "{text}");
}

#[tokio::test]
async fn credentials_for_every_server_do_not_leave_tls() {
    let (bench, other, authority) = (Workbench::new(), served(&["1.0.0"]), Authority::new());
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.repository_elsewhere("/index", &[web("1.0.0")], &format!("{}/charts/", other.url()));
    let mut source = with(chart(&format!("{}/index", server.url()), "web", "1.0.0"), |access| {
        log_in(access);
        authority.pem().clone_into(&mut access.ca_data);
    });
    source.credentials = CredentialReach::EveryServer;
    let text = failure(&bench.sources(), &source).await;
    assert!(text.contains("which has no TLS, and credentials would be sent there"), "{text}");
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn what_killed_fetches_left_goes_with_the_next_one() {
    let (bench, server) = (Workbench::new(), served(&["1.0.0"]));
    let archives = bench.path("cache/charts/archives");
    std::fs::create_dir_all(&archives).expect("a folder can be made");
    for (name, hours) in [("partial-old", 2), ("partial-new", 0), ("other", 2)] {
        let file = std::fs::File::create(archives.join(name)).expect("a file can be made");
        let now = file.metadata().expect("stat").modified().expect("a time");
        file.set_modified(now - std::time::Duration::from_hours(hours)).expect("it is ours");
    }
    let url = format!("{}/charts", server.url());
    fetch(&bench.sources(), &chart(&url, "web", "1.0.0")).await.expect("it is fetched");
    let left = ["partial-old", "partial-new", "other"].map(|name| archives.join(name).exists());
    assert_eq!(left, [false, true, true]);
}

#[tokio::test]
async fn each_use_of_a_cached_chart_is_marked() {
    let (bench, server) = (Workbench::new(), served(&["1.0.0"]));
    let source = chart(&format!("{}/charts", server.url()), "web", "1.0.0");
    fetch(&bench.sources(), &source).await.expect("it is fetched");
    let folders = ["archives", "names"].map(|name| bench.path("cache/charts").join(name));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("it exists"));
    let files: Vec<_> = files
        .map(|file| std::fs::File::open(file.expect("a file").path()).expect("it can be read"))
        .collect();
    assert_eq!(files.len(), 2);
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    for file in &files {
        file.set_modified(long_ago).expect("it is ours");
    }
    fetch(&bench.sources(), &source).await.expect("it is cached");
    let used = |file: &std::fs::File| file.metadata().and_then(|found| found.modified()).expect("a time");
    assert!(files.iter().all(|file| used(file) > long_ago), "pruning keeps them");
}

#[tokio::test]
async fn user_and_password_go_to_the_repository_and_to_no_other_server() {
    let (bench, other) = (Workbench::new(), served(&["1.0.0"]));
    other.protect("/charts/", Access::Basic);
    let server = ChartServer::start(Transport::Plain);
    server.repository_elsewhere("/index", &[web("1.0.0")], &format!("{}/charts/", other.url()));
    server.protect("/index/", Access::Basic);
    let mut source = with(chart(&format!("{}/index", server.url()), "web", "1.0.0"), log_in);
    let text = failure(&bench.sources(), &source).await;
    assert!(text.contains("for its own server only") && text.contains("passCredentials: true"), "{text}");
    let asked = other.requests();
    assert!(asked.iter().all(|request| request.header("Authorization").is_none()), "{asked:?}");

    source.credentials = CredentialReach::EveryServer;
    fetch(&bench.sources(), &source).await.expect("it is fetched");
}

#[tokio::test]
async fn a_redirection_to_another_server_is_followed_without_credentials() {
    let (bench, other) = (Workbench::new(), served(&["1.0.0"]));
    let server = ChartServer::start(Transport::Plain);
    server.repository("/charts", &[web("1.0.0")]).protect("/charts/", Access::Basic);
    server.redirect("/charts/web-1.0.0.tgz", &format!("{}/charts/web-1.0.0.tgz", other.url()));
    let source = with(chart(&format!("{}/charts", server.url()), "web", "1.0.0"), log_in);
    fetch(&bench.sources(), &source).await.expect("it is fetched");
    let asked = other.requests();
    assert!(asked.len() == 1 && asked[0].header("Authorization").is_none(), "{asked:?}");
}

#[tokio::test]
async fn a_redirection_from_tls_to_none_is_refused() {
    let (bench, other, authority) = (Workbench::new(), served(&["1.0.0"]), Authority::new());
    let identity = authority.server();
    let server = ChartServer::start(Transport::Tls(&identity));
    server.redirect("/charts/index.yaml", &format!("{}/charts/index.yaml", other.url()));
    let source = with(chart(&format!("{}/charts", server.url()), "web", "1.0.0"), |access| {
        authority.pem().clone_into(&mut access.ca_data);
    });
    let text = failure(&bench.sources(), &source).await;
    assert!(text.contains("it redirects from https to http://"), "{text}");
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn links_that_lead_out_of_a_chart_are_refused_in_argo_cds_words() {
    let server = ChartServer::start(Transport::Plain);
    let chart_with_link = |target: &str| {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        archive.append_link(&mut header, "web/out", target).expect("writing to memory");
        archive.into_inner().and_then(GzEncoder::finish).expect("writing to memory")
    };
    server.file("/index.yaml", "entries: {web: [{version: 1.0.0, urls: [web.tgz]}]}");
    server.file("/web.tgz", chart_with_link("../other/file"));
    let text = failure(&Workbench::new().sources(), &chart(&server.url(), "web", "1.0.0")).await;
    assert_eq!(text, "chart contains out-of-bounds symlinks. file: out");
}

#[tokio::test]
async fn a_server_is_trusted_by_its_own_authority_or_if_nobody_asks_who_it_is() {
    let (authority, clients) = (Authority::new(), Authority::new());
    let identity = authority.server();
    let server = ChartServer::start(Transport::MutualTls(&identity, &clients));
    server.repository("/charts", &[web("1.0.0")]);
    let url = format!("{}/charts", server.url());
    let client = clients.client();
    let certified = |access: &mut tiphys_model::access::RepositoryAccess| {
        access.tls_client_cert_data.clone_from(&client.certificate_pem);
        access.tls_client_cert_key = tiphys_model::access::Secret::new(client.key_pem.clone());
    };
    let trusted = with(with(chart(&url, "web", "1.0.0"), certified), |access| {
        authority.pem().clone_into(&mut access.ca_data);
    });
    let unasked = with(with(chart(&url, "web", "1.0.0"), certified), |access| access.insecure = true);
    for source in [trusted, unasked] {
        fetch(&Workbench::new().sources(), &source).await.expect("it is fetched");
    }
    let unknown = with(chart(&url, "web", "1.0.0"), certified);
    let text = failure(&Workbench::new().sources(), &unknown).await;
    assert!(text.contains("TLS: ") && text.contains(&url), "{text}");
}

#[tokio::test]
async fn archives_of_a_folder_stand_for_a_repository_that_is_never_asked() {
    let (bench, server) = (Workbench::new(), served(&["3.0.0"]));
    let url = format!("{}/charts", server.url());
    let dir = bench.path("folder");
    std::fs::create_dir(&dir).expect("a folder can be made");
    for version in ["1.0.0", "1.1.0"] {
        let file = dir.join(web(version).archive_name());
        std::fs::write(file, web(version).pack()).expect("a file can be written");
    }
    // Links out of the folder are not followed.
    let outside = bench.path("outside");
    std::fs::create_dir(&outside).expect("a folder can be made");
    std::fs::write(outside.join("Chart.yaml"), "apiVersion: v2\nname: web\nversion: 1.9.0\n")
        .expect("writes");
    std::fs::write(outside.join("web-1.8.0.tgz"), web("1.8.0").pack()).expect("writes");
    std::fs::create_dir(dir.join("linked")).expect("a folder can be made");
    for (from, to) in [
        ("out", outside.clone()),
        ("web-1.8.0.tgz", outside.join("web-1.8.0.tgz")),
        ("linked/Chart.yaml", outside.join("Chart.yaml")),
    ] {
        std::os::unix::fs::symlink(to, dir.join(from)).expect("links");
    }
    let copy =
        LocalCopy { url: Some(url.clone()), revision: None, dir: dir.clone(), origin: CopyOrigin::Caller };
    let archive = dir.join("web-1.1.0.tgz");
    let sources = bench.sources_with(|options, request| {
        request.copies = vec![copy];
        // Nothing can be made there, and nothing need be.
        options.cache_dir = archive.join("cache");
    });
    let found = fetch(&sources, &chart(&url, "web", "1.x")).await.expect("it is there");
    assert_eq!(found, pair("1.1.0", "1.1.0"));
    // An archive that was changed after it was found is refused, and stays.
    let found = sources.resolve_chart(&chart(&url, "web", "1.0.0")).await.expect("it is there");
    let changed = dir.join("web-1.0.0.tgz");
    std::fs::write(&changed, web("6.6.6").pack()).expect("a file can be written");
    let text = tree_of(&sources, &found).await.expect_err("it is another one").to_string();
    assert!(text.starts_with("the archive of repository ") && text.contains("it was changed"), "{text}");
    assert!(changed.exists());
    // A pipe is not read, whether it exists before the archive is found or replaces it later.
    std::fs::remove_file(&changed).expect("a file can be removed");
    mkfifoat(CWD, &changed, Mode::RUSR | Mode::WUSR).expect("a pipe can be made");
    let is_told = |text: &str| text.contains("web-1.0.0.tgz") && text.contains("it is not a regular file");
    let text = chain(&tree_of(&sources, &found).await.expect_err("it is a pipe"));
    assert!(is_told(&text), "{text}");
    let text = failure(&sources, &chart(&url, "web", "1.0.0")).await;
    assert!(is_told(&text), "{text}");
    let text = failure(&sources, &chart(&url, "web", "3.0.0")).await;
    assert!(text.contains("has 1.0.0, 1.1.0"), "{text}");
    assert_eq!(server.requests().len(), 0);
}
