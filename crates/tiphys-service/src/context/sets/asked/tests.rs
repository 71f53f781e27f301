use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tiphys_engine::appset::Question;

use super::AskedOnce;

#[tokio::test]
async fn equal_questions_are_asked_once() {
    let (asked, count) = (AskedOnce::default(), AtomicUsize::new(0));
    let question =
        |key: &str| Question { generator: "plugin", request: json!(key), parameters: String::new() };
    let get = async |key: &str| {
        let ask = async || {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            if key == "fails" { Err("no".to_owned()) } else { Ok(Vec::new()) }
        };
        asked.get(key.to_owned(), &question(key), ask).await
    };
    let answers = tokio::join!(get("a"), get("a"), get("fails"), get("fails"), get("b"));
    let no = Err("no".to_owned());
    assert_eq!(answers, (Ok(Vec::new()), Ok(Vec::new()), no.clone(), no, Ok(Vec::new())));
    assert_eq!((get("a").await, count.load(Ordering::Relaxed)), (Ok(Vec::new()), 3));
    let mut answered: Vec<_> = asked.answered().into_iter().map(|(question, _)| question.request).collect();
    answered.sort_by_key(ToString::to_string);
    assert_eq!(answered, ["a", "b"]);
}
