//! Tests of the documents that describe forwarded services.

use super::support::{exchange, front, post, service_of, to_native};
use frpc::codegen::Client as _;
use frpc_dynamic::DescriptorPool;
use frpc_dynamic::prost_reflect::prost_types::FileDescriptorSet;
use samples::greet::GreeterClient;

/// Regression test: JSON names were not escaped, so the document was invalid JSON.
#[tokio::test]
async fn special_characters_of_json_names_are_escaped() {
    let schema = r#"syntax = "proto3"; package greet; service Greeter { rpc Greet(Name) returns (Name); }
        message Name { string name = 1 [json_name = "a\"b\n"]; }"#;
    let file = protox::file::File::from_source("greet.proto", schema).expect("schema should be valid");
    let pool = DescriptorPool::from_file_descriptor_set(FileDescriptorSet { file: vec![file.into()] });
    let pool = pool.expect("descriptor set should be complete");
    let address = front(service_of(&to_native("127.0.0.1:1"), GreeterClient::LAYOUT, &pool)).await;
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#;
    let response = exchange(&address, post("/", "application/json", "", request)).await;
    assert!(response.contains(r#""params":[{"name":"a\"b\n","schema":{}}]"#), "{response}");
    assert!(response.contains(r#""result":{"name":"greet.Name","schema":{}},"x-request":"greet.Name""#), "{response}");
}
