//! Setters that the builders of servers and channels share.

/// Defines builder methods that forward to the inner frisbee builder in the field `inner`.
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

/// Defines the setters for connection options that client and server builders share.
macro_rules! connection_setters {
    ($builder:ident, $log:expr) => {
        $crate::settings::forwarded_setters! { $builder:
            /// Sets which threads drive connections. Defaults to [`Workers::Caller`](crate::Workers::Caller), the tokio
            /// runtime that creates the server or channel.
            workers(workers: $crate::Workers);

            /// Sets the I/O backend of connections. Defaults to [`IoBackend::default`](crate::IoBackend) for a server,
            /// and to the current tokio runtime for a channel.
            io_backend(backend: $crate::IoBackend);

            /// Sets for how long each connection keeps busy-polling after an event, which reduces latency but occupies
            /// a core. Disabled by default. See [`frisbee::ServerBuilder::busy_poll`].
            busy_poll(time: std::time::Duration);

            /// Sets the size limits and timeouts of connections.
            config(config: $crate::Config);
        }

        impl $builder {
            /// Sets whether to log all settings once at level INFO, when the server is built or the channel is created.
            /// Defaults to `false`.
            pub fn log_settings(mut self, log: bool) -> Self {
                self.log_settings = log.then_some($log);
                self
            }
        }
    };
}
pub(crate) use connection_setters;
