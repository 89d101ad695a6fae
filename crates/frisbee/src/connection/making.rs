//! Constructors of connection handles.

use super::attachments::Attachments;
use super::{Connection, ConnectionShared, Lifetime};
use crate::Config;
use crate::account::{Account, Admission, Budget};
use crate::executor::tasks::Tasks;
use crate::mailbox::Mailbox;
use crate::mailbox::deferred::Deferred;
use crate::sync::AtomicBool;
use crate::transport::endpoint::EndpointInfo;
use frisbee_core::{ClientConfig, Role, ServerConfig};
use std::sync::atomic::{AtomicU16, AtomicU32};
use std::sync::{Arc, OnceLock};
use tokio::runtime::Handle;

impl Connection {
    /// Creates the handle of a connection that this end has opened.
    pub(crate) fn client(config: &ClientConfig, budget: Arc<Budget>, runtime: Handle, ends: EndpointInfo) -> Self {
        let account = Arc::new(Account::alone(budget));
        let connection = Self::new((Role::Client, false), &config.common, account, runtime, ends, None);
        connection.0.mailbox.lock().outbox.set_form(config.header_form);
        connection
    }

    /// Creates the handle of a connection that this end has accepted.
    pub(crate) fn server(config: &ServerConfig, budget: &Arc<Budget>, runtime: Handle, ends: EndpointInfo) -> Self {
        let admission = budget.enter(ends.caller());
        Self::accepted(config, admission, runtime, ends, false, None)
    }

    /// Like [`server`](Self::server), but with a maximum age for the connection. Set `is_within` for the handle of a
    /// connectionless peer, which is not counted as a connection.
    pub(crate) fn accepted(
        config: &ServerConfig,
        admission: Admission,
        runtime: Handle,
        ends: EndpointInfo,
        is_within: bool,
        lifetime: Option<Lifetime>,
    ) -> Self {
        let account = Arc::new(Account::of_peer(admission));
        Self::new((Role::Server, is_within), &config.common, account, runtime, ends, lifetime.map(Box::new))
    }

    /// Creates the handle of a connection nested in this adapter connection. Both share a memory account, unless `ends`
    /// identifies another caller.
    pub(crate) fn within(&self, config: &ServerConfig, ends: EndpointInfo) -> Self {
        let (outer, runtime) = (&self.0.mailbox.account, self.0.runtime.clone());
        let account = match ends.caller() {
            same if same == self.ends().caller() => outer.clone(),
            caller => Arc::new(Account::of_peer(outer.budget().enter_without_socket(caller))),
        };
        Self::new((Role::Server, true), &config.common, account, runtime, ends, self.0.lifetime.clone())
    }

    fn new(
        (role, is_within): (Role, bool),
        config: &Config,
        account: Arc<Account>,
        runtime: Handle,
        ends: EndpointInfo,
        lifetime: Option<Box<Lifetime>>,
    ) -> Self {
        let mailbox = Mailbox::new(config.body_limit(), config.backlog_max, account);
        Self(Arc::new(ConnectionShared {
            mailbox,
            work: Tasks::default(),
            deferred: Deferred::default(),
            attachments: Attachments::new(),
            role,
            is_within,
            is_at_eof: AtomicBool::new(false),
            routed: AtomicU16::new(0),
            peer_streams: AtomicU32::new(0),
            calls_max: config.calls_max,
            body_max: config.body_limit(),
            streams_max: u32::try_from(config.streams_max).unwrap_or(u32::MAX),
            turn_max: u32::try_from(config.turn_max.as_micros()).unwrap_or(u32::MAX),
            stream_credit: config.stream_credit.max(1),
            runtime,
            home: OnceLock::new(),
            lifetime,
            ends,
        }))
    }
}
