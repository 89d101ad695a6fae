//! Settings of servers and clients as plain structs, for configuration files.

use crate::pending_handshakes::SILENT_MAX;
use crate::{ClientBuilder, Config, HeaderForm, IoBackend, ServerBuilder, Workers};
use std::fmt;
use std::time::Duration;

/// Setters of a builder for fields of its settings.
macro_rules! setters {
    ($builder:ident: $($(#[$doc:meta])* $name:ident($value:ident: $type:ty) => $field:ident = $set:expr;)*) => {
        impl $builder {
            $(
                $(#[$doc])*
                pub fn $name(mut self, $value: $type) -> Self {
                    self.settings.$field = $set;
                    self
                }
            )*
        }
    };
}
pub(crate) use setters;

/// How many bytes may be held for peers, by default.
const MEMORY_MAX: usize = 256 * 1024 * 1024;

/// Settings of a [`ServerBuilder`]. The fields are documented at the builder's methods of the same names.
///
/// With the feature `serde`, any format of serde reads and writes them. Times are written as in `5s`, `250ms` or
/// `2min`, sizes in bytes or as in `64KiB`. Unknown fields are errors.
///
/// ```
/// use frisbee::{Server, ServerSettings};
/// use std::time::Duration;
///
/// let mut settings = ServerSettings::default();
/// settings.memory_max = 64 << 20;
/// settings.connection.idle_timeout = Duration::from_secs(30);
/// let builder = Server::builder().settings(&settings)?;
/// assert_eq!(builder.describe(), settings);
///
/// settings.connection.idle_timeout = Duration::ZERO;
/// let error = Server::builder().settings(&settings).expect_err("a connection would close at once");
/// assert_eq!(error.to_string(), "idle_timeout = 0ns: must be greater than zero");
/// # Ok::<(), frisbee::SettingError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct ServerSettings {
    /// Limits and times of each connection.
    pub connection: Config,
    /// See [`ServerBuilder::first_header_timeout`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub first_header_timeout: Duration,
    /// See [`ServerBuilder::memory_max`].
    #[cfg_attr(feature = "serde", serde(with = "frisbee_core::byte_size"))]
    pub memory_max: usize,
    /// See [`ServerBuilder::silent_max`].
    pub silent_max: usize,
    /// See [`ServerBuilder::shutdown_timeout`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub shutdown_timeout: Duration,
    /// See [`ServerBuilder::max_connection_age`]; `None` is no limit.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub max_connection_age: Option<Duration>,
    /// See [`ServerBuilder::max_connection_age_grace`]; `None` is no limit.
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub max_connection_age_grace: Option<Duration>,
    /// See [`ServerBuilder::busy_poll`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub busy_poll: Duration,
    /// See [`ServerBuilder::workers`].
    pub workers: Workers,
    /// See [`ServerBuilder::io_backend`].
    pub io_backend: IoBackend,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            connection: Config::default(),
            first_header_timeout: Duration::from_secs(10),
            memory_max: MEMORY_MAX,
            silent_max: SILENT_MAX,
            // Orchestrators give 30 s before they kill.
            shutdown_timeout: Duration::from_secs(20),
            max_connection_age: None,
            max_connection_age_grace: None,
            busy_poll: Duration::ZERO,
            workers: Workers::default(),
            io_backend: IoBackend::default(),
        }
    }
}

/// Settings of a [`ClientBuilder`], as [`ServerSettings`] are of a server.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct ClientSettings {
    /// Limits and times of the connection.
    pub connection: Config,
    /// See [`ClientBuilder::connect_timeout`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub connect_timeout: Duration,
    /// See [`ClientBuilder::peer_kind_timeout`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub peer_kind_timeout: Duration,
    /// See [`ClientBuilder::memory_max`].
    #[cfg_attr(feature = "serde", serde(with = "frisbee_core::byte_size"))]
    pub memory_max: usize,
    /// See [`ClientBuilder::busy_poll`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub busy_poll: Duration,
    /// See [`ClientBuilder::workers`].
    pub workers: Workers,
    /// See [`ClientBuilder::io_backend`].
    pub io_backend: IoBackend,
    /// See [`ClientBuilder::header_form`].
    pub header_form: HeaderForm,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            connection: Config::default(),
            connect_timeout: Duration::from_secs(10),
            // Go answers a PING at once.
            peer_kind_timeout: Duration::from_secs(5),
            memory_max: MEMORY_MAX,
            busy_poll: Duration::ZERO,
            workers: Workers::Caller,
            io_backend: IoBackend::default(),
            header_form: HeaderForm::Current,
        }
    }
}

/// A setting is out of range, or contradicts another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingError {
    name: &'static str,
    value: String,
    problem: String,
}

impl SettingError {
    /// The setting `name` cannot have this value.
    pub fn new(name: &'static str, value: impl fmt::Debug, problem: impl Into<String>) -> Self {
        Self { name, value: format!("{value:?}"), problem: problem.into() }
    }

