//! Settings of servers and channels as plain structs, for configuration files.

use crate::{Channel, ChannelBuilder, ServerBuilder};
use frisbee::{ClientSettings, ServerSettings, SettingError};
use polyglot::NESTING_CEILING;
use std::time::Duration;

/// Setters that the builder of an end, with a field `inner`, forwards to that of its connections.
macro_rules! forwarded_setters {
    ($builder:ident: $($(#[$attribute:meta])* $name:ident($($argument:ident: $type:ty)?);)*) => {
        impl $builder {
            $(
                $(#[$attribute])*
                pub fn $name(mut self $(, $argument: $type)?) -> Self {
                    self.inner = self.inner.$name($($argument)?);
                    self
                }
            )*
        }
    };
}
pub(crate) use forwarded_setters;

/// The setters of both builders that are about connections.
macro_rules! connection_setters {
    ($builder:ident, $log:expr) => {
        $crate::settings::forwarded_setters! { $builder:
            /// Sets which threads drive connections. Default: [`Workers::Caller`](crate::Workers::Caller), the current
            /// tokio runtime.
            workers(workers: $crate::Workers);

            /// Sets what moves the bytes of connections. Default: [`IoBackend::default`](crate::IoBackend) at a server,
            /// and at a channel the current tokio runtime.
            io_backend(backend: $crate::IoBackend);

            /// Sets how long each connection keeps its thread awake after an event, for a lower latency on a core that
            /// has nothing else to do. Default: not at all. See [`frisbee::ServerBuilder::busy_poll`].
            busy_poll(time: std::time::Duration);

            /// Sets the limits and times of connections.
            config(config: $crate::Config);
        }

        impl $builder {
            /// Sets whether all settings are logged once, when the server is bound or built or the channel is made, at the
            /// level INFO. Default: no.
            pub fn log_settings(mut self, log: bool) -> Self {
                self.log_settings = log.then_some($log);
                self
            }
        }
    };
}
pub(crate) use connection_setters;

/// Settings of a [`ChannelBuilder`]. The fields are documented at the builder's methods of the same names.
///
/// With the feature `serde`, any format of serde reads and writes them, as it does [`ServerSettings`].
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
    /// Settings of the channel's connections.
    pub client: ClientSettings,
    /// See [`ChannelBuilder::timeout`]; `None` is [`ChannelBuilder::dangerous_no_timeout`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub timeout: Option<Duration>,
    /// See [`ChannelBuilder::reconnect_patience`].
    #[cfg_attr(feature = "serde", serde(with = "humantime_serde"))]
    pub reconnect_patience: Duration,
    /// See [`ChannelBuilder::strict_presence`].
    pub strict_presence: bool,
    /// See [`ChannelBuilder::nesting_max`].
    pub nesting_max: u32,
}

impl Default for ChannelSettings {
    fn default() -> Self {
        Channel::builder().describe()
    }
}

impl ServerBuilder {
    /// Sets everything that `settings` has. Later calls of other setters prevail.
    ///
    /// # Errors
    /// If a value is out of range, or contradicts another.
    pub fn settings(mut self, settings: &ServerSettings) -> Result<Self, SettingError> {
        self.inner = self.inner.settings(settings)?;
        Ok(self)
    }

    /// The settings in effect.
    pub fn describe(&self) -> ServerSettings {
        self.inner.describe()
    }
}

impl ChannelBuilder {
    /// Sets everything that `settings` has. Later calls of other setters prevail.
    ///
    /// # Errors
    /// If a value is out of range, or contradicts another.
    pub fn settings(mut self, settings: &ChannelSettings) -> Result<Self, SettingError> {
        let ChannelSettings { client, timeout, reconnect_patience, strict_presence, nesting_max } = settings;
        if !(1..=NESTING_CEILING).contains(nesting_max) {
            return Err(SettingError::new("nesting_max", nesting_max, format!("must be 1 to {NESTING_CEILING}")));
        }
        self.inner = self.inner.settings(client)?;
        self = match *timeout {
            Some(Duration::ZERO) => {
                return Err(SettingError::new("timeout", Duration::ZERO, "must be greater than zero"));
            }
            Some(timeout) => self.timeout(timeout),
            None => self.dangerous_no_timeout(),
        };
        Ok(self
            .connect_timeout(client.connect_timeout)
            .reconnect_patience(*reconnect_patience)
            .strict_presence(*strict_presence)
            .nesting_max(*nesting_max))
    }

    /// The settings in effect.
    pub fn describe(&self) -> ChannelSettings {
        ChannelSettings {
            client: self.inner.describe(),
            timeout: self.options.timeout,
            reconnect_patience: self.patience,
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
        let builder = Channel::builder().settings(&settings).expect("valid");
        assert_eq!(builder.describe(), settings);
        assert_eq!(builder.connect_timeout, Duration::from_secs(3));
    }

    #[test]
    fn channel_settings_out_of_range_are_refused() {
        let refused = |change: fn(&mut ChannelSettings)| {
            let mut settings = ChannelSettings::default();
            change(&mut settings);
            Channel::builder().settings(&settings).expect_err("out of range").to_string()
        };
        assert_eq!(refused(|s| s.timeout = Some(Duration::ZERO)), "timeout = 0ns: must be greater than zero");
        assert_eq!(refused(|s| s.nesting_max = 201), "nesting_max = 201: must be 1 to 200");
    }
}
