//! Generates the services.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protos = ["../proto/greet.proto", "../proto/orders.proto"];
    frpc_build::configure().json(true).compile_protos(&protos, &["../proto"])?;
    Ok(())
}
