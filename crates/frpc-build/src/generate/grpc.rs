//! Generates a service for gRPC: tonic's client and server, and an adapter that implements tonic's trait for every
//! implementation of ours that stands behind a door.
//!
//! tonic-build generates tonic's part. This module changes its paths to `::frpc::tonic`, so that programs need no
//! dependency on tonic, and makes the names of its modules unique.

use std::collections::HashSet;

use proc_macro2::{Group, Spacing, TokenStream, TokenTree};
use prost_build::Service;
use quote::{format_ident, quote};
use syn::ext::IdentExt as _;
use syn::{Ident, Item, Type};

use super::free_names::{Taken, free_name};
use super::rpc::{Kind, Rpc, ServiceOptions};
use crate::error::{Error, ErrorKind};
use crate::schema::full_name;

/// The path of tonic's codec for prost messages.
const CODEC: &str = "::frpc::tonic_prost::ProstCodec";

/// The methods that tonic's clients have.
const OF_CLIENTS: [&str; 9] = [
    "new",
    "connect",
    "clone",
    "with_origin",
    "with_interceptor",
    "send_compressed",
    "accept_compressed",
    "max_decoding_message_size",
    "max_encoding_message_size",
];

/// Names that tonic's modules use, and that a trait of the same name would hide.
const HIDDEN: [&str; 20] = [
    "Arc",
    "B",
    "Body",
    "Box",
    "BoxFuture",
    "BoxStream",
    "Bytes",
    "Clone",
    "CompressionEncoding",
    "Context",
    "Default",
    "EnabledCompressionEncodings",
    "F",
    "InterceptedService",
    "Into",
    "Option",
    "Poll",
    "StdError",
    "T",
    "Uri",
];

/// tonic's client and server of `service`, and the adapter from the trait `of` to tonic's.
pub(crate) fn grpc_items(
    service: &Service,
    of: &Ident,
    rpcs: &[Rpc],
    options: &ServiceOptions,
    taken: &mut Taken,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Item>, Error> {
    let described = Described::new(service, rpcs, warn);
    let mut generator = tonic_build::CodeGenBuilder::new();
    generator.emit_package(true).build_transport(true);
    let mut modules = Vec::new();
    if options.client {
        modules.push(module(generator.generate_client(&described, "super"), &described, taken, warn)?);
    }
    if options.server {
        let mut server = module(generator.generate_server(&described, "super"), &described, taken, warn)?;
        let adapter =
            syn::parse2(adapter_tokens(of, &described, rpcs)).map_err(|error| unreadable(&described, error))?;
        server.content.get_or_insert_default().1.push(Item::Impl(adapter));
        modules.push(server);
    }
    Ok(modules.into_iter().map(Item::Mod).collect())
}

/// Adapts a module that tonic-build has generated.
fn module(
    tokens: TokenStream,
    service: &Described<'_>,
    taken: &mut Taken,
    warn: &mut dyn FnMut(String),
) -> Result<syn::ItemMod, Error> {
    let mut module: syn::ItemMod = syn::parse2(through_frpc(tokens)).map_err(|error| unreadable(service, error))?;
    let what = format!("tonic's module for `{}`", service.service.proto_name);
    module.ident = free_name(&module.ident.to_string(), &mut taken.types, &what, warn);
    module.attrs.push(syn::parse_quote! {
        #[allow(clippy::all, elided_lifetimes_in_paths, nonstandard_style, unreachable_pub, unused_qualifications)]
    });
    Ok(module)
}

/// `impl<S: super::Echo> Echo for ::frpc::grpc::Behind<S>`. It is within tonic's module, because the macro uses `Box`, which may be the name
/// of a message outside.
fn adapter_tokens(of: &Ident, service: &Described<'_>, rpcs: &[Rpc]) -> TokenStream {
    // A type parameter must not hide the trait.
    let generic = if service.name == "S" { format_ident!("T") } else { format_ident!("S") };
    let tonics_trait = format_ident!("{}", service.name);
    let full_name = full_name(&service.service.package, &service.service.proto_name);
    let methods = rpcs.iter().zip(&service.methods).map(|(rpc, method)| {
        let (name, tonics_name) = (&rpc.name, &method.ident);
        let (request, reply) = (one_module_down(&rpc.request), one_module_down(&rpc.reply));
        let identifier = &method.identifier;
        let stream = format_ident!("{identifier}Stream");
        let (argument, into) = match rpc.kind {
            Kind::Unary | Kind::ServerStreaming => (request, quote! { request }),
            Kind::ClientStreaming | Kind::Streaming => {
                (quote! { ::frpc::tonic::Streaming<#request> }, quote! { requests })
            }
        };
        let (item, result, back) = match rpc.kind {
            Kind::Unary | Kind::ClientStreaming => (None, reply, quote! { reply }),
            Kind::ServerStreaming | Kind::Streaming => (
                Some(quote! { type #stream = ::frpc::grpc::Replies<#reply>; }),
                quote! { Self::#stream },
                quote! { replies },
            ),
        };
        quote! {
            #item
            async fn #tonics_name(&self, request: ::frpc::tonic::Request<#argument>) -> ::core::result::Result<::frpc::tonic::Response<#result>, ::frpc::tonic::Status> {
                ::frpc::grpc::Behind::#back(self, #full_name, #identifier, ::frpc::grpc::#into(request), |service, request| async move {
                    <#generic as super::#of>::#name(&*service, request).await
                }).await
            }
        }
    });
    let doc = format!(" Implements tonic's trait for every implementation of [`super::{}`] behind a door.", of.unraw());
    quote! {
        #[doc = #doc]
        #[async_trait]
        impl<#generic: super::#of> #tonics_trait for ::frpc::grpc::Behind<#generic> {
            #(#methods)*
        }
    }
}

/// Replaces `tonic::…` by `::frpc::tonic::…`.
fn through_frpc(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut turned = TokenStream::new();
    // The spacing of the colons before the token.
    let (mut colon, mut two_colons) = (None, false);
    while let Some(token) = tokens.next() {
        let is_tonic = matches!(&token, TokenTree::Ident(ident) if ident == "tonic");
        if is_tonic && !two_colons && tokens.peek().is_some_and(|next| colon_of(next) == Some(Spacing::Joint)) {
            turned.extend(quote! { ::frpc:: });
        }
        two_colons = colon == Some(Spacing::Joint) && colon_of(&token).is_some();
        colon = colon_of(&token);
        turned.extend([match token {
            TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), through_frpc(group.stream()))),
            other => other,
        }]);
    }
    turned
}

