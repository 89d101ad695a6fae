//! Service discovery by [Kubernetes](https://kubernetes.io): [`KubernetesResolver`] watches the EndpointSlices of a
//! Service for a channel.
//!
//! ```no_run
//! use frpc::Channel;
//! use frpc_balance::Balance as _;
//! use frpc_balance::kubernetes::KubernetesResolver;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // In a pod, the client uses the service account; elsewhere, the kubeconfig file.
//! let client = kube::Client::try_default().await?;
//!
//! // The port `grpc` of the Service `shop` in the namespace of the pod.
//! let channel = Channel::builder().balance().connect_resolved(KubernetesResolver::new(client.clone(), "shop", "grpc")?).await?;
//!
//! // A port by its number, of a Service in another namespace.
//! let resolver = KubernetesResolver::new(client, "billing/invoices", 8080)?;
//! let channel = Channel::builder().balance().zone("a").connect_resolved(resolver).await?;
//! # Ok(())
//! # }
//! ```
//!
//! The service account needs the verbs `list` and `watch` for `endpointslices` in the group `discovery.k8s.io`.
//! Channels connect to the pods directly, because through the address of the Service all calls of a connection would
//! reach a single pod.
//!
//! The program selects the version of Kubernetes by a feature of the package `k8s-openapi`, as with any use of
//! [`kube`], or enables the feature `kubernetes-latest`.

mod resolver;
mod slices;

pub use kube;
pub use resolver::KubernetesResolver;
pub use slices::Port;
