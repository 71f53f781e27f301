use axum::body::to_bytes;
use tiphys_model::params::{Announcement, Parameter};

use super::show;
use crate::pages::Nonce;
use crate::posted::Posted;
use crate::preview::{Announced, Failed, Finding, Outcome, Preview, Severity};

/// Leaves elements, attributes and text areas, and reverses the direction of the text.
const HOSTILE: &str = "\u{202e}\"'></textarea></code><script>alert(1)</script>\n\u{7}";

async fn html(outcome: Outcome, posted: Option<&Posted>) -> String {
    let hostile = || HOSTILE.to_owned();
    let preview = Preview {
        plugin: hostile(),
        folder: hostile(),
        application: Some(hostile()),
        findings: vec![Finding {
            severity: Severity::Warning,
            rule: hostile(),
            message: hostile(),
            place: hostile(),
            page: hostile(),
        }],
        notes: vec![hostile()],
        outcome,
    };
    let page = show(&preview, Nonce("n".to_owned()), "t", posted.unwrap_or(&Posted::default()), posted);
    let body = to_bytes(page.into_body(), usize::MAX).await.expect("a body");
    String::from_utf8(body.to_vec()).expect("UTF-8")
}

#[tokio::test]
async fn untrusted_strings_are_escaped() {
    let hostile = || HOSTILE.to_owned();
    let announcement = Announcement {
        title: Some(hostile()),
        tooltip: Some(hostile()),
        choices: vec![hostile()],
        ..Announcement::named(HOSTILE)
    };
    let list = Announcement {
        collection_type: tiphys_model::params::CollectionType::Array,
        array: Some(vec![hostile()]),
        ..Announcement::named("list")
    };
    let set = Parameter { name: "unknown".to_owned(), string: Some(hostile()), ..Parameter::default() };
    let announced = Announced {
        announcements: vec![announcement, list],
        parameters: vec![set.clone()],
        in_application: Vec::new(),
    };
    let failed = Failed { step: hostile(), message: hostile(), hint: Some(hostile()), parameters: vec![set] };
    let posted = Posted::parse(b"op=check&/list/0=%3Cscript%3E&rows:/list=1").expect("a form");
    for outcome in [Outcome::Announced(announced), Outcome::Failed(failed)] {
        for posted in [None, Some(&posted)] {
            let html = html(outcome.clone(), posted).await;
            // The scripts of the frame are the only ones.
            assert_eq!(html.matches("<script").count(), html.matches("<script nonce=\"n\" src=").count());
            assert_eq!(html.matches("<textarea").count(), html.matches("</textarea>").count());
        }
    }
}
