//! Settings of a channel as a plain struct, for configuration files.

use crate::{Channel, ChannelBuilder};
use frisbee::{ClientSettings, SettingError};
use polyglot::NESTING_CEILING;
use std::time::Duration;

/// Settings of a [`ChannelBuilder`]. Each field corresponds to the builder method of the same name.
///
/// With the feature `serde`, they can be serialized and deserialized in any format, like
/// [`ServerSettings`](crate::ServerSettings).
///
/// ```
/// let mut settings = frpc::ChannelSettings::default();
/// settings.timeout = Some(std::time::Duration::from_secs(5));
/// let channel = frpc::Channel::builder().settings(&settings)?;
/// # Ok::<(), frpc::SettingError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct ChannelSettings {
    /// Settings for the channel's connections.
    pub client: ClientSettings,
    /// Default call timeout; see [`ChannelBuilder::timeout`]. Even the default of 30 s is sent to servers once these
    /// settings are applied. `None` corresponds to [`ChannelBuilder::dangerous_no_timeout`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub timeout: Option<Duration>,
    /// Maximum time that calls wait for a lost connection to be replaced; see [`ChannelBuilder::reconnect_timeout`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub reconnect_timeout: Duration,
    /// Whether encodings that lose field presence are an error; see [`ChannelBuilder::strict_presence`].
    pub strict_presence: bool,
    /// Maximum nesting depth of messages; see [`ChannelBuilder::nesting_max`].
    pub nesting_max: u32,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Channel::builder().to_settings()
    }
}

impl ChannelBuilder {
    /// Applies all settings, replacing the settings of previous method calls.
    ///
    /// # Errors
    /// If a setting is out of range or contradicts another one.
    pub fn settings(mut self, settings: &ChannelSettings) -> Result<Self, SettingError> {
        let ChannelSettings { client, timeout, reconnect_timeout, strict_presence, nesting_max } = settings;
        if !(1..=NESTING_CEILING).contains(nesting_max) {
            return Err(SettingError::new("nesting_max", nesting_max, format!("must be 1 to {NESTING_CEILING}")));
        }
        self.inner = self.inner.settings(client)?;
        self = match *timeout {
            Some(timeout) => self.timeout(timeout),
            None => self.dangerous_no_timeout(),
        };
        self = self.reconnect_timeout(*reconnect_timeout).strict_presence(*strict_presence).nesting_max(*nesting_max);
        self.check()?;
        Ok(self)
    }

    /// Returns the current settings.
    pub fn to_settings(&self) -> ChannelSettings {
        ChannelSettings {
            client: self.inner.to_settings(),
            timeout: self.options.timeout,
            reconnect_timeout: self.reconnect_timeout,
            strict_presence: self.options.strict,
            nesting_max: self.offering.nesting.levels(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_settings_reach_channel_and_client() {
        let mut settings = ChannelSettings::default();
        (settings.timeout, settings.nesting_max, settings.strict_presence) = (None, 20, true);
        settings.client.connect_timeout = Duration::from_secs(3);
        let builder = Channel::builder().settings(&settings).expect("settings should be valid");
        assert_eq!(builder.to_settings(), settings);
    }

    #[test]
    fn channel_settings_out_of_range_are_refused() {
        let refused = |change: fn(&mut ChannelSettings)| {
            let mut settings = ChannelSettings::default();
            change(&mut settings);
            Channel::builder().settings(&settings).expect_err("settings should be rejected").to_string()
        };
        assert_eq!(refused(|s| s.timeout = Some(Duration::ZERO)), "timeout = 0ns: must be greater than zero");
        assert_eq!(refused(|s| s.nesting_max = 201), "nesting_max = 201: must be 1 to 200");
    }

    #[tokio::test]
    async fn zero_of_channel_setter_is_rejected_at_connect() {
        type Setter = fn(ChannelBuilder) -> ChannelBuilder;
        let setters: &[(Setter, &str)] = &[
            (|builder| builder.timeout(Duration::ZERO), "timeout"),
            (|builder| builder.connect_timeout(Duration::ZERO), "connect_timeout"),
            #[cfg(feature = "grpc")]
            (|builder| builder.grpc_keepalive(Duration::ZERO, Duration::MAX), "grpc_keepalive.interval"),
            #[cfg(feature = "grpc")]
            (|builder| builder.grpc_keepalive(Duration::MAX, Duration::ZERO), "grpc_keepalive.timeout"),
        ];
        for (set, name) in setters {
            let error = set(Channel::builder()).connect_lazy("127.0.0.1:1").expect_err("zero should be rejected");
            assert_eq!(error.to_string(), format!("invalid setting: {name} = 0ns: must be greater than zero"));
        }
    }
}
