use frpc_languages::TypeScript;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    frpc_build::compile_protos("proto/greet.proto")?;
    frpc_build::configure()
        .backend(TypeScript::new())
        .out_dir("web/src/generated")
        .compile_protos(&["proto/greet.proto"], &["proto"])?;
    Ok(())
}
