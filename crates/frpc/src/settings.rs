//! The setters that the builders of both ends have.

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
