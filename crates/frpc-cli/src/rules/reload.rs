//! Access rules that are reloaded without a restart of the gateway. New rules also apply to open connections.

use frpc::{Admitted, Authorize, Connection, Metadata, PeerRules, Status};
use frpc_access::Access;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Handle to the current access rules. Replacing the rules through one clone affects all clones.
#[derive(Clone)]
pub(crate) struct CurrentRules(Arc<Mutex<Rules>>);

struct Rules {
    access: Access,
    /// Number of replacements of the rules. Connections compare it to detect that their rules are outdated.
    generation: u64,
    /// Methods of the server. Connections refer to a method by its index in this list.
    methods: Vec<String>,
}

/// Peer of a connection. Its calls are checked against the rules that are in force when the call is made.
struct CurrentPeer {
    rules: CurrentRules,
    connection: Connection,
    judged: Mutex<(u64, Arc<dyn PeerRules>)>,
}

impl CurrentRules {
    pub(crate) fn new(access: Access) -> Self {
        Self(Arc::new(Mutex::new(Rules { access, generation: 0, methods: Vec::new() })))
    }

    /// Replaces the access rules. This resets all rate limits, so callers may make a full burst of calls again.
    pub(crate) fn replace(&self, access: Access) {
        let mut rules = lock(&self.0);
        rules.access = access;
        rules.generation += 1;
    }
}

/// Locks a mutex. The mutex is never poisoned, because no code panics while it holds the lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Authorize for CurrentRules {
    fn methods(&self) -> Vec<String> {
        lock(&self.0).access.methods()
    }

    /// Assigns a number to a method, even if no rule mentions it, because later rules may.
    fn rule(&self, method: &str) -> Option<usize> {
        let mut rules = lock(&self.0);
        rules.methods.push(method.to_owned());
        Some(rules.methods.len() - 1)
    }

    fn connected(&self, connection: &Connection) -> Arc<dyn PeerRules> {
        let rules = lock(&self.0);
        let judged = Mutex::new((rules.generation, rules.access.connected(connection)));
        drop(rules);
        Arc::new(CurrentPeer { rules: self.clone(), connection: connection.clone(), judged })
    }
}

impl CurrentPeer {
    /// Returns the current rules for this peer, and the number of the method in these rules.
    fn current(&self, method: Option<usize>) -> (Arc<dyn PeerRules>, Option<usize>) {
        let rules = lock(&self.rules.0);
        let mut judged = lock(&self.judged);
        if judged.0 != rules.generation {
            *judged = (rules.generation, rules.access.connected(&self.connection));
        }
        let rule = method.and_then(|number| rules.methods.get(number)).and_then(|method| rules.access.rule(method));
        (judged.1.clone(), rule)
    }
}

impl PeerRules for CurrentPeer {
    fn admit(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<Admitted, Status> {
        let (peer, rule) = self.current(rule);
        peer.admit(rule, method, metadata)
    }

    fn check(&self, rule: Option<usize>, method: &dyn fmt::Display, metadata: &Metadata) -> Result<(), Status> {
        let (peer, rule) = self.current(rule);
        peer.check(rule, method, metadata)
    }

    fn check_caller(&self, metadata: &Metadata) -> Result<(), Status> {
        self.current(None).0.check_caller(metadata)
    }

    fn admit_mounted(&self, operation: u16) -> Result<(), Status> {
        self.current(None).0.admit_mounted(operation)
    }

    fn admit_fallback(&self) -> Result<(), Status> {
        self.current(None).0.admit_fallback()
    }
}
