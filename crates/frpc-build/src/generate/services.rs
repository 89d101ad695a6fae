//! Generates the code of a service: method constants, a trait, a server and a client. This code only calls functions of
//! frpc, which contain the logic.

use heck::ToShoutySnakeCase as _;
use polyglot::layout::Fingerprint;
use proc_macro2::{Literal, TokenStream};
use prost_build::Service;
use prost_types::FileDescriptorProto;
use prost_types::method_options::IdempotencyLevel;
use quote::quote;
use syn::ext::IdentExt as _;
use syn::{Attribute, Ident, Item};

use super::dyn_trait::dyn_trait_tokens;
use super::free_names::{ReservedNames, free_name};
use super::json_schema::{JsonSchemas, comment_at};
use super::rpc::{Rpc, ServiceOptions, docs, matching, rpcs};
use crate::error::{Error, ErrorKind};
use crate::plan::Layout;
use crate::schema::externs::Externs;
use crate::schema::{full_name, tag, within};

/// Inputs of a service's generated code: its layout, constants of the package, and build options.
pub(crate) struct ServiceConstants<'a> {
    pub(crate) layout: &'a Layout,
    /// Static with the encoded schema for reflection. `None` if reflection is not enabled.
    pub(crate) schema: Option<&'a Ident>,
    /// Static with the list of message types that an `Any` may contain.
    pub(crate) any_types: Option<&'a Ident>,
    pub(crate) file: &'a FileDescriptorProto,
    pub(crate) documents: &'a JsonSchemas<'a>,
    pub(crate) externs: &'a Externs,
    pub(crate) options: &'a ServiceOptions,
}

