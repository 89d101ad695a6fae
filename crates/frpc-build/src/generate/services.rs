//! Writes what a service becomes: its methods' numbers, a trait, a server and a client. Names, numbers and types only;
//! what they do stands in frpc.

use std::collections::HashSet;

use heck::ToShoutySnakeCase as _;
use proc_macro2::{Literal, Span, TokenStream};
use prost_build::{Comments, Method, Service};
use prost_types::method_options::IdempotencyLevel;
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::{Attribute, Ident, Item, Type};

use crate::error::{Error, ErrorKind};
use crate::lock::{Fingerprint, Layout};
use crate::schema::externs::is_value;
use crate::schema::patterns::path_matches;

/// The operation of the first method in a file; 0 to 9 belong to the protocol.
pub(crate) const OPERATION_FIRST: u16 = 10;

/// What to write for services.
#[derive(Debug)]
pub(crate) struct ServiceOptions {
    pub(crate) client: bool,
    pub(crate) server: bool,
    /// Also tonic's.
    pub(crate) grpc: bool,
    /// Patterns of the methods whose requests are not decoded.
    pub(crate) raw_requests: Vec<String>,
    /// Pairs of a path pattern and an attribute.
    pub(crate) client_attributes: Vec<(String, String)>,
    pub(crate) server_attributes: Vec<(String, String)>,
    pub(crate) trait_attributes: Vec<(String, String)>,
    pub(crate) comments_off: Vec<String>,
}

/// `package.Service`.
pub(crate) fn full_name(package: &str, name: &str) -> String {
    if package.is_empty() { name.to_owned() } else { format!("{package}.{name}") }
}

/// The names of one module that are taken already.
#[derive(Default)]
pub(crate) struct Taken {
    types: HashSet<String>,
    values: HashSet<String>,
}

impl Taken {
    /// The names of the types and modules in prost's output.
    pub(crate) fn by(items: &[Item]) -> Self {
        let types = items.iter().filter_map(|item| match item {
            Item::Struct(item) => Some(item.ident.to_string()),
            Item::Enum(item) => Some(item.ident.to_string()),
            Item::Mod(item) => Some(item.ident.to_string()),
            _ => None,
        });
        Self { types: types.collect(), values: HashSet::new() }
    }

    /// The names of types and modules.
    #[cfg(feature = "tonic")]
    pub(crate) fn types(&mut self) -> &mut HashSet<String> {
        &mut self.types
    }
}

/// `wanted`, with as many trailing `_` as make it free.
pub(crate) fn free_name(wanted: &str, taken: &mut HashSet<String>, what: &str, warn: &mut dyn FnMut(String)) -> Ident {
    let mut name = wanted.to_owned();
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    if name != wanted {
        warn(format!("the name `{wanted}` is taken, so {what} is called `{name}`"));
    }
    Ident::new(&name, Span::call_site())
}

/// One method with all its names and types.
pub(crate) struct Rpc {
    /// Of the trait's and the client's method.
    pub(crate) name: Ident,
    constant: Ident,
    proto_name: String,
    operation: u16,
    /// Fields appended to the request and to the reply that not all peers send.
    added: (u32, u32),
    is_idempotent: bool,
    is_raw: bool,
    pub(crate) is_deprecated: bool,
    docs: Vec<Attribute>,
    pub(crate) request: Type,
    pub(crate) reply: Type,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Unary,
    ServerStreaming,
    ClientStreaming,
    Streaming,
}

