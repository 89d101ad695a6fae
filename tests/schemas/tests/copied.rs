//! Checks that the Rust code that the console copies compiles against generated services. The test `copied` of
//! `clients/typescript` creates this code with the console's own functions, and it is committed.

use std::error::Error;

#[allow(dead_code, unreachable_pub, missing_docs, reason = "generated, as for the server")]
mod desk {
    include!(concat!(env!("OUT_DIR"), "/copied/desk.rs"));
}

#[allow(dead_code, unreachable_pub, missing_docs, reason = "generated, as for the server")]
mod forms {
    include!(concat!(env!("OUT_DIR"), "/copied/forms.rs"));
}

type Outcome = Result<(), Box<dyn Error>>;

/// Functions that make calls of each kind. They are compiled but not run, because there is no server.
#[allow(dead_code, unused_imports, clippy::all, reason = "written as for a person to paste, and only compiled")]
mod copied {
    use super::Outcome;
    use std::collections::{BTreeMap, HashMap};
    use std::time::Duration;

    include!("../../typescript/copied.in");
}

#[test]
fn copied_calls_cover_every_method_kind() {
    let copied = include_str!("../../typescript/copied.in");
    for method in ["echo", "count", "total", "chat"] {
        assert!(copied.contains(&format!("client.{method}(")), "{method}");
    }
}
