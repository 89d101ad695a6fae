fn main() -> Result<(), Box<dyn std::error::Error>> {
    frpc_build::compile_protos("proto/greet.proto")?;
    std::fs::create_dir_all("web/src/generated")?;
    frpc_build::configure()
        .backend(frpc_languages::TypeScript::new())
        .out_dir("web/src/generated")
        .compile_protos(&["proto/greet.proto"], &["proto"])?;
    Ok(())
}
