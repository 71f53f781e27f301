use super::{Figure, Target, Unit, table};

fn figure(values: &[f64]) -> Figure {
    Figure::new("render", "one", Unit::Milliseconds, values.to_vec()).expect("a run at least")
}

#[test]
fn the_spread_is_that_of_all_runs_in_any_order() {
    let spread = |values: &[f64]| {
        let figure = figure(values);
        format!("{} {} {}", figure.min(), figure.median(), figure.max())
    };
    assert_eq!(spread(&[3.0, 1.0, 2.0]), "1 2 3");
    assert_eq!(spread(&[9.0, 1.0, 2.0, 4.0]), "1 3 9");
    assert_eq!(spread(&[7.0]), "7 7 7");
    assert_eq!(Figure::new("render", "none", Unit::Milliseconds, Vec::new()), None);
}

#[test]
fn the_median_is_held_against_the_target() {
    let holds = |target| figure(&[1.0, 5.0, 90.0]).held_to(target).holds();
    assert_eq!(holds(Target::AtMost(5.0)), Some(true));
    assert_eq!(holds(Target::AtMost(4.9)), Some(false));
    assert_eq!(holds(Target::AtLeast(5.0)), Some(true));
    assert_eq!(holds(Target::AtLeast(5.1)), Some(false));
    assert_eq!(figure(&[1.0]).holds(), None);
}

#[test]
fn a_missed_target_is_seen_in_the_table() {
    let figures = [
        figure(&[1.0, 2.0, 300.0]).with_processor_time(vec![9.0, 8.0, 7.0]).held_to(Target::AtMost(1.5)),
        Figure::new("many", "all", Unit::PerSecond, vec![120.0])
            .expect("a run")
            .held_to(Target::AtLeast(100.0)),
    ];
    let expected = "\
| case   | what | unit   | min  | median | max  | runs | cpu ms | target | \u{20}    |
| ---    | ---  | ---    | ---: | ---:   | ---: | ---: | ---:   | ---:   | ---  |
| render | one  | ms     | 1.0  | 2.0    | 300  | 3    | 8.0    | ≤ 1.5  | MISS |
| many   | all  | apps/s | 120  | 120    | 120  | 1    |        | ≥ 100  | pass |
";
    assert_eq!(table(&figures), expected);
}
