//! Generates volo's service from `thrift/`, and the messages of the program `formats`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=thrift/echo.thrift");
    #[cfg(feature = "volo")]
    volo_build::Builder::thrift().add_service("thrift/echo.thrift").write()?;
    #[cfg(feature = "formats")]
    formats()?;
    Ok(())
}

/// Generates the same messages twice: with owned fields for all formats, and with strings and bytes that share memory.
#[cfg(feature = "formats")]
fn formats() -> Result<(), Box<dyn std::error::Error>> {
    const DERIVES: &str = "#[derive(
        ::serde::Serialize, ::serde::Deserialize, ::bitcode::Encode, ::bitcode::Decode,
        ::rkyv::Archive, ::rkyv::Serialize, ::rkyv::Deserialize
    )]";
    let out = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
    let configured = |folder: &str| {
        let folder = out.join(folder);
        std::fs::create_dir_all(&folder)?;
        let builder = frpc_build::configure().protobuf(true).json(true);
        Ok::<_, std::io::Error>(builder.out_dir(folder).include_file("messages.rs"))
    };
    let (files, folders) = (["proto/formats.proto", "../proto/mixed.proto"], ["proto", "../proto"]);
    configured("owned")?.views(true).type_attribute(".", DERIVES).compile_protos(&files, &folders)?;
    configured("shared")?.bytes(["."]).utf8_bytes(["."]).compile_protos(&files, &folders)?;
    Ok(())
}
