//! Generates the services. Their operations are kept for them in every server: frpc-build gives them to no others.

use frpc_build::Builder;

/// Schema files, each with the operation number of its first method.
const FILES: [(&str, u16); 5] = [
    ("frpc/reflection/v1/reflection.proto", 65_000),
    ("grpc/reflection/v1/reflection.proto", 65_010),
    ("grpc/reflection/v1alpha/reflection.proto", 65_012),
    ("grpc/health/v1/health.proto", 65_020),
    ("frpc/introspection/v1/introspection.proto", 65_030),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let builder = frpc_build::configure().json(true).protobuf(true).reflection(true).bytes(".");
    let base = |builder: Builder, (file, first): (&str, u16)| builder.operation_base(file, first);
    let protos = FILES.map(|(file, _)| format!("proto/{file}"));
    Ok(FILES.into_iter().fold(builder, base).compile_protos(&protos, &["proto"])?)
}
