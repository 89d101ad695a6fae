//! axum with JSON, called on keep-alive connections with any number of pipelined requests.

use super::wire::{Post, Posted};
use super::{Setup, WireServer};
use crate::BoxError;
use crate::background::Bound;
use crate::rivals::Rival;
use crate::rivals::axum::Axum;

/// axum, with pipelined requests.
#[derive(Debug)]
pub struct AxumPipelined;

impl WireServer for AxumPipelined {
    const NAME: &'static str = "axum-pipelined";
    type Wire = Post<Self>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        <Axum as Rival>::serve(setup, bound).await
    }
}

impl Posted for AxumPipelined {
    const PATH: &'static str = "/echo";
    const METHOD: Option<&'static str> = None;
}