/// Generates the client, server and trait of `service`. `operations` contains the operation numbers of its methods in
/// the order of declaration.
pub(crate) fn service_items(
    service: &Service,
    operations: &[u16],
    stated: &ServiceConstants<'_>,
    reserved: &mut ReservedNames,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Item>, Error> {
    let ServiceConstants { layout, options, .. } = *stated;
    let full_name = full_name(&service.package, &service.proto_name);
    let base = service.name.trim_end_matches('_'); // prost-build renames `self` to `Self_`.
    let trait_name = free_name(&service.name, &mut reserved.types, &format!("the trait of `{full_name}`"), warn);
    let server =
        free_name(&format!("{base}Server"), &mut reserved.types, &format!("the server of `{full_name}`"), warn);
    let client =
        free_name(&format!("{base}Client"), &mut reserved.types, &format!("the client of `{full_name}`"), warn);
    let rpcs = rpcs(service, &full_name, operations, options, reserved, warn)?;
    let wanted = format!("{}_LAYOUT", service.proto_name.to_shouty_snake_case());
    let layout_name = free_name(&wanted, &mut reserved.values, "its layout", &mut |_| {});
    if options.without_client && options.without_server {
        return Ok(Vec::new());
    }
    let docs = docs(&service.comments, || format!(" The service `{full_name}`."))?;
    // The type parameter must not shadow the trait or a message.
    let generic = free_name("S", &mut reserved.types.clone(), "a type parameter", &mut |_| {});

    let layout = layout_item(&layout_name, layout);
    let constants = rpcs.iter().map(|rpc| constant(rpc, &layout_name));
    let mut tokens = quote! { #layout #(#constants)* };
    if !options.without_server {
        let attributes = matching(&options.trait_attributes, &full_name)?;
        tokens.extend(trait_tokens(&trait_name, &docs, &attributes, &rpcs));
        if options.dyn_traits {
            let what = format!("the trait for trait objects of `{full_name}`");
            let name = free_name(&format!("Dyn{base}"), &mut reserved.types, &what, warn);
            tokens.extend(dyn_trait_tokens(&name, &trait_name, &generic, &rpcs));
        }
        tokens.extend(server_tokens(&server, (&trait_name, &generic), &layout_name, service, stated, &rpcs)?);
    }
    if !options.without_client {
        let attributes = matching(&options.client_attributes, &full_name)?;
        tokens.extend(client_tokens(&client, &full_name, &layout_name, &attributes, &rpcs));
    }
    let file: syn::File = syn::parse2(tokens).map_err(|error| {
        Error::new(ErrorKind::Option, format!("the code of service `{full_name}` is not valid Rust: {error}"))
            .with_source(error)
    })?;
    Ok(file.items)
}

fn layout_item(name: &Ident, layout: &Layout) -> TokenStream {
    let (service, names) = (layout.service(), layout.names());
    let operations = layout.methods().map(|(_, operation, _)| Literal::u16_unsuffixed(operation));
    let fingerprint = fingerprint(&layout.fingerprint());
    let description = Literal::byte_string(layout.description());
    quote! {
        static #name: ::frpc::codegen::Layout = ::frpc::codegen::Layout::new(#service, &[#(#operations),*], #fingerprint, #description, #names);
    }
}

/// Returns a fingerprint as a literal of generated code.
pub(crate) fn fingerprint(fingerprint: &Fingerprint) -> Literal {
    let digits = fingerprint.to_string();
    let groups: Vec<_> = (0..digits.len()).step_by(4).filter_map(|at| digits.get(at..at + 4)).collect();
    format!("0x{}", groups.join("_")).parse().expect("digits should parse as a literal")
}

fn constant(rpc: &Rpc, layout: &Ident) -> TokenStream {
    let Rpc { constant, proto_name, operation, .. } = rpc;
    let operation = Literal::u16_unsuffixed(*operation);
    let idempotent = match rpc.idempotency {
        IdempotencyLevel::IdempotencyUnknown => TokenStream::new(),
        IdempotencyLevel::Idempotent => quote! { .idempotent() },
        IdempotencyLevel::NoSideEffects => quote! { .without_side_effects() },
    };
    let tool = rpc.is_tool.then(|| quote! { .tool() });
    quote! {
        const #constant: ::frpc::codegen::Method = ::frpc::codegen::Method::new(&#layout, #proto_name, #operation) #idempotent #tool;
    }
}

fn trait_tokens(name: &Ident, docs: &[Attribute], attributes: &[Attribute], rpcs: &[Rpc]) -> TokenStream {
    let methods = rpcs.iter().map(|rpc| {
        let Rpc { name, docs, .. } = rpc;
        let (request, result) = rpc.handled();
        quote! {
            #(#docs)*
            fn #name(&self, request: #request) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send;
        }
    });
    quote! {
        #(#docs)*
        #(#attributes)*
        pub trait #name: ::core::marker::Send + ::core::marker::Sync + 'static {
            #(#methods)*
        }
    }
}

fn server_tokens(
    name: &Ident,
    (of, generic): (&Ident, &Ident),
    layout: &Ident,
    service: &Service,
    stated: &ServiceConstants<'_>,
    rpcs: &[Rpc],
) -> Result<TokenStream, Error> {
    let ServiceConstants { schema, any_types, documents, externs, options, .. } = stated;
    let full_name = full_name(&service.package, &service.proto_name);
    let attributes = matching(&options.server_attributes, &full_name)?;
    let any_types = any_types.map(|types| quote! { .any_types(#types) });
    let schema = schema.map(|schema| quote! { .schema(&#schema) });
    let doc = format!(" Passes calls to an implementation of [`{}`]. A server takes it by `add_service`.", of.unraw());
    let with_json = service.methods.iter().zip(rpcs).filter(|(_, rpc)| externs.json && !rpc.is_raw);
    let messages = with_json.flat_map(|(method, _)| [&*method.input_proto_type, &*method.output_proto_type]);
    let schemas = documents.of_messages(messages);
    let schemas = (!schemas.is_empty()).then(|| {
        let (names, texts) = (schemas.keys(), schemas.values());
        quote! { static MESSAGES: &[(&str, &str)] = &[#((#names, #texts)),*]; }
    });
    let methods = method_tokens(of, service, stated, rpcs);
    let constructors = constructor_tokens(name, of, generic);
    Ok(quote! {
        #[doc = #doc]
        #[derive(Debug)]
        #(#attributes)*
        pub struct #name<#generic> {
            service: ::std::sync::Arc<#generic>,
        }
        #constructors
        impl<#generic> ::core::clone::Clone for #name<#generic> {
            fn clone(&self) -> Self {
                Self { service: ::std::sync::Arc::clone(&self.service) }
            }
        }
        impl<#generic: #of> ::frpc::codegen::Service for #name<#generic> {
            const NAME: &'static str = #full_name;
            fn methods(&self) -> ::frpc::codegen::Methods {
                #schemas
                ::frpc::codegen::Methods::new(&self.service, &#layout)
                    #(#methods)*
                    #schema
                    #any_types
                    .done()
            }
        }
    })
}

/// Generates the constructors of a server, and its methods that add middleware and limits.
fn constructor_tokens(name: &Ident, of: &Ident, generic: &Ident) -> TokenStream {
    quote! {
        impl<#generic: #of> #name<#generic> {
            /// Wraps `service`.
            pub fn new(service: #generic) -> Self {
                Self::from_arc(::std::sync::Arc::new(service))
            }
            /// Wraps a shared `service`.
            pub fn from_arc(service: ::std::sync::Arc<#generic>) -> Self {
                Self { service }
            }
            /// Runs a middleware around the calls of this service.
            pub fn with_middleware(self, middleware: impl ::frpc::Middleware) -> ::frpc::Layered<Self> {
                ::frpc::Layered::new(self).with_middleware(middleware)
            }
            /// Runs a middleware around the calls of one method, named as in the schema.
            pub fn with_method_middleware(
                self,
                method: impl ::core::convert::Into<::std::string::String>,
                middleware: impl ::frpc::Middleware,
            ) -> ::frpc::Layered<Self> {
                ::frpc::Layered::new(self).with_method_middleware(method, middleware)
            }
            /// Limits each request message of this service to `bytes`.
            pub fn max_decoding_message_size(self, bytes: usize) -> ::frpc::Layered<Self> {
                ::frpc::Layered::new(self).max_decoding_message_size(bytes)
            }
        }
    }
}

/// Returns calls of functions of `MethodsBuilder`, one group for each method. They add the method and its additional
/// formats, such as JSON.
fn method_tokens(
    of: &Ident,
    service: &Service,
    ServiceConstants { file, externs, .. }: &ServiceConstants<'_>,
    rpcs: &[Rpc],
) -> Vec<TokenStream> {
    let declared = file.service.iter().position(|declared| declared.name() == service.proto_name);
    let path = within(&[], tag::FILE_SERVICE, declared.unwrap_or_default());
    rpcs.iter().enumerate().map(|(at, rpc)| {
        let Rpc { name, constant, request, reply, .. } = rpc;
        let kind = rpc.call();
        // Undecoded requests support only the native format.
        let json = (externs.json && !rpc.is_raw).then(|| {
            let comment = comment_at(file, &within(&path, tag::SERVICE_METHOD, at));
            quote! { .format(::frpc::codegen::json_format::<#request, #reply>().described(#comment, MESSAGES)) }
        });
        let protobuf = (externs.protobuf && !rpc.is_raw)
            .then(|| quote! { .format(::frpc::codegen::protobuf_format::<#request, #reply>()) });
        // Call the method through the trait, because `Arc` may have a method of the same name.
        quote! { .#kind(#constant, |service, request| async move { #of::#name(&*service, request).await }) #json #protobuf }
    }).collect()
}

fn client_tokens(name: &Ident, full_name: &str, layout: &Ident, attributes: &[Attribute], rpcs: &[Rpc]) -> TokenStream {
    let doc = format!(" Calls the service `{full_name}` over a [`Channel`](::frpc::Channel).");
    let methods = rpcs.iter().map(client_method);
    // Add an accessor for the channel if the service has no methods. Otherwise, nothing would read the channel, which
    // `dead_code` would report.
    let accessor = rpcs.is_empty().then(|| {
        quote! {
            /// The channel of the client.
            pub fn channel(&self) -> &::frpc::Channel {
                &self.channel
            }
        }
    });
    quote! {
        #[doc = #doc]
        #[derive(Clone, Debug)]
        #(#attributes)*
        pub struct #name {
            channel: ::frpc::Channel,
        }
        impl #name {
            /// Creates a client that calls over `channel`.
            pub fn new(channel: ::frpc::Channel) -> Self {
                Self { channel }
            }
            /// Connects to a server at `host:port`, and creates a client.
            pub async fn connect(address: impl ::std::string::ToString) -> ::core::result::Result<Self, ::frpc::Error> {
                ::frpc::Channel::builder().calls::<Self>().connect(address).await.map(Self::new)
            }
            #accessor
            #(#methods)*
        }
        impl ::frpc::codegen::Client for #name {
            const LAYOUT: &'static ::frpc::codegen::Layout = &#layout;
        }
    }
}

/// Generates the method of a client that calls a method of the service.
fn client_method(rpc: &Rpc) -> TokenStream {
    let Rpc { name, constant, docs, request, reply, .. } = rpc;
    let kind = rpc.call();
    let deprecated = rpc.is_deprecated.then(|| quote! { #[deprecated] });
    let (argument, into) = if rpc.streams_requests {
        (
            quote! { impl ::frpc::IntoStreamingRequest<Message = #request> },
            quote! { ::frpc::IntoStreamingRequest::into_streaming_request(request) },
        )
    } else {
        (quote! { impl ::frpc::IntoRequest<#request> }, quote! { ::frpc::IntoRequest::into_request(request) })
    };
    let reply = if rpc.streams_replies {
        quote! { ::frpc::Streaming<#reply> }
    } else {
        quote! { #reply }
    };
    let result = quote! { ::core::result::Result<::frpc::Response<#reply>, ::frpc::Status> };
    let method = if !rpc.streams_requests && !rpc.streams_replies {
        // Do not generate an `async fn`, because its future would store the argument in addition to the call.
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
}
