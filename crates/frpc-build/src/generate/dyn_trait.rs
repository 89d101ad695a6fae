//! Generates the dyn-compatible trait of a service: the same methods with boxed futures.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;
use syn::ext::IdentExt as _;

use super::rpc::Rpc;

/// Generates the dyn-compatible trait `name` for the service trait `of`, such as `DynGreeter` for `Greeter`. Every type
/// that implements `of` also implements `name`, and `Arc<dyn name>` implements `of`. `generic` is the name of the type
/// parameter in the generated code.
pub(crate) fn dyn_trait_tokens(name: &Ident, of: &Ident, generic: &Ident, rpcs: &[Rpc]) -> TokenStream {
    let doc = format!(
        " [`{of}`] for trait objects, with boxed futures. Every implementation of `{of}` implements it, and an \
         `Arc<dyn {name}>` implements `{of}`, so it can be served. Import one of the two traits: their methods have \
         the same names.",
        of = of.unraw(),
    );
    let (mut methods, mut boxed, mut passed_on) = (Vec::new(), Vec::new(), Vec::new());
    for rpc in rpcs {
        let (Rpc { name: method, docs, .. }, (request, result)) = (rpc, rpc.handled());
        let signature = quote! { fn #method(&self, request: #request) -> ::frpc::codegen::BoxFuture<'_, #result> };
        methods.push(quote! { #(#docs)* #signature; });
        boxed.push(quote! { #signature { ::std::boxed::Box::pin(#of::#method(self, request)) } });
        passed_on.push(quote! {
            fn #method(
                &self,
                request: #request,
            ) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send {
                #name::#method(&**self, request)
            }
        });
    }
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
