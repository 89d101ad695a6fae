//! The registration of a server: its key and the lease of the key.

use super::cluster::Etcd;
use crate::resolve::Endpoint;
use frpc::codegen::{BoxFuture, Lifecycle, Methods, Service};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Default TTL of a registration's lease, which is how long a dead server stays listed.
const TTL: Duration = Duration::from_secs(10);

/// Maximum TTL in seconds that etcd grants.
const TTL_MAX: u64 = 9_000_000_000;

/// Timeout for revoking the lease at deregistration. A server that shuts down should not wait for an unreachable etcd.
const LEAVING: Duration = Duration::from_secs(1);

/// Maximum delay after a failed attempt to register or to renew the lease.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Settings for registering a server in etcd.
#[derive(Clone, Debug)]
#[must_use]
pub struct Registration {
    etcd: Etcd,
    key: String,
    value: String,
    ttl: Duration,
}

impl Registration {
    /// Creates a registration for a server below a prefix, such as `shop/`. The key is the prefix followed by the
    /// server's address.
    ///
    /// # Errors
    /// If a part of the endpoint contains white space and it therefore has no text form.
    pub fn new(etcd: &Etcd, prefix: &str, endpoint: &Endpoint) -> io::Result<Self> {
        let value = endpoint.to_string();
        if value.parse::<Endpoint>().ok().as_ref() != Some(endpoint) {
            let why = format!("invalid endpoint {value:?}: its encoding does not round-trip");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(Self { etcd: etcd.clone(), key: format!("{prefix}{}", endpoint.address()), value, ttl: TTL })
    }

    /// Sets the TTL of the lease. A dead server is removed after this time. Rounded up to whole seconds, at least 1 s,
    /// and at most etcd's maximum of 9 000 000 000 s. Defaults to 10 s. The lease is renewed three times per TTL.
    pub fn with_ttl(self, ttl: Duration) -> Self {
        let seconds = ttl.as_secs().saturating_add(u64::from(ttl.subsec_nanos() > 0));
        Self { ttl: Duration::from_secs(seconds.clamp(1, TTL_MAX)), ..self }
    }

    /// Spawns a task that registers the server and keeps its lease. The task keeps retrying while etcd is unreachable.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(self) -> Registered {
        let (state, states) = watch::channel(State::New);
        let (leave, leaving) = watch::channel(());
        tokio::spawn(self.keep(state, leaving));
        Registered { leave: Arc::new(leave), states }
    }

    /// Keeps the server registered in etcd until it leaves.
    async fn keep(self, state: watch::Sender<State>, mut leaving: watch::Receiver<()>) {
        let mut lease = None;
        let (mut pause, mut failures) = (Duration::ZERO, 0);
        loop {
            tokio::select! {
                // Check for the end first, so that the key is not renewed after the server has left.
                biased;
                _ = leaving.changed() => break, // Also resolves when the registration is dropped.
                () = tokio::time::sleep(pause) => {}
            }
            match self.renew(&mut lease).await {
                Ok(()) => {
                    state.send_replace(State::Registered);
                    (pause, failures) = (self.ttl / 3, 0);
                }
                Err(error) => {
                    tracing::debug!(%error, key = self.key, "registration not renewed");
                    pause = (PAUSE_MAX / 8 * (1 << failures)).min(PAUSE_MAX).min(self.ttl / 3);
                    failures = (failures + 1).min(3);
                }
            }
        }
        if let Some(Lease { id, .. }) = lease {
            let left = tokio::time::timeout(LEAVING, self.etcd.revoke(id)).await;
            if !matches!(left, Ok(Ok(()))) {
                tracing::debug!(key = self.key, "registration not revoked; it ends with its lease");
            }
        }
        state.send_replace(State::Left);
    }

