//! Generates the trait of a service for trait objects: the same methods with boxed futures.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;
use syn::ext::IdentExt as _;

use super::rpc::Rpc;

/// The trait `name`, which every implementation of the trait `of` implements, and `of` for an `Arc` of its objects.
pub(crate) fn dyn_trait_tokens(name: &Ident, of: &Ident, rpcs: &[Rpc]) -> TokenStream {
    // A type parameter must not hide the trait.
    let generic = if of == "S" || name == "S" { format_ident!("T") } else { format_ident!("S") };
    let doc = format!(
        " [`{of}`] for trait objects, with boxed futures. Every implementation of `{of}` implements it, and an \
         `Arc<dyn {name}>` implements `{of}`, so it can be served. Import one of the two traits: their methods have \
         the same names.",
        of = of.unraw(),
    );
    let methods = rpcs.iter().map(|rpc| {
        let (Rpc { name, docs, .. }, (request, result)) = (rpc, rpc.handled());
        quote! {
            #(#docs)*
            fn #name(&self, request: #request) -> ::frpc::codegen::BoxFuture<'_, #result>;
        }
    });
    let boxed = rpcs.iter().map(|rpc| {
        let (Rpc { name, .. }, (request, result)) = (rpc, rpc.handled());
        quote! {
            fn #name(&self, request: #request) -> ::frpc::codegen::BoxFuture<'_, #result> {
                ::std::boxed::Box::pin(#of::#name(self, request))
            }
        }
    });
    let passed_on = rpcs.iter().map(|rpc| {
        let (Rpc { name: method, .. }, (request, result)) = (rpc, rpc.handled());
        quote! {
            fn #method(
                &self,
                request: #request,
            ) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send {
                #name::#method(&**self, request)
            }
        }
    });
    quote! {
        #[doc = #doc]
        pub trait #name: ::core::marker::Send + ::core::marker::Sync + 'static {
            #(#methods)*
        }
        impl<#generic: #of> #name for #generic {
            #(#boxed)*
        }
        impl #of for ::std::sync::Arc<dyn #name> {
            #(#passed_on)*
        }
    }
}
