//! [`Topics`]: publishing and subscribing over a separate connection, which the background thread of the process
//! drives.

use crate::client::{Started, start};
use crate::drive::{self, Waiter};
use crate::fork::Forkable;
use crate::inbox::Inbox;
use crate::lanes::{Settings, Site, Tls};
use crate::ready::{NextItem, ReadySlot};
use crate::reply::Reply;
use crate::status::{none, raised};
use bytes::Bytes;
use frpc::Status;
use frpc::frisbee::{Config, memory};
use frpc::pubsub::{Broker, Client, Message, Position, RecvError, Start, Subscription};
use pyo3::exceptions::{PyStopAsyncIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, watch};

/// Number of times that a call checks whether a lost connection has been replaced. With the pauses, it waits for 5 s.
const RECONNECT_ATTEMPTS: u32 = 250;
const RECONNECT_PAUSE: Duration = Duration::from_millis(20);

/// Where a subscription starts, given as a word or as the epoch and offset of the message before its first one.
#[derive(FromPyObject)]
pub(crate) enum Begin {
    Word(String),
    After((u64, u64)),
}

impl Begin {
    fn start(self) -> PyResult<Start> {
        Ok(match self {
            Self::Word(word) if word == "now" => Start::Now,
            Self::Word(word) if word == "last" => Start::Last,
            Self::Word(word) if word == "oldest" => Start::Oldest,
            Self::Word(word) => {
                return Err(PyValueError::new_err(format!(
                    "start {word:?} is not \"now\", \"last\", \"oldest\" or a position"
                )));
            }
            Self::After((epoch, offset)) => Start::After(Position { epoch, offset }),
        })
    }
}

/// Topics of a message broker, as seen from Python.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Topics {
    shared: Forkable<Arc<Shared>>,
    runtime: Handle,
}

struct Shared {
    from: From,
    /// Connection to the broker. Established at the first use, and again after it has closed.
    client: Mutex<Option<Client>>,
    is_closed: watch::Sender<bool>,
}

/// Where the broker is located: in this process or in a server.
enum From {
    Server(Settings),
    /// The broker runs in this process. Contains the maximum length of its messages in bytes, unless it is the default.
    Here(Broker, Option<u32>),
}

#[pymethods]
impl Topics {
    /// Creates the topics of the broker in a server.
    #[new]
    #[pyo3(signature = (address, tls = None, server_name = None, body_max = None))]
    fn new(address: &str, tls: Option<Tls>, server_name: Option<String>, body_max: Option<u32>) -> PyResult<Self> {
        Self::of(From::Server(Settings::new(address, tls, server_name, None, body_max)?))
    }

    /// Publishes a message to a topic. Returns once the message is being sent.
    fn publish(&self, py: Python<'_>, topic: String, payload: Vec<u8>) -> PyResult<()> {
        self.wait(py, publish(self.shared()?, topic, payload.into()))
    }

    /// Starts [`publish`](Self::publish) and completes a [`Reply`] afterwards.
    fn start_publish(
        &self,
        py: Python<'_>,
        topic: String,
        payload: Vec<u8>,
        inbox: &Inbox,
        future: Py<Reply>,
    ) -> PyResult<Started> {
        self.begin(py, inbox, future, publish(self.shared()?, topic, payload.into()))
    }

    /// Waits until the broker has received all messages published before.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.wait(py, sync(self.shared()?))
    }

    /// Starts [`sync`](Self::sync) and completes a [`Reply`] afterwards.
    fn start_sync(&self, py: Python<'_>, inbox: &Inbox, future: Py<Reply>) -> PyResult<Started> {
        self.begin(py, inbox, future, sync(self.shared()?))
    }

    /// Subscribes to a topic pattern and waits until the subscription is active.
    #[pyo3(signature = (pattern, group = None, start = None))]
    fn subscribe(
        &self,
        py: Python<'_>,
        pattern: String,
        group: Option<String>,
        start: Option<Begin>,
    ) -> PyResult<Subscribed> {
        let start = start.map(Begin::start).transpose()?;
        let subscription = self.wait(py, subscribe(self.shared()?, pattern, group, start))?;
        Ok(Subscribed::new(subscription, self))
    }

    /// Starts [`subscribe`](Self::subscribe) and completes a [`Reply`] with the subscription.
    #[pyo3(signature = (pattern, group, start, inbox, future))]
    fn start_subscribe(
        slf: &Bound<'_, Self>,
        pattern: String,
        group: Option<String>,
        start: Option<Begin>,
        inbox: &Inbox,
        future: Py<Reply>,
    ) -> PyResult<Started> {
        let (py, this) = (slf.py(), slf.get());
        let begin = start.map(Begin::start).transpose()?;
        let topics = slf.clone().unbind();
        let work = subscribe(this.shared()?, pattern, group, begin);
        crate::client::start(py, &this.site(), inbox, future, work, move |py, subscription| {
            let subscription = subscription.map_err(|status| raised(py, &status))?;
            Ok(Py::new(py, Subscribed::new(subscription, topics.get()))?.into_bound(py).into_any())
        })
    }

    /// Closes the connection with its subscriptions and wakes all waiting callers. If the connection was created by the
    /// parent process of a fork, it stays open.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Ok(shared) = self.shared() else { return Ok(()) };
        // Set the flag first, so that callers that are still connecting fail and release the lock of `client`.
        shared.is_closed.send_replace(true);
        self.wait(py, async move {
            if let Some(client) = shared.client.lock().await.take() {
                client.close();
            }
            Ok(())
        })
    }
}

