//! Settings by name, whatever they come from.

use super::*;
use crate::{Client, ClientBuilder, Config, Server, ServerBuilder};

#[test]
fn every_field_of_a_config_is_a_setting() {
    let shown = format!("{:?}", Config::default());
    let fields = shown.trim_start_matches("Config { ").trim_end_matches(" }").split(", ");
    let fields: Vec<_> = fields.filter_map(|field| field.split_once(':')).map(|(name, _)| name.to_owned()).collect();
    let names: Vec<_> = Config::table().iter().map(|setting| setting.name().to_owned()).collect();
    assert_eq!(fields, names);
}

#[test]
fn a_builders_description_is_read_as_the_same_settings() {
    fn check<T: Configurable>(target: &T) {
        let shown = Effective::of(target);
        let mut settings = Settings::<T>::new();
        for line in shown.to_string().lines() {
            let (name, value) = line.split_once(" = ").expect("a name and a value");
            settings.set(name, value.trim_matches('"')).expect("it is what the builder has");
        }
        let read = settings.apply(T::blank()).expect("nothing contradicts");
        assert_eq!(Effective::of(&read), shown);
    }
    let second = Duration::from_secs(1);
    let config = Config::default().ping_interval(second).body_max(70_000).hello(false).turn_max(Duration::ZERO);
    check(&Server::builder());
    check(
        &Server::builder().config(config.clone()).silent_max(7).busy_poll(second).workers(crate::Workers::Threads(3)),
    );
    check(&Client::builder());
    check(&Client::builder().config(config).header_form(crate::HeaderForm::Old).connect_timeout(second));
}

#[test]
fn variables_with_the_prefix_set_the_fields_they_name() {
    let variables = [
        ("SHOP_IDLE_TIMEOUT", "30s"),
        ("SHOP_MEMORY_MAX", "64MiB"),
        ("SHOP_WORKERS", "2"),
        ("PATH", "/bin"),
        ("OTHER_SHOP_HELLO", "nonsense"),
    ];
    let settings = Settings::<ServerBuilder>::from_vars("SHOP_", variables).expect("they are settings");
    let builder = Server::builder().silent_max(9).settings(&settings).expect("nothing contradicts");
    assert_eq!(builder.config.common.idle_timeout, Duration::from_secs(30));
    assert_eq!((builder.memory_max, builder.silent_max), (64 << 20, 9));
    assert_eq!(builder.workers, crate::Workers::Threads(2));
}

#[test]
fn an_unknown_variable_is_refused_with_the_nearest_name() {
    let refused = |name: &str| Settings::<ServerBuilder>::from_vars("SHOP_", [(name, "1s")]).expect_err("unknown");
    let error = refused("SHOP_IDEL_TIMEOUT").to_string();
    assert_eq!(error, "there is no setting \"SHOP_IDEL_TIMEOUT\"; did you mean \"SHOP_IDLE_TIMEOUT\"?");
    let error = refused("SHOP_COLOUR").to_string();
    assert_eq!(error, "there is no setting \"SHOP_COLOUR\"; `describe` of the builder lists them");
    let error = refused("SHOP_HEADER_FORM").to_string();
    assert!(error.starts_with("there is no setting"), "a setting of clients: {error}");
    refused("SHOP_");
    refused(&format!("SHOP_{}", "X".repeat(100_000)));
}

#[test]
fn a_value_that_a_setting_cannot_have_is_refused_with_the_reason() {
    let mut settings = Settings::<ServerBuilder>::new();
    for (name, value, reason) in [
        ("body_max", "1KB", "this is not a number of bytes: write a whole number and one of B, KiB, MiB, GiB"),
        ("body_max", "1000", "this has to be \"1KiB\" to \"4294967295B\""),
        ("calls_max", "0", "this has to be 1 to 4294967295"),
        ("idle_timeout", "30", "a time needs a unit, as in \"5s\" or \"250ms\""),
        ("idle_timeout", "0s", "this has to be longer than no time at all"),
        ("hello", "no", "this is neither true nor false"),
        ("workers", "0", "this has to be \"per-core\", \"caller\" or a number of threads, 1 to 1024"),
        ("io_backend", "uring", "this has to be \"auto\", \"require\" or \"off\""),
    ] {
        let error = settings.set(name, value).expect_err("it cannot have this value").to_string();
        assert_eq!(error, format!("{name} = {value:?}: {reason}"));
    }
    assert_eq!(
        Effective::of(&settings.apply(Server::builder()).expect("nothing is set")),
        Server::builder().describe()
    );
}

#[test]
fn settings_that_contradict_each_other_are_refused_together() {
    let mut settings = Settings::<ClientBuilder>::new();
    settings.set("ping_interval", "10s").expect("alone it may be so");
    let error = Client::builder().settings(&settings).expect_err("it is not before the timeout").to_string();
    assert!(error.starts_with("ping_interval (10s) has to be shorter than idle_timeout (10s)"), "{error}");
    let builder = Client::builder().config(Config::default().idle_timeout(Duration::from_secs(60)));
    let builder = builder.settings(&settings).expect("the program has set a longer timeout");
    assert_eq!(builder.config.common.ping_interval, Duration::from_secs(10));
}

#[cfg(unix)]
#[test]
fn a_value_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;
    let variables = [(OsString::from("SHOP_HELLO"), OsString::from_vec(vec![0xFF]))];
    let error = Settings::<ServerBuilder>::from_vars("SHOP_", variables).expect_err("it is no text");
    assert!(error.to_string().ends_with("this is not UTF-8"), "{error}");
    let variables = [(OsString::from_vec(b"SHOP_\xFF".to_vec()), OsString::from("1"))];
    Settings::<ServerBuilder>::from_vars("SHOP_", variables).expect("it has no name");
}