    /// The name of the setting.
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

/// Fails for the first value that is zero.
fn check_positive<T: Default + PartialEq + fmt::Debug>(values: &[(&'static str, T)]) -> Result<(), SettingError> {
    match values.iter().find(|(_, value)| *value == T::default()) {
        Some((name, value)) => Err(SettingError::new(name, value, "must be greater than zero")),
        None => Ok(()),
    }
}

fn check_config(config: &Config) -> Result<(), SettingError> {
    check_positive(&[
        ("ping_interval", config.ping_interval),
        ("idle_timeout", config.idle_timeout),
        ("write_timeout", config.write_timeout),
        ("least_rate_window", config.least_rate_window),
        ("hand_off_timeout", config.hand_off_timeout),
    ])?;
    check_positive(&[("backlog_max", config.backlog_max), ("stream_buffer_max", config.stream_buffer_max)])?;
    check_positive(&[
        ("waste_rate", config.waste_rate),
        ("calls_max", config.calls_max),
        ("stream_credit", config.stream_credit),
    ])?;
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

fn check_workers(workers: Workers) -> Result<(), SettingError> {
    match workers {
        Workers::Threads(count) if !(1..=1024).contains(&count) => {
            Err(SettingError::new("workers", count, "must be 1 to 1024 threads"))
        }
        _ => Ok(()),
    }
}

impl ServerBuilder {
    /// Sets everything that `settings` has. Later calls of other setters prevail.
    ///
    /// # Errors
    /// If a value is out of range, or contradicts another.
    pub fn settings(mut self, settings: &ServerSettings) -> Result<Self, SettingError> {
        check_config(&settings.connection)?;
        check_positive(&[("first_header_timeout", settings.first_header_timeout)])?;
        check_positive(&[("memory_max", settings.memory_max), ("silent_max", settings.silent_max)])?;
        check_workers(settings.workers)?;
        check_positive(&[("max_connection_age", settings.max_connection_age.unwrap_or(Duration::MAX))])?;
        self.settings.clone_from(settings);
        Ok(self)
    }

    /// The settings in effect.
    pub fn describe(&self) -> ServerSettings {
        self.settings.clone()
    }

    /// Sets whether all settings are logged once when the server is bound or built, at the level INFO. Default: no.
    ///
    /// ```
    /// let builder = frisbee::Server::builder().log_settings(true);
    /// ```
    pub fn log_settings(mut self, log: bool) -> Self {
        self.log_settings = log;
        self
    }
}

impl ClientBuilder {
    /// Sets everything that `settings` has. Later calls of other setters prevail.
    ///
    /// # Errors
    /// If a value is out of range, or contradicts another.
    pub fn settings(mut self, settings: &ClientSettings) -> Result<Self, SettingError> {
        check_config(&settings.connection)?;
        check_positive(&[
            ("connect_timeout", settings.connect_timeout),
            ("peer_kind_timeout", settings.peer_kind_timeout),
        ])?;
        check_positive(&[("memory_max", settings.memory_max)])?;
        check_workers(settings.workers)?;
        self.settings.clone_from(settings);
        Ok(self)
    }

    /// The settings in effect.
    pub fn describe(&self) -> ClientSettings {
        self.settings.clone()
    }

    /// Sets whether all settings are logged when the client connects, at the level INFO. Default: no.
    pub fn log_settings(mut self, log: bool) -> Self {
        self.log_settings = log;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Server};

    /// A change to settings, and the error it leads to.
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

    #[test]
    fn described_settings_restore_the_builder() {
        let second = Duration::from_secs(1);
        let config = Config::default().ping_interval(second).body_max(70_000).hello(false).turn_max(Duration::ZERO);
        let server =
            Server::builder().config(config.clone()).silent_max(7).busy_poll(second).workers(Workers::Threads(3));
        let server = server.max_connection_age(second * 60).max_connection_age_grace(second);
        let restored = Server::builder().settings(&server.describe()).expect("valid");
        assert_eq!(restored.describe(), server.describe());
        let client = Client::builder().config(config).header_form(HeaderForm::Old).connect_timeout(second);
        let restored = Client::builder().settings(&client.describe()).expect("valid");
        assert_eq!(restored.describe(), client.describe());
    }

    #[cfg(feature = "serde")]
    #[test]
    fn file_with_units_is_read() {
        let text = r#"{
            "connection": {"idle_timeout": "30s", "body_max": 4096, "stream_credit": "64KiB", "hello": false},
            "memory_max": "64MiB", "workers": {"threads": 3}, "io_backend": "auto"
        }"#;
        let read: ServerSettings = serde_json::from_str(text).expect("valid");
        let mut settings = ServerSettings::default();
        let config = Config::default().idle_timeout(Duration::from_secs(30)).body_max(4096).hello(false);
        settings.connection = config.stream_credit(64 << 10);
        (settings.memory_max, settings.workers) = (64 << 20, Workers::Threads(3));
        settings.io_backend = IoBackend::Auto;
        assert_eq!(read, settings);
        let written = serde_json::to_string(&settings).expect("plain values");
        assert_eq!(serde_json::from_str::<ServerSettings>(&written).expect("as written"), settings);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn file_with_unknown_field_or_bad_value_is_refused() {
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
