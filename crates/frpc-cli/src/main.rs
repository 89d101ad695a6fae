//! The command `frpc`; see the library of this crate.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    frpc_cli::run(std::env::args_os())
}
