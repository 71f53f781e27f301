use tiphys_model::params::EnvVar;

use super::*;
use LargeParameters::{File, Refuse};

const LIMITS: ExecLimits = ExecLimits { text_bytes_max: 100, total_bytes_max: 10_000 };

/// A variable with this number of bytes, as counted by the system.
fn sized(name: &str, bytes: usize) -> EnvVar {
    EnvVar::new(name, "x".repeat(bytes - name.len() - 2))
}

fn passed(
    request: &[EnvVar],
    large: LargeParameters,
    limits: ExecLimits,
) -> Result<(Vec<String>, Vec<&'static str>), String> {
    let mut env = vec![("PATH".to_owned(), "/bin".to_owned())];
    env.extend(request.iter().map(|variable| (variable.name.clone(), variable.value.clone())));
    let argv = ["sh".to_owned(), "-c".to_owned()];
    let passing = pass(env, &[&argv], large, limits).map_err(|error| error.to_string())?;
    let names = passing.env.into_iter().map(|(name, _)| name).collect();
    Ok((names, passing.files.into_iter().map(|(name, _)| name).collect()))
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

#[test]
fn fitting_variables_are_passed_and_also_as_files() {
    let request =
        [sized("ARGOCD_APP_PARAMETERS", 100), sized("KUBE_API_VERSIONS", 50), sized("PARAM_A", 100)];
    let all = names(&["PATH", "ARGOCD_APP_PARAMETERS", "KUBE_API_VERSIONS", "PARAM_A"]);
    assert_eq!(passed(&request, Refuse, LIMITS), Ok((all.clone(), vec![])));
    assert_eq!(passed(&request, File, LIMITS), Ok((all, vec!["ARGOCD_APP_PARAMETERS", "KUBE_API_VERSIONS"])));
}

#[test]
fn files_exist_only_for_set_variables() {
    let request = [EnvVar::new("KUBE_API_VERSIONS", "")];
    assert_eq!(
        passed(&request, File, LIMITS),
        Ok((names(&["PATH", "KUBE_API_VERSIONS"]), vec!["KUBE_API_VERSIONS"]))
    );
    assert_eq!(passed(&[], File, LIMITS), Ok((names(&["PATH"]), vec![])));
}

#[test]
fn file_contains_the_last_value_of_a_name() {
    let env = ["old", "new"].map(|value| ("ARGOCD_APP_PARAMETERS".to_owned(), value.to_owned()));
    let passing = pass(env.to_vec(), &[], File, LIMITS).unwrap();
    assert_eq!(passing.files, [("ARGOCD_APP_PARAMETERS", "new".to_owned())]);
}

#[test]
fn large_variable_above_the_limit_is_file_or_refused() {
    for name in LARGE {
        let request = [sized(name, 101)];
        assert_eq!(passed(&request, File, LIMITS), Ok((names(&["PATH"]), vec![name])));
        let expected = format!(
            "environment variable {name} has 101 bytes, and the system passes at most 100 in one (name, `=`, value and a NUL): \
             set `spec.largeParameters: file` in the plugin's file, and have the plugin read the file"
        );
        assert_eq!(passed(&request, Refuse, LIMITS), Err(expected));
    }
}

#[test]
fn other_variables_above_the_limit_are_refused() {
    let expected = "environment variable PARAM_A has 101 bytes, and the system passes at most 100 in one (name, `=`, value and a NUL): \
                    make the parameter smaller, or keep its content in a file of the repository";
    assert_eq!(passed(&[sized("PARAM_A", 101)], Refuse, LIMITS), Err(expected.to_owned()));
    for large in [Refuse, File] {
        assert!(passed(&[sized("ARGOCD_ENV_A", 101)], large, LIMITS).is_err());
        // No file contains its value.
        assert!(passed(&[sized("PARAM_A", 101)], large, LIMITS).is_err());
    }
}

#[test]
fn oversized_parameter_variable_is_only_in_the_file() {
    let request = [
        sized("ARGOCD_APP_PARAMETERS", 101),
        sized("PARAM_A", 101),
        sized("PARAM_B", 100),
        sized("PARAM_C", 50),
    ];
    let files = vec!["ARGOCD_APP_PARAMETERS"];
    assert_eq!(passed(&request, File, LIMITS), Ok((names(&["PATH", "PARAM_B", "PARAM_C"]), files.clone())));
    let path = ExecLimits::cost("ARGOCD_APP_PARAMETERS".len() + FILE_SUFFIX.len() + 1 + PATH_BYTES_MAX);
    let exact = (10 + 8) + (100 + 8) + (50 + 8) + 2 * (3 + 8) + path;
    let limits = |total_bytes_max| ExecLimits { total_bytes_max, ..LIMITS };
    let both = names(&["PATH", "PARAM_B", "PARAM_C"]);
    assert_eq!(passed(&request, File, limits(exact)), Ok((both, files.clone())));
    assert_eq!(passed(&request, File, limits(exact - 1)), Ok((names(&["PATH", "PARAM_C"]), files)));
}

#[test]
fn total_above_the_limit_names_the_largest_string() {
    let request = [sized("A", 40), sized("B", 60)];
    // PATH=/bin, A, B, `sh` and `-c`, each with a pointer of 8 bytes.
    let exact = 10 + 40 + 60 + 3 + 3 + 5 * 8;
    let limits = |total_bytes_max| ExecLimits { total_bytes_max, ..LIMITS };
    assert!(passed(&request, Refuse, limits(exact)).is_ok());
    assert_eq!(
        passed(&request, Refuse, limits(exact - 1)),
        Err(format!(
            "arguments and environment of the command have {exact} bytes, and the system passes at most {} \
             (a quarter of the stack's limit, `ulimit -s`); the largest is B with 60 bytes: make it smaller, or pass it differently",
            exact - 1
        ))
    );
}

#[test]
fn argument_may_be_the_largest_string() {
    let argv = ["sh".to_owned(), "x".repeat(80)];
    let limits = ExecLimits { total_bytes_max: 100, ..LIMITS };
    let error = pass(vec![("A".to_owned(), "a".repeat(40))], &[&argv], Refuse, limits).unwrap_err();
    let error = error.to_string();
    assert!(error.ends_with("the largest is argument 1 with 81 bytes: put it into a file"), "{error}");
}

#[test]
fn largest_variables_are_removed_first() {
    let request = [sized("ARGOCD_APP_PARAMETERS", 90), sized("KUBE_API_VERSIONS", 80), sized("OTHER_A", 90)];
    let files = vec!["ARGOCD_APP_PARAMETERS", "KUBE_API_VERSIONS"];
    let paths: usize =
        files.iter().map(|name| ExecLimits::cost(name.len() + FILE_SUFFIX.len() + 1 + PATH_BYTES_MAX)).sum();
    let rest = (10 + 8) + (90 + 8) + 2 * (3 + 8) + paths;
    let limits = |total_bytes_max| ExecLimits { total_bytes_max, ..LIMITS };
    let all = names(&["PATH", "ARGOCD_APP_PARAMETERS", "KUBE_API_VERSIONS", "OTHER_A"]);
    assert_eq!(passed(&request, File, limits(rest + 98 + 88)), Ok((all, files.clone())));
    let without_one = names(&["PATH", "KUBE_API_VERSIONS", "OTHER_A"]);
    assert_eq!(passed(&request, File, limits(rest + 98 + 87)), Ok((without_one, files.clone())));
    let without_both = names(&["PATH", "OTHER_A"]);
    assert_eq!(passed(&request, File, limits(rest + 87)), Ok((without_both, files)));
    // No other variable is removed.
    let error = passed(&request, File, limits(rest - 1)).unwrap_err();
    assert!(error.contains("the largest is OTHER_A with 90 bytes"), "{error}");
}

#[test]
fn too_large_argument_is_named_by_its_index() {
    let argv = ["sh".to_owned(), "-c".to_owned(), "x".repeat(100)];
    let error = pass(vec![], &[&argv], Refuse, LIMITS).unwrap_err();
    assert_eq!(
        error.to_string(),
        "argument 2 of the command has 101 bytes, and the system passes at most 100: put it into a file"
    );
}

#[test]
fn nul_in_a_variable_is_refused() {
    for (variable, shown) in
        [(EnvVar::new("PARAM_A", "a\0b"), "PARAM_A"), (EnvVar::new("PARAM\0A", "secret"), "PARAM\\u{0}A")]
    {
        let expected = format!("environment variable {shown} contains a NUL byte: remove it from the value");
        assert_eq!(passed(&[variable], File, LIMITS), Err(expected));
    }
}
