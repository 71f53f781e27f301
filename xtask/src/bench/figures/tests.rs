use super::{Figure, Sample, Sheet, Target, Unit, table};

fn figure(values: &[f64]) -> Figure {
    Figure::new("render", "one", Unit::Milliseconds, values.to_vec())
}

#[test]
fn spread_does_not_depend_on_order() {
    let spread = |values: &[f64]| {
        let figure = figure(values);
        format!("{} {} {}", figure.min(), figure.median(), figure.max())
    };
    assert_eq!(spread(&[3.0, 1.0, 2.0]), "1 2 3");
    assert_eq!(spread(&[9.0, 1.0, 2.0, 4.0]), "1 3 9");
    assert_eq!(spread(&[7.0]), "7 7 7");
}

#[test]
fn difference_of_processes_is_taken_run_by_run() {
    let samples = |times: &[(f64, f64)]| -> Vec<Sample> {
        let sample = |&(wall, cpu): &(f64, f64)| Sample {
            wall_seconds: wall / 1_000.0,
            cpu_seconds: cpu / 1_000.0,
            ..Sample::default()
        };
        times.iter().map(sample).collect()
    };
    let ours = samples(&[(70.0, 60.0), (250.0, 62.0), (71.0, 61.0)]);
    let theirs = samples(&[(60.0, 52.0), (242.0, 55.0), (59.0, 51.0)]);
    let mut figures = Vec::new();
    Sheet { case: "generate", figures: &mut figures }.beside("", [&ours, &theirs], None);
    let Figure { processor_ms, .. } = &figures[0];
    let values = [figures[0].min(), figures[0].median(), figures[0].max(), processor_ms.unwrap()];
    assert_eq!(values.map(|value| format!("{value:.1}")), ["8.0", "10.0", "12.0", "8.0"]);
}

#[test]
fn table_marks_met_and_missed_targets() {
    let figures = [
        figure(&[1.0, 2.0, 300.0]).with_processor_time(vec![9.0, 8.0, 7.0]).held_to(Target::AtMost(1.5)),
        Figure::new("many", "all", Unit::PerSecond, vec![120.0]).held_to(Target::AtLeast(100.0)),
    ];
    let expected = "\
| case   | what | unit   | min  | median | max  | runs | cpu ms | target | \u{20}    |
| ---    | ---  | ---    | ---: | ---:   | ---: | ---: | ---:   | ---:   | ---  |
| render | one  | ms     | 1.0  | 2.0    | 300  | 3    | 8.0    | ≤ 1.5  | MISS |
| many   | all  | apps/s | 120  | 120    | 120  | 1    |        | ≥ 100  | pass |
";
    assert_eq!(table(&figures), expected);
}
