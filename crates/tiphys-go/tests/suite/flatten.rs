//! Recorded flat parameters of Argo CD.

use serde_json::json;
use tiphys_go::gotemplate::flatten;
use tiphys_testkit::oracle::{self, Difference};

#[test]
fn parameters_are_flattened_as_recorded() {
    let mut compared = 0;
    oracle::check("fasttemplate.flat", |case| {
        let recorded = case["output"].get("flat")?;
        let flat = json!(flatten(case["input"]["data"].as_object()?));
        compared += 1;
        Some(if flat == *recorded { Ok(()) } else { Err(Difference::new(flat, recorded)) })
    });
    assert_eq!(compared, 4);
}