    /// Renews the lease, or requests a new one if it has expired. Writes the server's key again if it is missing. It
    /// may have been deleted by an operator, or by another process that was registered with the same address.
    async fn renew(&self, lease: &mut Option<Lease>) -> io::Result<()> {
        let id = match *lease {
            Some(Lease { id, has_key }) if self.etcd.keep_alive(id).await? => {
                if has_key && self.etcd.has(&self.key).await? {
                    return Ok(());
                }
                id
            }
            _ => {
                // Choose the lease id here, so that the lease can be used or revoked later if the response is lost.
                let id = fastrand::i64(1..);
                *lease = Some(Lease { id, has_key: false });
                self.etcd.grant(id, self.ttl).await?;
                id
            }
        };
        *lease = Some(Lease { id, has_key: false });
        self.etcd.put(self.key.clone().into(), self.value.clone().into(), id).await?;
        *lease = Some(Lease { id, has_key: true });
        Ok(())
    }
}

/// A lease that was requested. etcd may have granted it even if the reply was lost.
#[derive(Clone, Copy)]
struct Lease {
    id: i64,
    /// Whether the server's key was put with this lease. An existing key of the same name may belong to another lease.
    has_key: bool,
}

/// Progress of a registration: not yet in etcd, listed, or removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Registered,
    Left,
}

/// A registered server, created by [`Registration::start`]. It is deregistered by [`leave`](Self::leave), by the
/// shutdown of a server with a service wrapped by [`around`](Self::around), or when the last clone is dropped.
#[derive(Clone, Debug)]
#[must_use = "the server leaves when this is dropped"]
pub struct Registered {
    leave: Arc<watch::Sender<()>>,
    states: watch::Receiver<State>,
}

impl Registered {
    /// Waits until the server is listed in etcd for the first time.
    ///
    /// # Cancel safety
    /// Dropping the future cancels only the wait.
    pub async fn registered(&self) {
        let mut states = self.states.clone();
        drop(states.wait_for(|state| *state != State::New).await);
    }

    /// Deregisters the server by deleting its key, so that channels stop using it. Completes when the key is deleted,
    /// or after at most two seconds if etcd is unreachable; the key then expires with its lease.
    ///
    /// # Cancel safety
    /// If the future is dropped, the deregistration continues in the background.
    pub async fn leave(&self) {
        self.leave.send_replace(());
        let mut states = self.states.clone();
        drop(tokio::time::timeout(2 * LEAVING, states.wait_for(|state| *state == State::Left)).await);
    }

    /// Wraps a service so that its server is deregistered as soon as it begins to shut down, before clients are
    /// notified.
    pub fn around<S: Service>(&self, service: S) -> RegisteredService<S> {
        RegisteredService { service, registered: self.clone() }
    }
}

/// A service that deregisters its server before it shuts down, created by [`Registered::around`].
#[derive(Debug)]
pub struct RegisteredService<S> {
    service: S,
    registered: Registered,
}

impl<S: Service> Service for RegisteredService<S> {
    const NAME: &'static str = S::NAME;

    fn methods(&self) -> Methods {
        self.service.methods().lifecycle(Arc::new(Leaving(self.registered.clone())))
    }
}

struct Leaving(Registered);

impl Lifecycle for Leaving {
    fn stopping(&self) -> BoxFuture<'static, ()> {
        let registered = self.0.clone();
        Box::pin(async move { registered.leave().await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn time_to_live_is_within_limits_of_etcd() {
        let etcd = Etcd::new(["http://127.0.0.1:1"]).expect("address should be valid");
        let registration =
            Registration::new(&etcd, "shop/", &Endpoint::new("10.0.0.1:80")).expect("should be encodable");
        let millis = Duration::from_millis;
        // Regression test: the longest duration overflowed and became one second.
        for (ttl, rounded) in [(millis(0), 1), (millis(1_000), 1), (millis(1_001), 2), (Duration::MAX, TTL_MAX)] {
            let registration = registration.clone().with_ttl(ttl);
            assert_eq!(registration.ttl, Duration::from_secs(rounded), "{ttl:?}");
        }
    }
}
