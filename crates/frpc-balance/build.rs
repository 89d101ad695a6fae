//! Generates the client of etcd.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(feature = "etcd")]
    frpc_build::configure().protobuf(true).build_server(false).compile_protos(&["proto/etcd.proto"], &["proto"])?;
    Ok(())
}
