//! The settings of connections, servers and clients.

use super::{Configurable, Effective, Kind, Setting, SettingError, Settings};
use crate::{BODY_MAX_LEAST, Client, ClientBuilder, Config, HeaderForm, IoBackend, Server, ServerBuilder, Workers};

/// Numbers that fit into `usize`.
const SIZE_MAX: u64 = usize::MAX as u64;

/// What fits, since the range of the setting says so.
fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn short(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

const SHORT_MAX: u64 = u32::MAX as u64;

impl Configurable for Config {
    fn blank() -> Self {
        Self::default()
    }

    fn table() -> Vec<Setting<Self>> {
        use Kind::{Count, Size};
        let body = u64::from(BODY_MAX_LEAST)..=SHORT_MAX;
        vec![
            Setting::number("body_max", Size, body, |c: &Self| c.body_max.into(), |c: Self, n| c.body_max(short(n))),
            Setting::time("ping_interval", false, |c: &Self| c.ping_interval, Self::ping_interval),
            Setting::time("idle_timeout", false, |c: &Self| c.idle_timeout, Self::idle_timeout),
            Setting::time("write_timeout", false, |c: &Self| c.write_timeout, Self::write_timeout),
            Setting::number(
                "backlog_max",
                Size,
                1..=SIZE_MAX,
                |c: &Self| c.backlog_max as u64,
                |c: Self, n| c.backlog_max(size(n)),
            ),
            Setting::time("turn_max", true, |c: &Self| c.turn_max, Self::turn_max),
            Setting::number(
                "least_rate",
                Size,
                0..=SHORT_MAX,
                |c: &Self| c.least_rate.into(),
                |c: Self, n| c.least_rate(short(n)),
            ),
            Setting::time("least_rate_window", false, |c: &Self| c.least_rate_window, Self::least_rate_window),
            Setting::number(
                "waste_rate",
                Size,
                1..=SHORT_MAX,
                |c: &Self| c.waste_rate.into(),
                |c: Self, n| c.waste_rate(short(n)),
            ),
            Setting::number(
                "streams_max",
                Count,
                0..=SHORT_MAX,
                |c: &Self| c.streams_max as u64,
                |c: Self, n| c.streams_max(size(n)),
            ),
            Setting::number(
                "stream_buffer_max",
                Size,
                1..=SIZE_MAX,
                |c: &Self| c.stream_buffer_max as u64,
                |c: Self, n| c.stream_buffer_max(size(n)),
            ),
            Setting::number(
                "calls_max",
                Count,
                1..=SHORT_MAX,
                |c: &Self| c.calls_max.into(),
                |c: Self, n| c.calls_max(short(n)),
            ),
            Setting::number(
                "stream_credit",
                Size,
                1..=SHORT_MAX,
                |c: &Self| c.stream_credit.into(),
                |c: Self, n| c.stream_credit(short(n)),
            ),
            Setting::flag("hello", |c: &Self| c.hello, Self::hello),
            Setting::time("hand_off_timeout", false, |c: &Self| c.hand_off_timeout, Self::hand_off_timeout),
        ]
    }

    fn check(&self) -> Result<(), String> {
        let (ping, idle) = (self.ping_interval, self.idle_timeout);
        if ping < idle {
            return Ok(());
        }
        Err(format!(
            "ping_interval ({ping:?}) has to be shorter than idle_timeout ({idle:?}), or quiet connections are closed"
        ))
    }
}

impl Configurable for ServerBuilder {
    fn blank() -> Self {
        Server::builder()
    }

    fn table() -> Vec<Setting<Self>> {
        let config = Config::table().into_iter();
        let config = config.map(|setting| setting.of(|b: &Self| &b.config.common, |b| &mut b.config.common));
        let own = [
            Setting::time(
                "first_header_timeout",
                false,
                |b: &Self| b.config.first_header_timeout,
                Self::first_header_timeout,
            ),
            Setting::number(
                "memory_max",
                Kind::Size,
                1..=SIZE_MAX,
                |b: &Self| b.memory_max as u64,
                |b: Self, n| b.memory_max(size(n)),
            ),
            Setting::number(
                "silent_max",
                Kind::Count,
                1..=SHORT_MAX,
                |b: &Self| b.silent_max as u64,
                |b: Self, n| b.silent_max(size(n)),
            ),
            Setting::time("shutdown_timeout", true, |b: &Self| b.shutdown_timeout, Self::shutdown_timeout),
            Setting::time("busy_poll", true, |b: &Self| b.busy_poll, Self::busy_poll),
            Setting::word("workers", |b: &Self| show_workers(b.workers), workers, Self::workers),
            Setting::word("io_backend", |b: &Self| show_backend(b.io_backend), backend, Self::io_backend),
        ];
        config.chain(own).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.config.common.check()
    }
}

impl Configurable for ClientBuilder {
    fn blank() -> Self {
        Client::builder()
    }

    fn table() -> Vec<Setting<Self>> {
        let config = Config::table().into_iter();
        let config = config.map(|setting| setting.of(|b: &Self| &b.config.common, |b| &mut b.config.common));
        let own = [
            Setting::time("connect_timeout", false, |b: &Self| b.connect_timeout, Self::connect_timeout),
            Setting::time("peer_kind_timeout", false, |b: &Self| b.config.peer_kind_timeout, Self::peer_kind_timeout),
            Setting::number(
                "memory_max",
                Kind::Size,
                1..=SIZE_MAX,
                |b: &Self| b.memory_max as u64,
                |b: Self, n| b.memory_max(size(n)),
            ),
            Setting::time("busy_poll", true, |b: &Self| b.busy_poll, Self::busy_poll),
            Setting::word("workers", |b: &Self| show_workers(b.workers), workers, Self::workers),
            Setting::word("io_backend", |b: &Self| show_backend(b.io_backend), backend, Self::io_backend),
            Setting::word("header_form", |b: &Self| show_form(b.config.header_form), form, Self::header_form),
        ];
        config.chain(own).collect()
    }

    fn check(&self) -> Result<(), String> {
        self.config.common.check()
    }
}

fn workers(word: &str) -> Result<Workers, String> {
    match word {
        "per-core" => Ok(Workers::PerCore),
        "caller" => Ok(Workers::Caller),
        _ => match word.parse() {
            Ok(count @ 1..=1024) => Ok(Workers::Threads(count)),
            _ => Err("this has to be \"per-core\", \"caller\" or a number of threads, 1 to 1024".into()),
        },
    }
}

fn show_workers(workers: Workers) -> String {
    match workers {
        Workers::PerCore => "per-core".into(),
        Workers::Threads(count) => count.to_string(),
        Workers::Caller => "caller".into(),
    }
}

/// The words of the variable `FRISBEE_IO_BACKEND`.
fn backend(word: &str) -> Result<IoBackend, String> {
    match word {
        "off" => Ok(IoBackend::Tokio),
        "auto" => Ok(IoBackend::Auto),
        "require" => Ok(IoBackend::Uring),
        _ => Err("this has to be \"auto\", \"require\" or \"off\"".into()),
    }
}

fn show_backend(backend: IoBackend) -> String {
    let word = match backend {
        IoBackend::Tokio => "off",
        IoBackend::Auto => "auto",
        IoBackend::Uring => "require",
    };
    word.into()
}

fn form(word: &str) -> Result<HeaderForm, String> {
    match word {
        "current" => Ok(HeaderForm::Current),
        "old" => Ok(HeaderForm::Old),
        _ => Err("this has to be \"current\" or \"old\"".into()),
    }
}

fn show_form(form: HeaderForm) -> String {
    let word = match form {
        HeaderForm::Current => "current",
        HeaderForm::Old => "old",
    };
    word.into()
}

impl ServerBuilder {
    /// Sets what has a value in `settings`, such as those of a file or of the environment. Later calls of other setters
    /// prevail.
    ///
    /// # Errors
    /// If two settings contradict each other.
    pub fn settings(self, settings: &Settings<Self>) -> Result<Self, SettingError> {
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

impl ClientBuilder {
    /// Sets what has a value in `settings`, such as those of a file or of the environment. Later calls of other setters
    /// prevail.
    ///
    /// # Errors
    /// If two settings contradict each other.
    pub fn settings(self, settings: &Settings<Self>) -> Result<Self, SettingError> {
        settings.apply(self)
    }

    /// All limits and times as they are in effect.
    pub fn describe(&self) -> Effective {
        Effective::of(self)
    }

    /// Sets whether all limits and times are logged when the client connects, at the level INFO. Default: no.
    pub fn log_settings(mut self, log: bool) -> Self {
        self.log_settings = log;
        self
    }
}
