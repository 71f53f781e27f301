use super::*;

#[test]
fn strings_get_a_quarter_of_the_stack_within_limits() {
    const MIB: u64 = 1024 * 1024;
    for (stack, expected) in [
        (Some(8 * MIB), 2 * MIB),
        (Some(4 * MIB + 3), MIB),
        (Some(64 * 1024), 128 * 1024),
        (Some(0), 128 * 1024),
        (Some(24 * MIB), 6 * MIB),
        (Some(1024 * MIB), 6 * MIB),
        (None, 6 * MIB),
    ] {
        assert_eq!(total_bytes(stack) as u64, expected, "{stack:?}");
    }
}

#[test]
fn string_costs_its_bytes_nul_and_pointer() {
    assert_eq!(ExecLimits::cost("A=1".len()), 3 + 1 + 8);
}

/// Whether the system starts a program with one variable of this length and others that fill up to the given total cost.
fn starts(variable_length: usize, total: usize) -> bool {
    const FILLER: usize = 100_000;
    #[expect(clippy::disallowed_methods, reason = "the test is about starting programs")]
    let mut command = std::process::Command::new("/bin/true");
    command.env_clear().env("A", "x".repeat(variable_length - 2));
    let mut left = total - ExecLimits::cost("/bin/true".len()) - ExecLimits::cost(variable_length);
    for number in 0.. {
        let length = FILLER.min(left.saturating_sub(1 + POINTER_BYTES));
        if length < "F0000=".len() {
            break;
        }
        command.env(format!("F{number:04}"), "x".repeat(length - "F0000=".len()));
        left -= ExecLimits::cost(length);
    }
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn system_enforces_these_limits() {
    let ExecLimits { text_bytes_max, total_bytes_max } = ExecLimits::current();
    let small = 100_000;
    assert!(starts(text_bytes_max - 1, small + text_bytes_max), "largest string with its NUL");
    assert!(!starts(text_bytes_max, small + text_bytes_max), "one byte more");
    assert!(starts(small, total_bytes_max), "largest total");
    // The path of the program fits into the reserved bytes.
    assert!(
        starts(small, total_bytes_max + HEAD_ROOM_BYTES - 2 * POINTER_BYTES - "/bin/true".len()),
        "the system's limit"
    );
    assert!(!starts(small, total_bytes_max + HEAD_ROOM_BYTES), "more than the system's limit");
}
