//! List of tools, created once per server.

use super::schema::{self, Root};
use super::settings::ToolSelection;
use crate::json_rpc::NAMED as FORMAT;
use crate::json_rpc::envelope::members;
use crate::json_rpc::reply::{Quoted, put_list};
use frpc::polyglot::layout::json_name;
use frpc::{AdapterMethod, AdapterMethods, CallKind};
use std::collections::HashMap;

/// Maximum length of a tool name in bytes. MCP permits 128, but the APIs of major model vendors only 64.
pub(super) const NAME_MAX: usize = 64;

/// A method that is offered to agents as a tool.
pub(crate) struct Tool {
    name: Box<str>,
    pub(crate) service: &'static str,
    pub(crate) method: &'static str,
    /// Path of the method, used by the session to call it.
    pub(crate) path: Box<str>,
    /// Whether the request message is wrapped in the argument `value`.
    pub(crate) takes_value: bool,
    /// Names of the required arguments.
    required: Vec<String>,
    pub(crate) shape: ResultShape,
    /// Entry of the tool in the reply to `tools/list`, as JSON.
    json: Vec<u8>,
}

/// Shape of a tool's structured result, which is built from the response messages of its method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResultShape {
    /// The result is the response message itself.
    Message,
    /// The result is an object with the response as its member `value`, because the response is not a JSON object.
    Value,
    /// The result is an object with the list of all responses as its member `items`.
    Items,
}

/// Tools of a server, in the order of their selection.
pub(crate) struct Tools {
    list: Vec<Tool>,
    by_name: HashMap<Box<str>, usize>,
}

impl Tools {
    pub(super) fn new(chosen: &[ToolSelection], excluded: &[String], methods: &AdapterMethods) -> Self {
        let mut tools = Self { list: Vec::new(), by_name: HashMap::new() };
        let is_named = |method: &AdapterMethod, name: &str| match name.strip_prefix(method.service()) {
            Some(rest) => rest.is_empty() || rest.strip_prefix('/') == Some(method.name()),
            None => false,
        };
        for name in excluded {
            if !methods.iter().any(|method| is_named(&method, name)) {
                // Serve no tools at all. If the misspelled name were ignored, the method that it was meant to exclude
                // would be exposed.
                tracing::error!(target: "frpc::mcp", %name, "unknown service or method excluded from tools; no tool is served");
                return tools;
            }
        }
        for chosen in chosen {
            let mut is_known = matches!(chosen, ToolSelection::Marked);
            for method in methods.iter() {
                let (service, path) = (method.service(), format!("{}/{}", method.service(), method.name()));
                let name = match chosen {
                    ToolSelection::Marked if method.is_tool() => None,
                    ToolSelection::Service(name) if name == service => None,
                    ToolSelection::Method(name, tool) if *name == path => tool.clone(),
                    _ => continue,
                };
                is_known = true;
                if excluded.iter().any(|name| is_named(&method, name)) {
                    continue;
                }
                match Tool::new(&method, name.unwrap_or_else(|| tools.name_of(&path)), path) {
                    Some(tool) => tools.add(tool),
                    None if matches!(chosen, ToolSelection::Service(_)) => {}
                    None => tracing::error!(target: "frpc::mcp", ?chosen, "method cannot be a tool"),
                }
            }
            if !is_known {
                tracing::error!(target: "frpc::mcp", ?chosen, "unknown service or method of a tool");
            }
        }
        tools
    }

    /// Returns the tool name of a method: its path with underscores for dots and slashes. A hash is appended only to a
    /// name that is too long or already taken, so other names do not depend on other tools.
    fn name_of(&self, path: &str) -> String {
        let name = path.replace(['.', '/'], "_");
        let is_free = self.get(&name).is_none_or(|other| *other.path == *path);
        if is_free && name.len() <= NAME_MAX {
            return name;
        }
        // Use FNV-1a, because the hash must be stable across releases.
        let hash = path.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        let tail = name.get(name.len().saturating_sub(NAME_MAX - 9)..).unwrap_or_default();
        format!("{tail}_{hash:08x}")
    }

