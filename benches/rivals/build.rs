//! Generates volo's service from `thrift/`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=thrift/echo.thrift");
    #[cfg(feature = "volo")]
    volo_build::Builder::thrift().add_service("thrift/echo.thrift").write()?;
    Ok(())
}
