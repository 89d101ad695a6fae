//! Settings of servers and clients as plain structs for configuration files, with setters and checks.

use crate::Config;
use std::fmt;

/// Declares a settings struct such as `ServerSettings`. For each field, also declares a method of the builder that sets
/// the field. The documentation of a field becomes that of the method, and the field refers to the method.
///
/// The first line is `pub struct Settings of Builder, log;`. `log` is a closure that logs settings. The settings must
/// have a function `check`, and the builder must have the fields `settings`, `log_settings` and `threads`.
///
/// Each further line is `name: Type = default` and may end with options:
///
/// * `from T`: the builder method takes a `T`, which is converted into the type of the field.
/// * `with "module"`: serde serializes the field with this module.
/// * `threads start`: the setting chooses worker threads. `start` starts them, and is stored in the builder's field
///   `threads`.
macro_rules! settings {
    (
        $(#[$about:meta])* pub struct $settings:ident of $builder:ident, $log:expr;
        $($(#[$doc:meta])* $name:ident: $type:ty = $default:expr
            $(, from $from:ty)? $(, with $with:literal)? $(, threads $threads:expr)?;)*
    ) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
        #[non_exhaustive]
        pub struct $settings {
            /// Limits and timeouts of each connection.
            pub connection: Config,
            $(
                #[doc = concat!("See [`", stringify!($builder), "::", stringify!($name), "`].")]
                $(#[cfg_attr(feature = "serde", serde(with = $with))])?
                pub $name: $type,
            )*
        }

        impl Default for $settings {
            fn default() -> Self {
                Self { connection: Config::default(), $($name: $default,)* }
            }
        }

        impl $builder {
            /// Sets the limits and timeouts of each connection.
            pub fn config(mut self, config: Config) -> Self {
                self.settings.connection = config;
                self
            }

            $(
                $(#[$doc])*
                pub fn $name(mut self, $name: $crate::settings::settings!(@argument $type $(, $from)?)) -> Self {
                    self.settings.$name = $name.into();
                    // Only this setter refers to the function, so that the linker removes the code for threads from
                    // programs that never call it.
                    $(self.threads = Some($threads);)?
                    self
                }
            )*

            /// Checks `settings` and replaces all settings of the builder with them. Setters that are called later
            /// override individual values without these checks. Values of zero are still rejected when the builder
            /// connects or binds.
            ///
            /// # Errors
            /// If a value is out of range or contradicts another value.
            pub fn settings(mut self, settings: &$settings) -> Result<Self, $crate::SettingError> {
                settings.check()?;
                $crate::settings::check_consistency(&settings.connection)?;
                self.settings.clone_from(settings);
                $($(self.threads = Some($threads);)?)*
                Ok(self)
            }

            /// Returns the current settings of the builder.
            pub fn to_settings(&self) -> $settings {
                self.settings.clone()
            }

            /// Sets whether all settings are logged at level INFO: a server's when it is bound or built, and a client's
            /// when it connects. Disabled by default.
            pub fn log_settings(mut self, log: bool) -> Self {
                // Only this setter refers to the function, so that the linker removes the formatting code from programs
                // that never call it.
                self.log_settings = log.then_some($log);
                self
            }
        }
    };
    (@argument $type:ty) => { $type };
    (@argument $type:ty, $from:ty) => { $from };
}
pub(crate) use settings;

/// Default maximum memory in bytes for the connections themselves. A connection without TLS counts as 4 KiB, so this
/// suffices for 131 072 of them.
pub(crate) const CONNECTION_MEMORY_MAX: usize = 512 * 1024 * 1024;

/// Default maximum memory in bytes that a server uses for the data of its peers.
pub(crate) const MEMORY_MAX: usize = 256 * 1024 * 1024;

/// Error returned when a setting is out of range or contradicts another one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingError {
    name: &'static str,
    value: String,
    problem: String,
}

impl SettingError {
    /// Creates an error for the setting `name`. The value is shown in its `Debug` form, such as `0ns` for a duration of
    /// zero.
    pub fn new(name: &'static str, value: impl fmt::Debug, problem: impl Into<String>) -> Self {
        Self { name, value: format!("{value:?}"), problem: problem.into() }
    }

    /// Checks that settings are not zero. `T` is a number or a `Duration`; its default is zero. The error names the
    /// first setting that is zero.
    ///
    /// ```
    /// use frisbee::SettingError;
    ///
    /// let error = SettingError::check_positive(&[("queue_max", 5), ("memory_max", 0)]).unwrap_err();
    /// assert_eq!(error.to_string(), "memory_max = 0: must be greater than zero");
    /// ```
    ///
    /// # Errors
    /// If a value is zero.
    pub fn check_positive<T: Default + PartialEq + fmt::Debug>(values: &[(&'static str, T)]) -> Result<(), Self> {
        match values.iter().find(|(_, value)| *value == T::default()) {
            Some((name, value)) => Err(Self::new(name, value, "must be greater than zero")),
            None => Ok(()),
        }
    }

    /// Returns the name of the setting.
    ///
    /// ```
    /// use frisbee::SettingError;
    ///
    /// let error = SettingError::new("body_max", 0, "must be at least 1024 bytes");
    /// assert_eq!(error.name(), "body_max");
    /// assert_eq!(error.to_string(), "body_max = 0: must be at least 1024 bytes");
    /// ```
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value, problem } = self;
        write!(f, "{name} = {value}: {problem}")
    }
}

impl std::error::Error for SettingError {}

/// Returns an error if a limit or timeout of connections is zero.
pub(crate) fn check_config(config: &Config) -> Result<(), SettingError> {
    // One call for each type of settings, because `check_positive` takes values of a single type.
    SettingError::check_positive(&[
        ("ping_interval", config.ping_interval),
        ("idle_timeout", config.idle_timeout),
        ("write_timeout", config.write_timeout),
        ("least_rate_window", config.least_rate_window),
        ("hand_off_timeout", config.hand_off_timeout),
    ])?;
    SettingError::check_positive(&[
        ("backlog_max", config.backlog_max),
        ("stream_buffer_max", config.stream_buffer_max),
    ])?;
    SettingError::check_positive(&[
        ("abuse_rate", config.abuse_rate),
        ("calls_max", config.calls_max),
        ("stream_credit", config.stream_credit),
    ])
}

/// Returns an error if `body_max` is too low, or `ping_interval` is not below `idle_timeout`. Setters do not check
/// this, because connections work with such values: they raise a low [`body_max`](Config::body_max), and do without
/// PINGs.
pub(crate) fn check_consistency(config: &Config) -> Result<(), SettingError> {
    if config.body_max < crate::BODY_MAX_LEAST {
        let problem = format!("must be at least {} bytes", crate::BODY_MAX_LEAST);
        return Err(SettingError::new("body_max", config.body_max, problem));
    }
    if config.ping_interval >= config.idle_timeout {
        let problem = format!("must be less than idle_timeout ({:?})", config.idle_timeout);
        return Err(SettingError::new("ping_interval", config.ping_interval, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Handlers, HeaderForm, Server, ServerSettings, Workers};
    use std::time::Duration;

    /// A change that makes valid settings invalid, with the expected error text.
    type Defect = (fn(&mut ServerSettings), &'static str);

    #[test]
    fn settings_out_of_range_are_refused() {
        let defects: &[Defect] = &[
            (|s| s.connection.body_max = 1000, "body_max = 1000: must be at least 1024 bytes"),
            (|s| s.connection.calls_max = 0, "calls_max = 0: must be greater than zero"),
            (|s| s.connection.idle_timeout = Duration::ZERO, "idle_timeout = 0ns: must be greater than zero"),
            (|s| s.max_connection_age = Some(Duration::ZERO), "max_connection_age = 0ns: must be greater than zero"),
            (|s| s.memory_max = 0, "memory_max = 0: must be greater than zero"),
            (|s| s.workers = Workers::Threads(0), "workers = 0: must be 1 to 1024 threads"),
            (
                |s| s.connection.ping_interval = Duration::from_secs(10),
                "ping_interval = 10s: must be less than idle_timeout (10s)",
            ),
        ];
        for (change, text) in defects {
            let mut settings = ServerSettings::default();
            change(&mut settings);
            let error = Server::builder().settings(&settings).expect_err(text);
            assert_eq!(error.to_string(), *text);
        }
    }

    #[tokio::test]
    async fn zero_of_setter_is_rejected_at_use() {
        let none = Config::default().calls_max(0);
        let built = Server::builder().config(none.clone()).build(Handlers::new()).map(drop);
        let (here, _there) = crate::memory();
        let connected = Client::builder().config(none).connect_io(here, Handlers::new()).await.map(drop);
        for error in [built, connected].map(|used| used.expect_err("zero should be rejected")) {
            assert_eq!(error.to_string(), "invalid setting: calls_max = 0: must be greater than zero");
        }
        let server = Server::builder().memory_max(0).bind("127.0.0.1:0", Handlers::new()).await;
        let error = server.map(drop).expect_err("zero should be rejected");
        assert_eq!(error.to_string(), "invalid setting: memory_max = 0: must be greater than zero");
    }

    /// `Builder::settings` accepts the result of `Builder::to_settings` and restores each value. `turn_max` may be
    /// zero: a busy connection then lets others run after every 32 packets.
    #[test]
    fn described_settings_restore_builder() {
        let second = Duration::from_secs(1);
        let config = Config::default().ping_interval(second).body_max(70_000).hello(false).turn_max(Duration::ZERO);
        let server =
            Server::builder().config(config.clone()).silent_max(7).busy_poll(second).workers(Workers::Threads(3));
        let server = server.max_connection_age(second * 60).max_connection_age_grace(second);
        let restored =
            Server::builder().settings(&server.to_settings()).expect("settings of the builder should be valid");
        assert_eq!(restored.to_settings(), server.to_settings());
        let client = Client::builder().config(config).header_form(HeaderForm::Old).connect_timeout(second);
        let restored =
            Client::builder().settings(&client.to_settings()).expect("settings of the builder should be valid");
        assert_eq!(restored.to_settings(), client.to_settings());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn file_with_units_is_read() {
        let text = r#"{
            "connection": {"idle_timeout": "30s", "body_max": 4096, "stream_credit": "64KiB", "hello": false},
            "memory_max": "64MiB", "workers": {"threads": 3}, "io_backend": "auto"
        }"#;
        let read: ServerSettings = serde_json::from_str(text).expect("settings should be valid JSON");
        let mut settings = ServerSettings::default();
        let config = Config::default().idle_timeout(Duration::from_secs(30)).body_max(4096).hello(false);
        settings.connection = config.stream_credit(64 << 10);
        (settings.memory_max, settings.workers) = (64 << 20, Workers::Threads(3));
        settings.io_backend = crate::IoBackend::Auto;
        assert_eq!(read, settings);
        let written = serde_json::to_string(&settings).expect("settings should serialize to JSON");
        assert_eq!(
            serde_json::from_str::<ServerSettings>(&written).expect("serialized settings should be valid JSON"),
            settings
        );
    }

    #[cfg(feature = "serde")]
    #[test]
    fn settings_file_with_invalid_field_is_rejected() {
        for (text, error) in [
            (r#"{"memory_mx": 1}"#, "unknown field `memory_mx`"),
            (r#"{"connection": {"idle_timout": "30s"}}"#, "unknown field `idle_timout`"),
            (r#"{"connection": {"body_max": -1}}"#, "invalid value: integer `-1`"),
            (r#"{"connection": {"body_max": "8GiB"}}"#, "8589934592 bytes exceed the maximum of this setting"),
            (r#"{"connection": {"idle_timeout": "30"}}"#, "invalid value: string \"30\", expected a duration"),
            (r#"{"workers": "many"}"#, "unknown variant `many`"),
        ] {
            let refused = serde_json::from_str::<ServerSettings>(text).expect_err(text).to_string();
            assert!(refused.starts_with(error), "{text}: {refused}");
        }
    }
}
