//! The registration of a server: its key, and the lease that keeps it.

use super::cluster::Etcd;
use crate::resolve::Endpoint;
use frpc::codegen::{BoxFuture, Lifecycle, Methods, Service};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The default time to live of a lease: so long a server that has died seems to be there.
const TTL: Duration = Duration::from_secs(10);

/// How long leaving may take. A server that stops does not wait for an etcd that is away.
const LEAVING: Duration = Duration::from_secs(1);

/// The longest pause after a failure.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// A server that is to be found in etcd: the settings of [`Registered`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Registration {
    etcd: Etcd,
    key: String,
    value: String,
    ttl: Duration,
}

impl Registration {
    /// A server below a prefix, such as `shop/`. Its key is the prefix and its address.
    ///
    /// # Errors
    /// If the endpoint has no form as text, since something in it contains white space.
    pub fn new(etcd: &Etcd, prefix: &str, endpoint: &Endpoint) -> io::Result<Self> {
        let value = endpoint.to_string();
        if value.parse::<Endpoint>().ok().as_ref() != Some(endpoint) {
            let why = format!("invalid endpoint {value:?}: its encoding does not round-trip");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(Self { etcd: etcd.clone(), key: format!("{prefix}{}", endpoint.address()), value, ttl: TTL })
    }

    /// Sets the time to live of the lease, rounded up to seconds: a server that has died is gone then. Default: 10 s.
    /// It is renewed three times as often.
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Duration::from_secs(ttl.as_secs() + u64::from(ttl.subsec_nanos() > 0)).max(Duration::from_secs(1));
        self
    }

    /// Registers the server from now on, by a task that continues while etcd is away.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(self) -> Registered {
        let (state, states) = watch::channel(State::New);
        let (leave, leaving) = watch::channel(());
        tokio::spawn(self.keep(state, leaving));
        Registered { leave: Arc::new(leave), states }
    }

    /// Keeps the key until it is to leave.
    async fn keep(self, state: watch::Sender<State>, mut leaving: watch::Receiver<()>) {
        let mut lease = None;
        let mut pause = Duration::ZERO;
        loop {
            tokio::select! {
                biased;
                _ = leaving.changed() => break, // Or nobody holds the registration any more.
                () = tokio::time::sleep(pause) => {}
            }
            match self.renew(&mut lease).await {
                Ok(()) => {
                    state.send_replace(State::Registered);
                    pause = self.ttl / 3;
                }
                Err(error) => {
                    tracing::debug!(%error, key = self.key, "registration not renewed");
                    pause = (pause.max(PAUSE_MAX / 16) * 2).min(PAUSE_MAX).min(self.ttl / 3);
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

    /// Renews the lease, or puts the key with another. A key that was deleted is put again: by an operator, or since
    /// another process registered the same address and has left.
    async fn renew(&self, lease: &mut Option<Lease>) -> io::Result<()> {
        let id = match *lease {
            Some(Lease { id, has_key }) if self.etcd.keep_alive(id).await? => {
                if has_key && self.etcd.has(&self.key).await? {
                    return Ok(());
                }
                id
            }
            _ => {
                // Known before the request: a lease whose answer is lost is used next time, or revoked.
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

/// A lease that etcd may have granted.
#[derive(Clone, Copy)]
struct Lease {
    id: i64,
    /// The key was put with it. One of the same name may depend on another lease.
    has_key: bool,
}

/// How far a registration is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Registered,
    Left,
}

/// A server that is registered, by [`Registration::start`]. It leaves [on request](Self::leave), when a server
/// whose service is [around it](Self::around) stops, or when the last clone has been dropped.
#[derive(Clone, Debug)]
#[must_use = "the server leaves when this is dropped"]
pub struct Registered {
    leave: Arc<watch::Sender<()>>,
    states: watch::Receiver<State>,
}

impl Registered {
    /// Waits until the key is in etcd for the first time.
    ///
    /// # Cancel safety
    /// Safe.
    pub async fn registered(&self) {
        let mut states = self.states.clone();
        drop(states.wait_for(|state| *state != State::New).await);
    }

    /// Removes the key, so that no channel looks for the server any more. Ready when that has happened, or after two
    /// seconds if etcd is away; then the key goes with its lease.
    ///
    /// # Cancel safety
    /// Dropping the future leaves in the background.
    pub async fn leave(&self) {
        self.leave.send_replace(());
        let mut states = self.states.clone();
        drop(tokio::time::timeout(2 * LEAVING, states.wait_for(|state| *state == State::Left)).await);
    }

    /// The same service, whose server leaves etcd when it shuts down, before it notifies its clients.
    pub fn around<S: Service>(&self, service: S) -> RegisteredService<S> {
        RegisteredService { service, registered: self.clone() }
    }
}

/// A service whose server leaves etcd before it stops, by [`Registered::around`].
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
