//! Servers of frpc that are found by [Kubernetes](https://kubernetes.io): [`KubernetesResolver`] watches the
//! EndpointSlices of a Service for a channel.
//!
//! ```no_run
//! use frpc::Channel;
//! use frpc_kubernetes::{Kubernetes, KubernetesResolver};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // In a pod, by its service account, which may list and watch `endpointslices` of the group `discovery.k8s.io`.
//! let kubernetes = Kubernetes::in_cluster()?;
//!
//! // The port called `grpc` of the Service `shop` in the namespace of the pod.
//! let channel = Channel::builder().connect_resolved(KubernetesResolver::new(&kubernetes, "shop", "grpc")?).await?;
//!
//! // A port by its number, of a Service in another namespace.
//! let resolver = KubernetesResolver::new(&kubernetes, "billing/invoices", 8080)?;
//! let channel = Channel::builder().zone("a").connect_resolved(resolver).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Calls go to the pods themselves and not by the address of the Service, by which all calls of one connection would go to
//! one pod. While the API server is away, channels keep the servers that they know.
#![forbid(unsafe_code)]

mod connection;
mod kubeconfig;
mod kubernetes;
mod plugin;
mod resolver;
mod slices;

pub use kubernetes::Kubernetes;
pub use resolver::KubernetesResolver;
pub use slices::Port;
