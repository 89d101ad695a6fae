//! The schema of the store, generated from `proto/replicated.proto`.

#![allow(missing_docs)]

frpc::include_proto!("replicated");
