//! The settings of servers and channels by name, for files and the environment: those of frisbee's builders, and more.

use crate::{Channel, ChannelBuilder, Server, ServerBuilder};
use frisbee::support::{Kind, Setting, Value};
use frisbee::{ClientBuilder, Configurable, Effective, SettingError, Settings};
use polyglot::NESTING_CEILING;
use std::time::Duration;

/// Values for the settings of a [`ServerBuilder`], from a file or the environment; see [`Settings`].
///
/// ```
/// let settings = frpc::ServerSettings::from_env("SHOP_SERVER_")?;
/// let server = frpc::Server::builder().settings(&settings)?;
/// # Ok::<(), frpc::SettingError>(())
/// ```
pub type ServerSettings = Settings<ServerBuilder>;

/// Values for the settings of a [`ChannelBuilder`], from a file or the environment; see [`Settings`].
///
/// ```
/// let mut settings = frpc::ChannelSettings::new();
/// settings.set("timeout", "5s")?;
/// let channel = frpc::Channel::builder().settings(&settings)?;
/// # Ok::<(), frpc::SettingError>(())
/// ```
pub type ChannelSettings = Settings<ChannelBuilder>;

/// How deep messages may nest.
fn nesting<T: Configurable>(get: fn(&T) -> u32, set: fn(T, u32) -> T) -> Setting<T> {
    let range = 1..=NESTING_CEILING.into();
    let set = move |builder, levels| set(builder, u32::try_from(levels).unwrap_or(u32::MAX));
    Setting::number("nesting_max", Kind::Count, range, move |builder| get(builder).into(), set)
}

impl Configurable for ServerBuilder {
    fn blank() -> Self {
        Server::builder()
    }

    fn table() -> Vec<Setting<Self>> {
        let inner = frisbee::ServerBuilder::table().into_iter();
        let inner = inner.map(|setting| setting.of(|b: &Self| &b.inner, |b| &mut b.inner));
        inner.chain([nesting(|b: &Self| b.offering.nesting.levels(), Self::nesting_max)]).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.inner.check()
    }
}

impl Configurable for ChannelBuilder {
    fn blank() -> Self {
        Channel::builder()
    }

    fn table() -> Vec<Setting<Self>> {
        let client = ClientBuilder::table().into_iter();
        // Which a channel has to know as well.
        let client = client.filter(|setting| setting.name() != "connect_timeout");
        let client = client.map(|setting| setting.of(|b: &Self| &b.client, |b| &mut b.client));
        let own = [
            Setting::time("connect_timeout", false, |b: &Self| b.connect_timeout, Self::connect_timeout),
            Setting::word("timeout", |b: &Self| show_timeout(b.timeout), timeout, set_timeout),
            Setting::time("reconnect_patience", true, |b: &Self| b.patience, Self::reconnect_patience),
            Setting::flag("strict_presence", |b: &Self| b.strict_presence, Self::strict_presence),
            nesting(|b: &Self| b.offering.nesting.levels(), Self::nesting_max),
        ];
        client.chain(own).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.client.check()
    }
}

/// `none`, which is [`ChannelBuilder::dangerous_no_timeout`], or a time.
fn timeout(word: &str) -> Result<Option<Duration>, String> {
    if word == "none" {
        return Ok(None);
    }
    match Kind::Time.parse(word)? {
        Value::Time(time) if time > Duration::ZERO => Ok(Some(time)),
        _ => Err("this has to be longer than no time at all, or \"none\"".into()),
    }
}

fn show_timeout(timeout: Option<Duration>) -> String {
    timeout.map_or_else(|| "none".into(), |timeout| Value::Time(timeout).to_string().trim_matches('"').to_owned())
}

fn set_timeout(builder: ChannelBuilder, timeout: Option<Duration>) -> ChannelBuilder {
    match timeout {
        None => builder.dangerous_no_timeout(),
        Some(timeout) => builder.timeout(timeout),
    }
}

impl ServerBuilder {
    /// Sets what has a value in `settings`, such as those of a file or of the environment. Later calls of other setters
    /// prevail.
    ///
    /// # Errors
    /// If two settings contradict each other.
    pub fn settings(self, settings: &ServerSettings) -> Result<Self, SettingError> {
        settings.apply(self)
    }

    /// All limits and times as they are in effect.
    pub fn describe(&self) -> Effective {
        Effective::of(self)
    }

    /// Sets whether all limits and times are logged once when the server is bound or built, at the level INFO. Default:
    /// no.
    pub fn log_settings(mut self, log: bool) -> Self {
        self.log_settings = log;
        self
    }
}

impl ChannelBuilder {
    /// Sets what has a value in `settings`, such as those of a file or of the environment. Later calls of other setters
    /// prevail.
    ///
    /// # Errors
    /// If two settings contradict each other.
    pub fn settings(self, settings: &ChannelSettings) -> Result<Self, SettingError> {
        settings.apply(self)
    }

    /// All limits and times as they are in effect.
    pub fn describe(&self) -> Effective {
        Effective::of(self)
    }

    /// Sets whether all limits and times are logged once when the channel is made, at the level INFO. Default: no.
    pub fn log_settings(mut self, log: bool) -> Self {
        self.log_settings = log;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_has_the_settings_of_its_client_and_its_own() {
        let mut settings = ChannelSettings::new();
        for (name, value) in [
            ("timeout", "5s"),
            ("connect_timeout", "3s"),
            ("idle_timeout", "30s"),
            ("nesting_max", "20"),
            ("strict_presence", "true"),
        ] {
            settings.set(name, value).expect("it is a setting");
        }
        let builder = Channel::builder().settings(&settings).expect("nothing contradicts");
        let shown = builder.describe().to_string();
        for line in ["timeout = \"5s\"", "connect_timeout = \"3s\"", "idle_timeout = \"30s\"", "nesting_max = 20"] {
            assert!(shown.lines().any(|shown| shown == line), "{shown}");
        }
        assert_eq!(builder.connect_timeout, Duration::from_secs(3));
        assert!(builder.client.describe().to_string().contains("connect_timeout = \"3s\""), "its client has it too");
        settings.set("timeout", "none").expect("calls may take as long as they like");
        let builder = Channel::builder().settings(&settings).expect("nothing contradicts");
        assert!(builder.describe().to_string().contains("timeout = \"none\""));
        settings.set("timeout", "0s").expect_err("no call would be made");
    }

    #[test]
    fn nesting_deeper_than_a_stack_carries_is_refused() {
        let mut settings = ServerSettings::new();
        let error = settings.set("nesting_max", "201").expect_err("the ceiling is 200").to_string();
        assert_eq!(error, "nesting_max = \"201\": this has to be 1 to 200");
        settings.set("nesting_max", "200").expect("it is the ceiling");
        let builder = Server::builder().settings(&settings).expect("nothing contradicts");
        assert!(builder.describe().to_string().ends_with("nesting_max = 200"), "{}", builder.describe());
    }
}
