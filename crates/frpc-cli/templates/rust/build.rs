fn main() -> Result<(), Box<dyn std::error::Error>> {
    frpc_build::compile_protos("proto/greet.proto")?;
    Ok(())
}