impl Topics {
    fn of(from: From) -> PyResult<Self> {
        let shared = Arc::new(Shared { from, client: Mutex::new(None), is_closed: watch::Sender::new(false) });
        Ok(Self { shared: Forkable::new(shared), runtime: drive::background()? })
    }

    fn shared(&self) -> PyResult<Arc<Shared>> {
        self.shared.get().cloned()
    }

    /// Creates the topics of a broker in this process.
    pub(crate) fn in_process(broker: Broker, body_max: Option<u32>) -> PyResult<Self> {
        Self::of(From::Here(broker, body_max))
    }

    fn site(&self) -> Site {
        Site::Thread(self.runtime.clone())
    }

    fn wait<T: Send>(&self, py: Python<'_>, work: impl Future<Output = Result<T, Status>> + Send) -> PyResult<T> {
        Waiter::Other(&self.runtime).wait(py, work)?.map_err(|status| raised(py, &status))
    }

    fn begin(
        &self,
        py: Python<'_>,
        inbox: &Inbox,
        future: Py<Reply>,
        work: impl Future<Output = Result<(), Status>> + Send + 'static,
    ) -> PyResult<Started> {
        start(py, &self.site(), inbox, future, work, none)
    }
}

impl Shared {
    async fn client(&self) -> Result<Client, Status> {
        let mut is_closed = self.is_closed.subscribe();
        tokio::select! {
            // Poll the flag first, so that a closed object opens no connection.
            biased;
            () = async { drop(is_closed.wait_for(|is_closed| *is_closed).await) } => Err(Status::failed_precondition("the topics are closed")),
            client = self.connected() => client,
        }
    }

    async fn connected(&self) -> Result<Client, Status> {
        // Hold the lock while connecting, so that concurrent callers do not create two clients.
        let mut client = self.client.lock().await;
        if let Some(known) = client.as_ref() {
            let known = known.clone();
            // Release the lock before waiting, so that other calls can wait concurrently.
            drop(client);
            // Wait until a lost connection has been replaced on behalf of its subscriptions.
            let is_open = || known.connection().is_ok_and(|connection| !connection.is_closed());
            for _ in 0..RECONNECT_ATTEMPTS {
                if is_open() {
                    break;
                }
                tokio::time::sleep(RECONNECT_PAUSE).await;
            }
            return Ok(known);
        }
        let made = match &self.from {
            From::Server(settings) => settings.topics().await?,
            From::Here(broker, body_max) => within(broker, *body_max).await?,
        };
        *client = Some(made.clone());
        Ok(made)
    }
}

/// Connects a client to a broker in this process.
async fn within(broker: &Broker, body_max: Option<u32>) -> Result<Client, Status> {
    let unavailable = |error: &dyn std::fmt::Display| Status::unavailable(error.to_string());
    let config = body_max.map_or_else(Config::default, |body_max| Config::default().body_max(body_max));
    let acceptor = frpc::frisbee::Server::builder().config(config.clone()).build(broker.clone());
    let acceptor = acceptor.map_err(|error| unavailable(&error))?;
    let connector = move || {
        let (ours, theirs) = memory();
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // Ignore the error, because the other end reports it.
            let _ = acceptor.serve_connection(theirs).await;
        });
        async { Ok(ours) }
    };
    let client = Client::connect_with_connector(frpc::frisbee::Client::builder().config(config), connector).await;
    client.map_err(|error| unavailable(&error))
}

async fn publish(shared: Arc<Shared>, topic: String, payload: Bytes) -> Result<(), Status> {
    Ok(shared.client().await?.publish(&topic, payload).await?)
}

async fn sync(shared: Arc<Shared>) -> Result<(), Status> {
    Ok(shared.client().await?.sync().await?)
}

