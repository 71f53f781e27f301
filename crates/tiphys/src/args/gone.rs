//! Options of earlier versions: the error has their present form.

use tiphys_model::limits::Limit;
use tiphys_service::Setting;

/// Returns the present form of an option that a command does not have, if it was one of all commands.
pub(super) fn present_form(option: &str) -> Option<String> {
    let name = option.strip_prefix("--")?;
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    if Limit::named(name).is_some() {
        return Some(format!("{option} is gone; write --limit {name}=VALUE"));
    }
    let by_option = Setting::ALL.iter().find(|setting| setting.option == Some(name));
    let setting = by_option.copied().or_else(|| Setting::named(&key(name)))?;
    Some(match setting.option {
        Some(_) => format!("this command does not use {option}"),
        None if setting == Setting::ANSWERS => {
            format!("this command does not use {option}; --config answers=FILE sets it")
        }
        None if setting.is_switch() => format!("{option} is gone; write --config {}=true", setting.key),
        None => format!("{option} is gone; write --config {}={}", setting.key, setting.value_name),
    })
}

/// Returns the key of an option's name: `kube-version` has the key `kubeVersion`.
fn key(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |key, word| {
        let mut letters = word.chars();
        let capital = letters.next().map(|letter| letter.to_ascii_uppercase());
        key + &capital.into_iter().chain(letters).collect::<String>()
    })
}

#[cfg(test)]
mod tests {
    use super::present_form;

    #[test]
    fn option_of_an_earlier_version_has_its_present_form() {
        for (option, expected) in [
            ("--plugin-timeout", Some("--plugin-timeout is gone; write --limit plugin-timeout=VALUE")),
            ("--jobs", Some("--jobs is gone; write --limit jobs=VALUE")),
            ("--kube-version", Some("--kube-version is gone; write --config kubeVersion=[NAME=]VERSION")),
            (
                "--no-default-plugins",
                Some("--no-default-plugins is gone; write --config noDefaultPlugins=true"),
            ),
            ("--store", Some("this command does not use --store")),
            ("--limit", Some("this command does not use --limit")),
            ("--answers", Some("this command does not use --answers; --config answers=FILE sets it")),
            ("--unknown", None),
            ("-x", None),
        ] {
            assert_eq!(present_form(option).as_deref(), expected, "{option}");
        }
    }
}
