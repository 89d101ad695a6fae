//! Settings from a file of any format that serde reads.

use super::{Configurable, SettingError, Settings};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A value of any type, as text.
struct Scalar(String);

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time or size as text, a number, true or false")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar(text.to_owned()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Scalar, E> {
        Ok(Scalar(flag.to_string()))
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct SettingsVisitor<T>(PhantomData<fn(T)>);

impl<'de, T: Configurable> Visitor<'de> for SettingsVisitor<T> {
    type Value = Settings<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Settings<T>, A::Error> {
        let mut settings = Settings::new();
        while let Some(name) = map.next_key::<String>()? {
            if settings.values.iter().any(|(known, _)| *known == name) {
                return Err(Error::custom(format_args!("{name} is set twice")));
            }
            let Scalar(value) = map.next_value()?;
            settings.set(&name, &value).map_err(|error: SettingError| Error::custom(error))?;
        }
        Ok(settings)
    }
}

/// A map of names and values. Names that are no settings, and names that come twice, are errors.
impl<'de, T: Configurable> Deserialize<'de> for Settings<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SettingsVisitor(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Server, ServerSettings};

    #[test]
    fn a_file_has_texts_numbers_and_flags_for_values() {
        let text = r#"{"idle_timeout": "30s", "body_max": 4096, "memory_max": "64MiB", "hello": false, "workers": 3}"#;
        let settings: ServerSettings = serde_json::from_str(text).expect("they are settings");
        let shown = Server::builder().settings(&settings).expect("nothing contradicts").describe().to_string();
        for line in ["idle_timeout = \"30s\"", "body_max = \"4KiB\"", "hello = false", "workers = \"3\""] {
            assert!(shown.lines().any(|shown| shown == line), "{shown}");
        }
    }

    #[test]
    fn unknown_settings_and_bad_values_are_errors_of_the_file() {
        for (text, error) in [
            (r#"{"idle_timout": "30s"}"#, "there is no setting \"idle_timout\"; did you mean \"idle_timeout\"?"),
            (r#"{"body_max": -1}"#, "body_max = \"-1\": this is not a number of bytes"),
            (r#"{"body_max": 1.5}"#, "invalid type: floating point `1.5`, expected a time or size as text"),
            (r#"{"body_max": null}"#, "invalid type: null"),
            (r#"{"body_max": ["1MiB"]}"#, "invalid type: sequence"),
            (r#"{"hello": true, "hello": true}"#, "hello is set twice"),
            (r#"["body_max"]"#, "invalid type: sequence, expected a table of settings"),
        ] {
            let refused = serde_json::from_str::<ServerSettings>(text).expect_err(text).to_string();
            assert!(refused.starts_with(error), "{text}: {refused}");
        }
    }
}
