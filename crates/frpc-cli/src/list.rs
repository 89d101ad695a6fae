//! `frpc list`: the services of a schema and their methods.

use crate::arguments::ListArguments;
use crate::describe::streamed;
use crate::failure::Failure;
use crate::schema::{Callable, Service};
use crate::show::Screen;
use crate::source::Context;
use serde_json::{Value, json};

pub(crate) async fn list(arguments: &ListArguments, context: &Context) -> Result<(), Failure> {
    let (schema, screen) = (context.schema().await?, &context.screen);
    if let Some(name) = &arguments.service {
        return methods(schema.service(name)?, arguments.long, screen);
    }
    for service in &schema.services {
        if screen.json {
            let methods: Vec<Value> = service.methods.iter().map(as_json).collect();
            let value = json!({ "service": service.descriptor.full_name(), "methods": methods });
            screen.json_line(&value.to_string())?;
        } else if arguments.long {
            methods(service, true, screen)?;
        } else {
            screen.line(service.descriptor.full_name())?;
        }
    }
    Ok(())
}

fn methods(service: &Service, is_long: bool, screen: &Screen) -> Result<(), Failure> {
    for method in &service.methods {
        if is_long && !screen.json {
            let of = &method.descriptor;
            let request = streamed(of.is_client_streaming(), of.input().full_name());
            let reply = streamed(of.is_server_streaming(), of.output().full_name());
            screen.line(&format!("{:>5} {}({request}) returns ({reply})", method.operation, method.name()))?;
        } else {
            screen.show(|| as_json(method).to_string(), || method.name())?;
        }
    }
    Ok(())
}

fn as_json(method: &Callable) -> Value {
    json!({
        "method": method.name(),
        "operation": method.operation,
        "request": method.descriptor.input().full_name(),
        "requestStreams": method.descriptor.is_client_streaming(),
        "reply": method.descriptor.output().full_name(),
        "replyStreams": method.descriptor.is_server_streaming(),
    })
}