    fn add(&mut self, tool: Tool) {
        let Tool { name, path, .. } = &tool;
        if let Some(other) = self.get(name) {
            // Skip duplicates, because a service may be selected together with one of its methods.
            if other.path != *path {
                tracing::error!(target: "frpc::mcp", %name, first = %other.path, second = %path, "two tools have one name");
            }
            return;
        }
        self.by_name.insert(name.clone(), self.list.len());
        self.list.push(tool);
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        self.list.get(*self.by_name.get(name)?)
    }

    /// Appends at most `max` tools, starting with index `from`, and skips those for which `is_open` returns `false`.
    /// Returns the start index of the next page, if any.
    pub(crate) fn put_page(
        &self,
        out: &mut Vec<u8>,
        from: usize,
        max: usize,
        mut is_open: impl FnMut(&Tool) -> bool,
    ) -> Option<usize> {
        let mut open = self.list.iter().enumerate().skip(from).filter(|(_, tool)| is_open(tool));
        put_list(out, open.by_ref().take(max), |out, (_, tool)| out.extend_from_slice(&tool.json));
        open.next().map(|(at, _)| at)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list.iter().map(|tool| &tool.name)).finish()
    }
}

impl Tool {
    /// Creates the tool of a method. Returns `None` if the method has a request stream or does not support JSON.
    fn new(method: &AdapterMethod, name: String, path: String) -> Option<Self> {
        let is_stream = match method.kind() {
            CallKind::Unary => false,
            CallKind::ServerStreaming => true,
            CallKind::ClientStreaming | CallKind::Streaming => return None,
        };
        if !method.formats().contains(&FORMAT) {
            return None;
        }
        let [request, response] = method.messages();
        let schemas = method.message_schemas(FORMAT);
        let input = schema::root(request, schemas, schema::Side::Input);
        let (output, shape) = match schema::root(response, schemas, schema::Side::Output) {
            _ if is_stream => (schema::list(response, schemas), ResultShape::Items),
            Root { json, is_wrapped: true, .. } => (json, ResultShape::Value),
            Root { json, is_wrapped: false, .. } => (json, ResultShape::Message),
        };
        let comment = method.comment(FORMAT);
        let description = if comment.is_empty() { format!("Calls {path}.") } else { comment.to_owned() };
        let (is_destructive, is_idempotent) = (method.has_side_effects(), method.is_idempotent());
        let annotations = format!(
            r#"{{"readOnlyHint":{},"destructiveHint":{is_destructive},"idempotentHint":{is_idempotent}}}"#,
            !is_destructive
        );
        let json = format!(
            r#"{{"name":{},"description":{},"inputSchema":{},"outputSchema":{output},"annotations":{annotations}}}"#,
            Quoted(&name),
            Quoted(&description),
            input.json
        );
        Some(Self {
            name: name.into(),
            service: method.service(),
            method: method.name(),
            path: path.into(),
            takes_value: input.is_wrapped,
            required: input.required,
            shape,
            json: json.into_bytes(),
        })
    }

    /// Returns the required members that `arguments`, a JSON object, does not contain. `null` counts as missing, as in
    /// protobuf's JSON mapping. Both the field's name in the schema and its JSON name are accepted.
    pub(crate) fn missing(&self, arguments: &str) -> Vec<&str> {
        let mut missing: Vec<_> = self.required.iter().map(String::as_str).collect();
        if missing.is_empty() {
            return missing;
        }
        // Ignore arguments that are not valid JSON, which the decoder reports.
        let _ = members(arguments, |key, value| {
            if value != "null" {
                missing.retain(|name| *name != key && *name != json_name(key));
            }
            Ok(())
        });
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_name_is_short_and_stable() {
        let tools = Tools { list: Vec::new(), by_name: HashMap::new() };
        assert_eq!(tools.name_of("shop.Orders/Place"), "shop_Orders_Place");
        let path = format!("{}.Service/Method", "company.department.team".repeat(5));
        let name = tools.name_of(&path);
        assert_eq!(name, format!("{}_{}", &path.replace(['.', '/'], "_")[path.len() - 55..], "76866ada"));
        assert_eq!(name.len(), NAME_MAX);
        assert_ne!(tools.name_of(&format!("x.{path}")), name);
    }
}
