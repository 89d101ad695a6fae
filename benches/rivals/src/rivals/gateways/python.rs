//! Python servers, run by `benches/rivals/python/serve.py`, which replaces this process.

use super::wire::{Closing, Named, Post, Posted, WebSocket};
use super::{Setup, WireServer};
use crate::BoxError;
use crate::background::Bound;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// FastAPI on uvicorn with uvloop and httptools.
#[derive(Debug)]
pub struct FastApi;

/// FastAPI over WebSocket.
#[derive(Debug)]
pub struct FastApiWebSocket;

/// UCall on sockets, as served by its Python package.
#[derive(Debug)]
pub struct Ucall;

/// UCall on io_uring.
#[derive(Debug)]
pub struct UcallUring;

impl WireServer for FastApi {
    const NAME: &'static str = "fastapi";
    type Wire = Post<Self>;

    async fn serve(_setup: Setup, _bound: Bound) -> Result<(), BoxError> {
        Err(become_python(Self::NAME))
    }
}

impl Posted for FastApi {
    const PATH: &'static str = "/echo";
    const METHOD: Option<&'static str> = None;
}

impl WireServer for FastApiWebSocket {
    const NAME: &'static str = "fastapi-ws";
    type Wire = WebSocket<Self>;

    async fn serve(_setup: Setup, _bound: Bound) -> Result<(), BoxError> {
        Err(become_python(Self::NAME))
    }
}

impl Named for FastApiWebSocket {
    const METHOD: &'static str = "echo";
}

impl WireServer for UcallUring {
    const NAME: &'static str = "ucall-uring";
    type Wire = Closing<Self>;

    async fn serve(_setup: Setup, _bound: Bound) -> Result<(), BoxError> {
        Err(become_python(Self::NAME))
    }
}

impl Named for UcallUring {
    const METHOD: &'static str = "echo";
}

impl WireServer for Ucall {
    const NAME: &'static str = "ucall";
    type Wire = Closing<Self>;

    async fn serve(_setup: Setup, _bound: Bound) -> Result<(), BoxError> {
        Err(become_python(Self::NAME))
    }
}

impl Named for Ucall {
    const METHOD: &'static str = "echo";
}

/// Replaces this process. Returns only if the program does not exist.
pub(super) fn become_python(server: &str) -> BoxError {
    Command::new("python3").arg(script()).arg(server).exec().into()
}

fn script() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python/serve.py")
}

/// Checks whether one of these servers can run here.
///
/// # Errors
/// If a package is missing.
pub fn check(server: &str) -> Result<(), String> {
    let checked =
        Command::new("python3").arg(script()).args(["check", server]).output().map_err(|error| error.to_string())?;
    if checked.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&checked.stderr);
    Err(errors.lines().last().unwrap_or("python3 has failed").to_owned())
}