/// Everything that is written for `service`, whose methods have the given `operations`.
pub(crate) fn service_items(
    service: &Service,
    operations: &[u16],
    layout: &Layout,
    options: &ServiceOptions,
    taken: &mut Taken,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Item>, Error> {
    let full_name = full_name(&service.package, &service.proto_name);
    let base = service.name.trim_end_matches('_'); // prost-build calls `self` `Self_`.
    let trait_name = free_name(&service.name, &mut taken.types, &format!("the trait of `{full_name}`"), warn);
    let server = free_name(&format!("{base}Server"), &mut taken.types, &format!("the server of `{full_name}`"), warn);
    let client = free_name(&format!("{base}Client"), &mut taken.types, &format!("the client of `{full_name}`"), warn);
    let rpcs = rpcs(service, &full_name, operations, layout, options, taken, warn)?;
    let wanted = format!("{}_LAYOUT", service.proto_name.to_shouty_snake_case());
    let layout_name = free_name(&wanted, &mut taken.values, "its layout", &mut |_| {});
    if !options.client && !options.server {
        return Ok(Vec::new());
    }
    let docs = docs(&service.comments, &full_name, options, || format!(" The service `{full_name}`."))?;

    let layout = layout_item(&layout_name, layout);
    let constants = rpcs.iter().map(|rpc| constant(rpc, &layout_name));
    let mut tokens = quote! { #layout #(#constants)* };
    if options.server {
        let attributes = matching(&options.trait_attributes, &full_name)?;
        tokens.extend(trait_tokens(&trait_name, &docs, &attributes, &rpcs));
        let attributes = matching(&options.server_attributes, &full_name)?;
        tokens.extend(server_tokens(&server, &trait_name, &full_name, &layout_name, &attributes, &rpcs));
    }
    if options.client {
        let attributes = matching(&options.client_attributes, &full_name)?;
        tokens.extend(client_tokens(&client, &full_name, &layout_name, &attributes, &rpcs));
    }
    let file: syn::File = syn::parse2(tokens).map_err(|error| {
        Error::new(ErrorKind::Option, format!("the code of service `{full_name}` is not valid Rust: {error}"))
            .with_source(error)
    })?;
    #[cfg(feature = "tonic")]
    if options.grpc {
        let grpc = crate::generate::grpc::grpc_items(service, &trait_name, &rpcs, options, taken, warn)?;
        return Ok(file.items.into_iter().chain(grpc).collect());
    }
    Ok(file.items)
}

fn rpcs(
    service: &Service,
    full_name: &str,
    operations: &[u16],
    layout: &Layout,
    options: &ServiceOptions,
    taken: &mut Taken,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Rpc>, Error> {
    // The client's own methods, and the one that `Clone` brings.
    let mut methods: HashSet<String> = ["new", "connect", "clone"].map(str::to_owned).into();
    let prefix = service.proto_name.to_shouty_snake_case();
    let added = |message: &str| {
        let name = message.trim_start_matches('.');
        layout.growing().find(|(growing, _)| *growing == name).map_or(0, |(_, added)| added)
    };
    let read = |(method, operation): (&Method, &u16)| {
        let what = format!("method `{}` of `{full_name}`", method.proto_name);
        let method_name = format!("{full_name}.{}", method.proto_name);
        let raw: Ident = syn::parse_str(&method.name).map_err(|error| unreadable(&method.name, error))?;
        let name = match free_name(&raw.unraw().to_string(), &mut methods, &what, warn) {
            name if name == raw.unraw() => raw,
            name => name,
        };
        let constant = format!("{prefix}_{}", method.proto_name.to_shouty_snake_case());
        let is_raw = options.raw_requests.iter().any(|pattern| path_matches(pattern, &method_name));
        if is_raw && is_value(&method.input_proto_type, &method.input_type) {
            let request = method.input_proto_type.trim_start_matches('.');
            let text = format!(
                "`raw_requests` is set for `{method_name}`, whose request is a `{request}`: that is a plain value in Rust, \
                 with nothing in it to look at"
            );
            return Err(Error::new(ErrorKind::Option, text));
        }
        let mut silent = |_: String| {};
        let kind = match (method.client_streaming, method.server_streaming) {
            (false, false) => Kind::Unary,
            (false, true) => Kind::ServerStreaming,
            (true, false) => Kind::ClientStreaming,
            (true, true) => Kind::Streaming,
        };
        Ok(Rpc {
            name,
            constant: free_name(&constant, &mut taken.values, &what, &mut silent),
            proto_name: method.proto_name.clone(),
            operation: *operation,
            added: (added(&method.input_proto_type), added(&method.output_proto_type)),
            is_idempotent: method.options.idempotency_level() != IdempotencyLevel::IdempotencyUnknown,
            is_deprecated: method.options.deprecated(),
            is_raw,
            docs: docs(&method.comments, &method_name, options, || format!(" The method `{}`.", method.proto_name))?,
            request: syn::parse_str(&method.input_type).map_err(|error| unreadable(&method.input_type, error))?,
            reply: syn::parse_str(&method.output_type).map_err(|error| unreadable(&method.output_type, error))?,
            kind,
        })
    };
    service.methods.iter().zip(operations).map(read).collect()
}

fn layout_item(name: &Ident, layout: &Layout) -> TokenStream {
    let service = layout.service();
    let operations = layout.operations().iter().map(|operation| Literal::u16_unsuffixed(*operation));
    // As the schema lock writes it.
    let number = |fingerprint: &Fingerprint| -> Literal {
        format!("0x{fingerprint}").parse().expect("sixteen hexadecimal digits behind 0x are a number")
    };
    let fingerprint = number(&layout.fingerprint());
    let compatible = layout.compatible().iter().map(number);
    quote! {
        static #name: ::frpc::codegen::Layout = ::frpc::codegen::Layout::new(#service, &[#(#operations),*], #fingerprint, &[#(#compatible),*]);
    }
}

fn constant(rpc: &Rpc, layout: &Ident) -> TokenStream {
    let Rpc { constant, proto_name, operation, .. } = rpc;
    let operation = Literal::u16_unsuffixed(*operation);
    let idempotent = rpc.is_idempotent.then(|| quote! { .idempotent() });
    let added = (rpc.added != (0, 0)).then(|| {
        let (request, reply) = (Literal::u32_unsuffixed(rpc.added.0), Literal::u32_unsuffixed(rpc.added.1));
        quote! { .with_added(#request, #reply) }
    });
    quote! {
        const #constant: ::frpc::codegen::Method = ::frpc::codegen::Method::new(&#layout, #proto_name, #operation) #idempotent #added;
    }
}

fn trait_tokens(name: &Ident, docs: &[Attribute], attributes: &[Attribute], rpcs: &[Rpc]) -> TokenStream {
    let methods = rpcs.iter().map(|rpc| {
        let Rpc { name, docs, request, reply, .. } = rpc;
        let request = if rpc.is_raw {
            quote! { ::frpc::Raw<#request> }
        } else {
            quote! { #request }
        };
        let request = match rpc.kind {
            Kind::Unary | Kind::ServerStreaming => quote! { #request },
            Kind::ClientStreaming | Kind::Streaming => quote! { ::frpc::Streaming<#request> },
        };
        let reply = match rpc.kind {
            Kind::Unary | Kind::ClientStreaming => quote! { #reply },
            Kind::ServerStreaming | Kind::Streaming => quote! { ::frpc::ResponseStream<#reply> },
        };
        quote! {
            #(#docs)*
            fn #name(&self, request: ::frpc::Request<#request>) -> impl ::core::future::Future<
                Output = ::core::result::Result<::frpc::Response<#reply>, ::frpc::Status>
            > + ::core::marker::Send;
        }
    });
    quote! {
        #(#docs)*
        #[allow(clippy::all, dead_code, unreachable_pub)]
        #(#attributes)*
        pub trait #name: ::core::marker::Send + ::core::marker::Sync + 'static {
            #(#methods)*
        }
    }
}

fn server_tokens(
    name: &Ident,
    of: &Ident,
    full_name: &str,
    layout: &Ident,
    attributes: &[Attribute],
    rpcs: &[Rpc],
) -> TokenStream {
    // A type parameter must not hide the trait.
    let generic = if of == "S" { format_ident!("T") } else { format_ident!("S") };
    let doc = format!(" Serves an implementation of [`{}`].", of.unraw());
    let methods = rpcs.iter().map(|rpc| {
        let Rpc { name, constant, .. } = rpc;
        let kind = rpc.kind.method();
        // Called through the trait: the name of the method may be one that `Arc` has too.
        quote! { .#kind(#constant, |service, request| async move { #of::#name(&*service, request).await }) }
    });
    quote! {
        #[doc = #doc]
        #[allow(clippy::all, dead_code, unreachable_pub)]
        #[derive(Debug)]
        #(#attributes)*
        pub struct #name<#generic> {
            service: ::std::sync::Arc<#generic>,
        }
        #[allow(clippy::all, dead_code, unreachable_pub)]
        impl<#generic: #of> #name<#generic> {
            /// Serves `service`.
            pub fn new(service: #generic) -> Self {
                Self::from_arc(::std::sync::Arc::new(service))
            }
            /// Serves a `service` that is shared with others.
            pub fn from_arc(service: ::std::sync::Arc<#generic>) -> Self {
                Self { service }
            }
        }
        impl<#generic> ::core::clone::Clone for #name<#generic> {
            fn clone(&self) -> Self {
                Self { service: ::std::sync::Arc::clone(&self.service) }
            }
        }
        impl<#generic: #of> ::frpc::codegen::Service for #name<#generic> {
            const NAME: &'static str = #full_name;
            fn methods(&self) -> ::frpc::codegen::Methods {
                ::frpc::codegen::Methods::new(&self.service, &#layout)
                    #(#methods)*
                    .done()
            }
        }
    }
}

fn client_tokens(name: &Ident, full_name: &str, layout: &Ident, attributes: &[Attribute], rpcs: &[Rpc]) -> TokenStream {
    let doc = format!(" Calls `{full_name}` over a [`Channel`](::frpc::Channel).");
    let methods = rpcs.iter().map(|rpc| {
        let Rpc { name, constant, docs, request, reply, .. } = rpc;
        let kind = rpc.kind.method();
        let deprecated = rpc.is_deprecated.then(|| quote! { #[deprecated] });
        let (argument, into) = match rpc.kind {
            Kind::Unary | Kind::ServerStreaming => {
                (quote! { impl ::frpc::IntoRequest<#request> }, quote! { ::frpc::IntoRequest::into_request(request) })
            }
            Kind::ClientStreaming | Kind::Streaming => (
                quote! { impl ::frpc::IntoStreamingRequest<Message = #request> },
                quote! { ::frpc::IntoStreamingRequest::into_streaming_request(request) },
            ),
        };
        let reply = match rpc.kind {
            Kind::Unary | Kind::ClientStreaming => quote! { #reply },
            Kind::ServerStreaming | Kind::Streaming => quote! { ::frpc::Streaming<#reply> },
        };
        let result = quote! { ::core::result::Result<::frpc::Response<#reply>, ::frpc::Status> };
        let method = if rpc.kind == Kind::Unary {
            // An async fn would hold its argument beside the call.
            quote! {
                pub fn #name(&self, request: #argument) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send + '_ {
                    self.channel.#kind(&#constant, #into)
                }
            }
        } else {
            quote! {
                pub async fn #name(&self, request: #argument) -> #result {
                    self.channel.#kind(&#constant, #into).await
                }
            }
        };
        quote! {
            #(#docs)*
            #deprecated
            #method
        }
    });
    quote! {
        #[doc = #doc]
        #[allow(clippy::all, dead_code, unreachable_pub)]
        #[derive(Clone, Debug)]
        #(#attributes)*
        pub struct #name {
            channel: ::frpc::Channel,
        }
        #[allow(clippy::all, dead_code, unreachable_pub)]
        impl #name {
            /// Makes calls over `channel`.
            pub fn new(channel: ::frpc::Channel) -> Self {
                Self { channel }
            }
            /// Connects to a server at `host:port`.
            pub async fn connect(address: impl ::core::convert::Into<::std::string::String>) -> ::core::result::Result<Self, ::frpc::Error> {
                ::frpc::Channel::builder().calls::<Self>().connect(address).await.map(Self::new)
            }
            #(#methods)*
        }
        impl ::frpc::codegen::Client for #name {
            const LAYOUT: &'static ::frpc::codegen::Layout = &#layout;
        }
    }
}

impl Kind {
    /// The method of `Methods` and `Channel` for this kind of call.
    fn method(self) -> Ident {
        match self {
            Self::Unary => format_ident!("unary"),
            Self::ServerStreaming => format_ident!("server_streaming"),
            Self::ClientStreaming => format_ident!("client_streaming"),
            Self::Streaming => format_ident!("streaming"),
        }
    }
}

/// A comment as attributes, or `fallback` if there is none.
fn docs(
    comments: &Comments,
    full_name: &str,
    options: &ServiceOptions,
    fallback: impl Fn() -> String,
) -> Result<Vec<Attribute>, Error> {
    let mut text = String::new();
    if !options.comments_off.iter().any(|pattern| path_matches(pattern, full_name)) {
        comments.append_with_indent(0, &mut text);
    }
    let attributes = parse_attributes(&text)?;
    if !attributes.is_empty() {
        return Ok(attributes);
    }
    let line = fallback();
    Ok(vec![syn::parse_quote! { #[doc = #line] }])
}

/// The attributes whose pattern matches `full_name`.
fn matching(attributes: &[(String, String)], full_name: &str) -> Result<Vec<Attribute>, Error> {
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

#[cfg(test)]
mod tests {
    use super::free_name;
    use std::collections::HashSet;

    #[test]
    fn a_name_that_is_taken_is_changed_with_a_warning() {
        let mut taken = HashSet::from(["Echo".to_owned(), "Echo_".to_owned()]);
        let mut warnings = Vec::new();
        let name = free_name("Echo", &mut taken, "the trait of `a.Echo`", &mut |text| warnings.push(text));
        assert_eq!(name, "Echo__");
        assert_eq!(warnings, ["the name `Echo` is taken, so the trait of `a.Echo` is called `Echo__`"]);
        assert_eq!(free_name("Other", &mut taken, "it", &mut |text| warnings.push(text)), "Other");
        assert_eq!(warnings.len(), 1);
    }
}
