use super::super::super::sample::Sample;
use super::{beside, held, peak, process};

fn samples(milliseconds: &[(f64, f64)]) -> Vec<Sample> {
    let sample = |&(wall, cpu): &(f64, f64)| Sample {
        wall_seconds: wall / 1_000.0,
        cpu_seconds: cpu / 1_000.0,
        peak_bytes: 3 << 20,
        succeeded: true,
    };
    milliseconds.iter().map(sample).collect()
}

#[test]
fn what_one_takes_beside_another_is_told_run_by_run() {
    let ours = samples(&[(70.0, 60.0), (250.0, 62.0), (71.0, 61.0)]);
    let theirs = samples(&[(60.0, 52.0), (242.0, 55.0), (59.0, 51.0)]);
    let figure = beside("generate", String::new(), &ours, &theirs).expect("runs");
    assert_eq!(format!("{:.1} {:.1} {:.1}", figure.min(), figure.median(), figure.max()), "8.0 10.0 12.0");
    assert_eq!(
        figure.json()["processorMs"].as_f64().map(|time| format!("{time:.1}")).as_deref(),
        Some("8.0")
    );
}

#[test]
fn a_process_has_its_wall_time_and_its_processor_time() {
    let figure = process("generate", String::new(), &samples(&[(70.0, 60.0)])).expect("a run");
    assert_eq!((figure.median(), figure.json()["processorMs"].as_f64()), (70.0, Some(60.0)));
}

#[test]
fn memory_is_held_to_its_target_where_charts_print_what_charts_print() {
    let figure = || peak("memory", String::new(), &samples(&[(1.0, 1.0)]));
    assert_eq!(figure().map(|figure| figure.median()), Some(3.0));
    assert_eq!(held(figure(), 10 << 20).and_then(|figure| figure.holds()), Some(true));
    assert_eq!(held(figure(), 11 << 20).and_then(|figure| figure.holds()), None);
}
