//! Doors for other protocols on the port of an frpc server: JSON-RPC, HTTP and WebSocket.
//!
//! A connection that begins with something else than a frame is looked at by its first byte, and served by the door for
//! its protocol. Calls that come by a door reach the same implementations as native ones, within the same middleware,
//! policies, deadlines and limits. No door is open unless it was added to the [`Gateway`].

mod base64;
mod connect;
mod gateway;
mod grpc;
mod gzip;
mod http;
mod json_rpc;
mod locks;
mod streams;
mod timed;
mod trailers;
pub mod web_socket;

pub use gateway::{Gateway, ServeGateway};
pub use http::settings::Http;
pub use trailers::Trailers;
