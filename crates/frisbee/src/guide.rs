//! The guide: one page per topic, from the first router to the threads that drive connections.

#[doc = include_str!("guide/routers.md")]
pub mod routers {}

#[doc = include_str!("guide/streams.md")]
pub mod streams {}

#[doc = include_str!("guide/hand_off.md")]
pub mod hand_off {}

#[doc = include_str!("guide/runtimes.md")]
pub mod runtimes {}