async fn subscribe(
    shared: Arc<Shared>,
    pattern: String,
    group: Option<String>,
    start: Option<Start>,
) -> Result<Subscription, Status> {
    let client = shared.client().await?;
    Ok(match (group, start) {
        (Some(_), Some(_)) => return Err(Status::invalid_argument("a group has no history: leave out start or group")),
        (Some(group), None) => client.queue_subscribe(&pattern, &group).await?,
        (None, Some(start)) => client.subscribe_from(&pattern, start).await?,
        (None, None) => client.subscribe(&pattern).await?,
    })
}

/// A subscription to topics, as a Python object.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Subscribed {
    slot: Forkable<ReadySlot<OpenSubscription, Result<Option<Message>, Status>>>,
    /// Notified when the subscription is closed, to wake a receiver that is waiting for a message.
    over: Arc<tokio::sync::Notify>,
    runtime: Handle,
}

struct OpenSubscription {
    /// The subscription. `None` once it has ended.
    subscription: Option<Subscription>,
    over: Arc<tokio::sync::Notify>,
}

impl NextItem<Result<Option<Message>, Status>> for OpenSubscription {
    async fn next_item(&mut self) -> Result<Option<Message>, Status> {
        let Some(open) = self.subscription.as_mut() else { return Ok(None) };
        let received = tokio::select! {
            received = open.recv() => received,
            () = self.over.notified() => {
                self.subscription = None;
                return Ok(None);
            }
        };
        received.map(Some).map_err(|error| {
            if matches!(error, RecvError::Closed(_)) {
                self.subscription = None;
            }
            error.into()
        })
    }
}

impl Subscribed {
    fn new(subscription: Subscription, topics: &Topics) -> Self {
        let over = Arc::<tokio::sync::Notify>::default();
        let slot = ReadySlot::new(OpenSubscription { subscription: Some(subscription), over: over.clone() });
        Self { slot: Forkable::new(slot), over, runtime: topics.runtime.clone() }
    }
}

type MessageParts<'py> = (String, Bound<'py, PyBytes>, Option<(u64, u64)>);

fn shown<'py>(py: Python<'py>, message: &Message) -> MessageParts<'py> {
    let position = message.position().map(|position| (position.epoch, position.offset));
    (message.topic().to_owned(), PyBytes::new(py, message.payload()), position)
}

#[pymethods]
impl Subscribed {
    /// Waits for the next message and returns its topic and bytes. Returns `None` once the subscription is closed.
    fn next_message<'py>(&self, py: Python<'py>) -> PyResult<Option<MessageParts<'py>>> {
        let slot = self.slot.get()?;
        loop {
            Waiter::Other(&self.runtime).wait(py, slot.clone().fill())?;
            // Raise the exception of a signal that arrived before the message, which remains the next one.
            py.check_signals()?;
            if let Some(next) = slot.take() {
                let message = next.map_err(|status| raised(py, &status))?;
                return Ok(message.map(|message| shown(py, &message)));
            }
        }
    }

    /// Starts waiting for the next message and completes a [`Reply`] when it arrives.
    fn start_next(&self, py: Python<'_>, inbox: &Inbox, future: Py<Reply>) -> PyResult<Started> {
        self.slot.get()?.start(py, &Site::Thread(self.runtime.clone()), inbox, future)
    }

    /// Returns the received message as a 1-tuple, or `None` if another task has taken it.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Some(next) = self.slot.get()?.take() else { return Ok(None) };
        let message = next.map_err(|status| raised(py, &status))?.ok_or_else(|| PyStopAsyncIteration::new_err(()))?;
        PyTuple::new(py, [shown(py, &message)]).map(Some)
    }

    /// Ends the subscription. Does nothing to a subscription of the parent process after a fork.
    fn close(&self) {
        let Ok(slot) = self.slot.get() else { return };
        slot.take();
        match slot.stream().try_lock() {
            Ok(mut open) => open.subscription = None,
            Err(_) => {
                // A reader holds the lock. If it is waiting for a message, it ends the subscription.
                self.over.notify_one();
                // Also end the subscription once the lock is free, because a reader that was just cancelled or has
                // just received a message does not notice the notification.
                let stream = slot.stream().clone();
                self.runtime.spawn(async move { stream.lock().await.subscription = None });
            }
        }
    }
}

impl Settings {
    /// Connects to the broker of a server.
    async fn topics(&self) -> Result<Client, Status> {
        let client = Client::connect_with(self.frisbee_builder(), self.address()).await;
        client.map_err(|error| Status::unavailable(error.to_string()))
    }
}
