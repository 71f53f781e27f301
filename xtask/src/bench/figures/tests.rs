use super::{MS, Sample, Sheet, Target, table};

#[test]
fn spread_does_not_depend_on_order() {
    for (values, expected) in [
        (&[3.0, 1.0, 2.0][..], [1.0, 2.0, 3.0]),
        (&[9.0, 1.0, 2.0, 4.0], [1.0, 3.0, 9.0]),
        (&[7.0], [7.0, 7.0, 7.0]),
    ] {
        let mut figures = Vec::new();
        let mut sheet = Sheet { case: "render", figures: &mut figures };
        for value in values {
            sheet.record("one", MS, *value);
        }
        assert_eq!(
            figures[0].spread().map(|value| value.to_string()),
            expected.map(|value| value.to_string())
        );
    }
}

#[test]
fn table_has_differences_run_by_run_and_marks_missed_targets() {
    let samples = |times: [(f64, f64); 3]| -> [Sample; 3] {
        times.map(|(wall, cpu)| Sample {
            wall_seconds: wall / 1_000.0,
            cpu_seconds: cpu / 1_000.0,
            ..Sample::default()
        })
    };
    let ours = samples([(70.0, 60.0), (250.0, 62.0), (71.0, 61.0)]);
    let theirs = samples([(60.0, 52.0), (242.0, 55.0), (59.0, 51.0)]);
    let mut figures = Vec::new();
    let mut sheet = Sheet { case: "generate", figures: &mut figures };
    sheet.beside("plugin", [&ours, &theirs], Some(Target::AtMost(9.5)));
    sheet.record("all", "apps/s", 120.0).target = Some(Target::AtLeast(100.0));
    let expected = "\
| case     | what   | unit   | min  | median | max  | runs | cpu ms | target |      |
| ---      | ---    | ---    | ---: | ---:   | ---: | ---: | ---:   | ---:   | ---  |
| generate | plugin | ms     | 8.0  | 10.0   | 12.0 | 3    | 8.0    | ≤ 9.5  | MISS |
| generate | all    | apps/s | 120  | 120    | 120  | 1    |        | ≥ 100  | pass |
";
    assert_eq!(table(&figures), expected);
}
