//! The methods of a service with their names, operations and types in generated code.

use std::collections::HashSet;

use heck::ToShoutySnakeCase as _;
use proc_macro2::TokenStream;
use prost_build::{Comments, Method, Service};
use prost_types::method_options::IdempotencyLevel;
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::{Attribute, Ident, Type};

use super::free_names::{ReservedNames, free_name};
use crate::error::{Error, ErrorKind};
use crate::schema::externs::is_value;
use crate::schema::options::is_tool;
use crate::schema::patterns::path_matches;

/// Options of the [`Builder`](crate::Builder) that affect the generated code of services.
#[derive(Debug, Default)]
pub(crate) struct ServiceOptions {
    pub(crate) without_client: bool,
    pub(crate) without_server: bool,
    /// Whether to generate an additional dyn-compatible trait with boxed futures.
    pub(crate) dyn_traits: bool,
    /// Whether to embed the schema in generated services.
    pub(crate) reflection: bool,
    /// Paths of methods with handlers that receive the encoded request instead of a decoded message.
    pub(crate) undecoded_requests: Vec<String>,
    /// Attributes to add to generated clients. Each entry is a path that selects services, and the text of an
    /// attribute.
    pub(crate) client_attributes: Vec<(String, String)>,
    pub(crate) server_attributes: Vec<(String, String)>,
    pub(crate) trait_attributes: Vec<(String, String)>,
    /// Whether to omit `#[allow]` attributes, for programs that forbid lints.
    pub(crate) without_allows: bool,
}

/// A method of a service, with the names and types that the generated code uses for it.
pub(crate) struct Rpc {
    /// Name of the method in the generated trait and client.
    pub(crate) name: Ident,
    /// Name of the generated constant that describes the method, such as `GREETER_GREET`.
    pub(crate) constant: Ident,
    pub(crate) proto_name: String,
    pub(crate) operation: u16,
    pub(crate) idempotency: IdempotencyLevel,
    /// Whether the schema offers the method as a tool for AI agents.
    pub(crate) is_tool: bool,
    /// Whether the handler receives the request undecoded.
    pub(crate) is_raw: bool,
    pub(crate) is_deprecated: bool,
    pub(crate) docs: Vec<Attribute>,
    pub(crate) request: Type,
    pub(crate) reply: Type,
    pub(crate) streams_requests: bool,
    pub(crate) streams_replies: bool,
}

impl Rpc {
    /// Returns the types of the argument and the result of the method's handler.
    pub(crate) fn handled(&self) -> (TokenStream, TokenStream) {
        let Self { request, reply, .. } = self;
        let request = match (self.streams_requests, self.is_raw) {
            (true, true) => quote! { ::frpc::Streaming<::frpc::Undecoded<#request>> },
            (true, false) => quote! { ::frpc::Streaming<#request> },
            (false, true) => quote! { ::frpc::Undecoded<#request> },
            (false, false) => quote! { #request },
        };
        let reply = match self.streams_replies {
            true => quote! { ::frpc::ResponseStream<#reply> },
            false => quote! { #reply },
        };
        let result = quote! { ::core::result::Result<::frpc::Response<#reply>, ::frpc::Status> };
        (quote! { ::frpc::Request<#request> }, result)
    }

    /// Returns the name of the function for this kind of call, such as `unary`. The builder of `Methods` and `Channel`
    /// use the same names.
    pub(crate) fn call(&self) -> Ident {
        match (self.streams_requests, self.streams_replies) {
            (false, false) => format_ident!("unary"),
            (false, true) => format_ident!("server_streaming"),
            (true, false) => format_ident!("client_streaming"),
            (true, true) => format_ident!("streaming"),
        }
    }
}

/// Returns the methods of `service`. `operations` contains their operation numbers in the order of declaration.
pub(crate) fn rpcs(
    service: &Service,
    full_name: &str,
    operations: &[u16],
    options: &ServiceOptions,
    reserved: &mut ReservedNames,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Rpc>, Error> {
    // Client methods must not have the names of the client's inherent methods or of `Clone::clone`.
    let mut methods: HashSet<String> = ["new", "connect", "clone"].map(str::to_owned).into();
    let prefix = service.proto_name.to_shouty_snake_case();
    let read = |(method, operation): (&Method, &u16)| {
        let what = format!("method `{}` of `{full_name}`", method.proto_name);
        let method_name = format!("{full_name}.{}", method.proto_name);
        let raw: Ident = syn::parse_str(&method.name).map_err(|error| unreadable(&method.name, error))?;
        let name = match free_name(&raw.unraw().to_string(), &mut methods, &what, warn) {
            name if name == raw.unraw() => raw,
            name => name,
        };
        let constant = format!("{prefix}_{}", method.proto_name.to_shouty_snake_case());
        let is_raw = options.undecoded_requests.iter().any(|pattern| path_matches(pattern, &method_name));
        if is_raw && is_value(&method.input_proto_type, &method.input_type) {
            let request = method.input_proto_type.trim_start_matches('.');
            let text = format!(
                "`undecoded_requests` is set for `{method_name}`, whose request is a `{request}`: that is a plain value in \
                 Rust, which has no view"
            );
            return Err(Error::new(ErrorKind::Option, text));
        }
        let mut silent = |_: String| {};
        Ok(Rpc {
            name,
            constant: free_name(&constant, &mut reserved.values, &what, &mut silent),
            proto_name: method.proto_name.clone(),
            operation: *operation,
            idempotency: method.options.idempotency_level(),
            is_tool: is_tool(&method.options),
            is_deprecated: method.options.deprecated(),
            is_raw,
            docs: docs(&method.comments, || format!(" The method `{}`.", method.proto_name))?,
            request: syn::parse_str(&method.input_type).map_err(|error| unreadable(&method.input_type, error))?,
            reply: syn::parse_str(&method.output_type).map_err(|error| unreadable(&method.output_type, error))?,
            streams_requests: method.client_streaming,
            streams_replies: method.server_streaming,
        })
    };
    service.methods.iter().zip(operations).map(read).collect()
}

/// Returns a comment as doc attributes, using `fallback` if there is none.
pub(crate) fn docs(comments: &Comments, fallback: impl Fn() -> String) -> Result<Vec<Attribute>, Error> {
    let mut text = String::new();
    comments.append_with_indent(0, &mut text);
    let attributes = parse_attributes(&text)?;
    if !attributes.is_empty() {
        return Ok(attributes);
    }
    let line = fallback();
    Ok(vec![syn::parse_quote! { #[doc = #line] }])
}

/// Returns the attributes that apply to the service `full_name`. Each entry of `attributes` is a path that selects
/// services, and the text of an attribute.
pub(crate) fn matching(attributes: &[(String, String)], full_name: &str) -> Result<Vec<Attribute>, Error> {
    let matching = attributes.iter().filter(|(pattern, _)| path_matches(pattern, full_name));
    let parsed: Vec<_> = matching.map(|(_, attribute)| parse_attributes(attribute)).collect::<Result<_, _>>()?;
    Ok(parsed.into_iter().flatten().collect())
}

fn parse_attributes(text: &str) -> Result<Vec<Attribute>, Error> {
    Attribute::parse_outer.parse_str(text).map_err(|error| {
        Error::new(ErrorKind::Option, format!("{text:?} is not a Rust attribute: {error}")).with_source(error)
    })
}

fn unreadable(name: &str, error: syn::Error) -> Error {
    Error::new(ErrorKind::Option, format!("`{name}` is not a path in Rust: {error}")).with_source(error)
}