/// The spacing of a colon; joint if it is the first of two.
fn colon_of(token: &TokenTree) -> Option<Spacing> {
    match token {
        TokenTree::Punct(punct) if punct.as_char() == ':' => Some(punct.spacing()),
        _ => None,
    }
}

fn unreadable(service: &Described<'_>, error: syn::Error) -> Error {
    let text = format!("the code of tonic for service `{}` is not valid Rust: {error}", service.service.proto_name);
    Error::new(ErrorKind::Unsupported, text).with_source(error)
}

/// The description of a service for tonic-build.
struct Described<'a> {
    service: &'a Service,
    /// The name in Rust.
    name: String,
    methods: Vec<DescribedMethod>,
}

struct DescribedMethod {
    /// The name in Rust.
    name: String,
    ident: Ident,
    identifier: String,
    comments: Vec<String>,
    client_streaming: bool,
    server_streaming: bool,
    deprecated: bool,
    request: Type,
    reply: Type,
}

impl<'a> Described<'a> {
    fn new(service: &'a Service, rpcs: &[Rpc], warn: &mut dyn FnMut(String)) -> Self {
        let mut names: HashSet<String> = OF_CLIENTS.map(str::to_owned).into();
        let methods = service.methods.iter().zip(rpcs).map(|(method, rpc)| {
            let what = format!("tonic's method for `{}` of `{}`", method.proto_name, service.proto_name);
            let wanted = rpc.name.unraw().to_string();
            let ident = match free_name(&wanted, &mut names, &what, warn) {
                name if name == wanted => rpc.name.clone(),
                name => name,
            };
            DescribedMethod {
                name: ident.to_string(),
                ident,
                identifier: method.proto_name.clone(),
                comments: method.comments.leading.clone(),
                client_streaming: method.client_streaming,
                server_streaming: method.server_streaming,
                deprecated: rpc.is_deprecated,
                request: rpc.request.clone(),
                reply: rpc.reply.clone(),
            }
        });
        let mut hidden: HashSet<String> = HIDDEN.map(str::to_owned).into();
        let what = format!("tonic's trait of `{}`", service.proto_name);
        Self {
            methods: methods.collect(),
            name: free_name(&service.name, &mut hidden, &what, warn).to_string(),
            service,
        }
    }
}

impl tonic_build::Service for Described<'_> {
    type Comment = String;
    type Method = DescribedMethod;

    fn name(&self) -> &str {
        &self.name
    }

    fn package(&self) -> &str {
        &self.service.package
    }

    fn identifier(&self) -> &str {
        &self.service.proto_name
    }

    fn methods(&self) -> &[DescribedMethod] {
        &self.methods
    }

    fn comment(&self) -> &[String] {
        &self.service.comments.leading
    }
}

impl tonic_build::Method for DescribedMethod {
    type Comment = String;

    fn name(&self) -> &str {
        &self.name
    }

    fn identifier(&self) -> &str {
        &self.identifier
    }

    fn codec_path(&self) -> &str {
        CODEC
    }

    fn client_streaming(&self) -> bool {
        self.client_streaming
    }

    fn server_streaming(&self) -> bool {
        self.server_streaming
    }

    fn comment(&self) -> &[String] {
        &self.comments
    }

    fn deprecated(&self) -> bool {
        self.deprecated
    }

    fn request_response_name(&self, _proto_path: &str, _compile_well_known_types: bool) -> (TokenStream, TokenStream) {
        (one_module_down(&self.request), one_module_down(&self.reply))
    }
}

/// Changes the path of a type, which is valid next to the messages, into one that is valid in a module there.
fn one_module_down(of: &Type) -> TokenStream {
    const PRIMITIVES: [&str; 7] = ["bool", "f32", "f64", "i32", "i64", "u32", "u64"];
    match of {
        Type::Path(path) if path.path.leading_colon.is_none() => {
            let is_primitive = PRIMITIVES.iter().any(|primitive| path.path.is_ident(primitive));
            let is_absolute = path.path.segments.first().is_some_and(|first| first.ident == "crate");
            if is_primitive || is_absolute {
                return quote! { #of };
            }
            quote! { super::#of }
        }
        _ => quote! { #of },
    }
}

#[cfg(test)]
mod tests {
    use super::through_frpc;
    use quote::quote;

    #[test]
    fn paths_of_tonic_go_through_frpc_and_others_stay() {
        let turned = through_frpc(quote! {
            use tonic::codegen::*;
            fn f<T: tonic::A>(tonic: super::tonic::B) -> X<{ tonic::C }> { x.tonic.d(<T as tonic::A>::e(::tonic::F)) }
        });
        let expected = quote! {
            use ::frpc::tonic::codegen::*;
            fn f<T: ::frpc::tonic::A>(tonic: super::tonic::B) -> X<{ ::frpc::tonic::C }> { x.tonic.d(<T as ::frpc::tonic::A>::e(::tonic::F)) }
        };
        assert_eq!(turned.to_string(), expected.to_string());
    }
}
