use super::super::super::figures::{Target, Unit};
use super::super::View;
use super::{Aim, Ratio, table};

const AIM: Aim = Aim::Part { baseline: 474.0, one_in: 6.0, one_in_with_copies: 2.0 };

#[test]
fn the_target_is_a_part_of_what_the_other_side_took() {
    let cases = [
        (View::Auto, Some(600.0), 100.0),
        (View::Denied, Some(600.0), 300.0),
        (View::Copy, Some(600.0), 300.0),
        // Without another side the recorded figure counts.
        (View::Auto, None, 79.0),
        (View::Denied, None, 237.0),
    ];
    for (view, other, most) in cases {
        assert_eq!(AIM.target(view, other), Some(Target::AtMost(most)), "{view:?} {other:?}");
    }
    assert_eq!(Aim::None.target(View::Auto, Some(1.0)), None);
    let bound = Target::AtLeast(200.0);
    assert_eq!(Aim::Bound(bound).target(View::Auto, Some(1.0)), Some(bound));
}

#[test]
fn the_table_says_which_targets_are_met() {
    let ratio = |ours, other, target| Ratio {
        row: "unseen",
        what: "auto".to_owned(),
        unit: Unit::Milliseconds,
        ours,
        other,
        target,
    };
    let ratios = [
        ratio(50.0, Some(200.0), Some(Target::AtMost(100.0))),
        ratio(150.0, Some(200.0), Some(Target::AtMost(100.0))),
        ratio(150.0, None, Some(Target::AtLeast(200.0))),
        ratio(150.0, Some(0.0), None),
        ratio(150.0, None, None),
    ];
    let expected = "\
| row | what | ours | other | ours / other | target | |
|---|---|---:|---:|---:|---:|---|
| unseen | auto | 50.0 ms | 200 | 0.250 | ≤ 100 | met |
| unseen | auto | 150 ms | 200 | 0.750 | ≤ 100 | **missed** |
| unseen | auto | 150 ms |  |  | ≥ 200 | **missed** |
| unseen | auto | 150 ms | 0.0 |  |  |  |
";
    assert_eq!(table(&ratios), expected);
}
