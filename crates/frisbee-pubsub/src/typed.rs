//! Typed topics: messages have a schema type and are encoded by polyglot.

use crate::{Client, Message, Position, PubSubError, Publisher, RecvError, Start, Subscription};
use bytes::Bytes;
use frisbee::{PacketWriter, PeerKind, SendError};
use polyglot::layout::{Fingerprint, Limits, MessageReader};
use polyglot::{CONTAINER_MEMORY_MAX, DecodeError, Decoder, EncodeError, Encoder, Form, Nesting, Root};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// Time after an unanswered request during which a subscription requests no other layout description. It limits the
/// delay that messages of unknown versions cause, because each request may take 2 s.
const DESCRIPTION_PAUSE: Duration = Duration::from_secs(10);

/// A topic or pattern with messages of one type.
///
/// Publishers and subscribers agree on the type by using the same [`Topic`]. Both must support the protocol extension,
/// because messages are encoded in Polyglot's extended form.
///
/// # Versions
///
/// Messages in histories and durable topics can outlive the program that has published them. If the type has a
/// [layout](polyglot::Message::LAYOUT), each message contains the fingerprint of the layout, and the publisher
/// announces the layout's description to its broker. Messages without a fingerprint are decoded as messages of this
/// version.
///
/// A subscription translates messages of other versions. For each version, it requests the description from its broker
/// once and waits for at most 2 s. If there is no description, and the subscription does not [read](Self::reads) that
/// version, it rejects the message with [`RecvError::Undecodable`]. It then requests no other description for 10 s.
///
/// ```
/// use frisbee_pubsub::{Broker, Client, Topic};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use polyglot::{DecodeError, Decoder, EncodeError, Encoder, Fields};
/// # #[derive(Debug, Default, PartialEq)]
/// # struct Order { apples: u32 }
/// # impl Fields for Order {
/// #     const NAME: &'static str = "orders.Order";
/// #     fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> { to.field("apples", &self.apples) }
/// #     fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> { Ok(Self { apples: from.field("apples")? }) }
/// # }
/// # let server = frisbee::Server::builder().bind("127.0.0.1:0", Broker::new()).await?;
/// # let address = server.local_addr();
/// # tokio::spawn(server.serve());
/// let created = Topic::<Order>::new("orders.created");
///
/// let reader = Client::connect(address).await?;
/// let mut orders = created.subscribe(&reader).await?;
///
/// let writer = Client::connect(address).await?;
/// created.publish(&writer, &Order { apples: 42 }).await?;
///
/// let order = orders.recv().await?;
/// assert_eq!(order.get_ref().apples, 42);
/// # Ok(())
/// # }
/// ```
pub struct Topic<M> {
    name: Box<str>,
    nesting: Nesting,
    reader: Arc<MessageReader>,
    message: PhantomData<fn() -> M>,
}

impl<M: polyglot::Message> Topic<M> {
    /// Creates a topic, or a pattern to subscribe to. The name is validated when it is used.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), nesting: Nesting::default(), reader: Arc::default(), message: PhantomData }
    }

    /// Sets the maximum nesting depth of received messages, up to 200. Defaults to 100.
    pub fn nesting_max(self, levels: u32) -> Self {
        Self { nesting: Nesting::new(levels), ..self }
    }

    /// Also accepts another version of the message, such as `v1::Order`, which is generated from an older schema into a
    /// separate module. Messages of that version are translated with the rules of protobuf. A message with an
    /// incompatible field is rejected. This is only necessary for messages that may outlive their publisher, such as
    /// those in durable topics and files.
    ///
    /// Fails to compile unless both types have a [layout](polyglot::Message::LAYOUT), which the option
    /// `message_layouts` of frpc-build generates.
    pub fn reads<Old: polyglot::Message>(mut self) -> Self {
        Arc::make_mut(&mut self.reader).add::<M, Old>();
        self
    }

    /// Returns the name of the topic or pattern.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Publishes a message once the connection has space for it.
    ///
    /// # Errors
    /// If the name is not a valid topic, the message cannot be encoded or is too long, or the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future before completion publishes nothing.
    pub async fn publish(&self, client: &Client, message: &M) -> Result<(), PubSubError> {
        self.publisher(client)?.publish(message).await
    }

    /// Creates a publisher for this topic. The name is validated here instead of for each message.
    ///
    /// # Errors
    /// If the name is not a valid topic, or there is no connection yet.
    pub fn publisher(&self, client: &Client) -> Result<TopicPublisher<M>, PubSubError> {
        let publisher = client.publisher(&self.name)?;
        if let Some(layout) = M::LAYOUT {
            client.0.announce(layout, &client.connection()?);
        }
        Ok(TopicPublisher { publisher, is_limit_known: AtomicBool::new(false), message: PhantomData })
    }

    /// Subscribes like [`Client::subscribe`]. If the connection is new, first waits until it is known whether the peer
    /// supports the protocol extension.
    ///
    /// # Errors
    /// If the name is not a valid pattern, the peer does not support the protocol extension or rejects the
    /// subscription, or the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future before completion cancels the subscription.
    pub async fn subscribe(&self, client: &Client) -> Result<TopicSubscription<M>, PubSubError> {
        self.subscription(client, client.subscribe(&self.name)).await
    }

    /// Subscribes to the topics from the given start position, like [`Client::subscribe_from`]. For topics without a
    /// history, the subscription starts with the next message.
    ///
    /// # Errors
    /// Same as [`subscribe`](Self::subscribe).
    ///
    /// # Cancel safety
    /// Same as [`subscribe`](Self::subscribe).
    pub async fn subscribe_from(&self, client: &Client, start: Start) -> Result<TopicSubscription<M>, PubSubError> {
        self.subscription(client, client.subscribe_from(&self.name, start)).await
    }

    /// Subscribes as a member of a queue group, like [`Client::queue_subscribe`].
    ///
    /// # Errors
    /// Same as [`subscribe`](Self::subscribe).
    ///
    /// # Cancel safety
    /// Same as [`subscribe`](Self::subscribe).
    pub async fn queue_subscribe(&self, client: &Client, group: &str) -> Result<TopicSubscription<M>, PubSubError> {
        self.subscription(client, client.queue_subscribe(&self.name, group)).await
    }

    /// Subscribes by `subscribing` once it is known that the peer supports the protocol extension.
    async fn subscription(
        &self,
        client: &Client,
        subscribing: impl Future<Output = Result<Subscription, PubSubError>>,
    ) -> Result<TopicSubscription<M>, PubSubError> {
        if !matches!(client.connection()?.peer_known().await?, PeerKind::Native(_)) {
            return Err(PubSubError::NotNative);
        }
        Ok(TopicSubscription { subscription: subscribing.await?, topic: self.clone(), unread: None, unanswered: None })
    }

    /// Encodes a message with the fingerprint of its layout, as [`publish`](Self::publish) does, for durable topics and
    /// files.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use frisbee_pubsub::Topic;
    ///
    /// let names = Topic::<String>::new("names");
    /// let stored = Bytes::from(names.encode(&"Ada".to_owned())?);
    /// assert_eq!(names.decode(&stored)?, "Ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the message cannot be encoded.
    pub fn encode(&self, message: &M) -> Result<Vec<u8>, PubSubError> {
        let mut body = Vec::new();
        if let Some(layout) = M::LAYOUT {
            layout.put_mark(&mut body);
        }
        let mut encoder = Encoder::new(&mut body).with_form(Form::Extended);
        polyglot::encode_root(message, &mut encoder).map_err(|error| unencodable::<M>(&error))?;
        Ok(body)
    }

    /// Decodes a message that was encoded by [`encode`](Self::encode) or received from a topic, if it has one of the
    /// versions that this topic [reads](Self::reads).
    ///
    /// # Errors
    /// [`RecvError::Undecodable`] if the message has an unknown or incompatible version, or is malformed.
    pub fn decode(&self, stored: &Bytes) -> Result<M, RecvError> {
        self.decode_or_unknown(stored).map_err(|(why, _)| RecvError::Undecodable(format!("the message is {why}")))
    }

    /// Decodes a message. On failure, returns the reason. If the layout of the message is unknown, also returns its
    /// fingerprint.
    fn decode_or_unknown(&self, stored: &Bytes) -> Result<M, (String, Option<Fingerprint>)> {
        let limits = Limits { body: stored.len().max(frisbee::BODY_MAX as usize), nesting: self.nesting };
        let body = self.reader.read::<M>(stored, limits);
        let body = body.map_err(|error| (error.to_string(), error.unknown_layout()))?;
        let failure = match decode(&shared(stored, body), self.nesting) {
            Ok(Root::Message(message)) => return Ok(message),
            Ok(Root::Error(text)) => format!("an error: {text}"),
            Err(error) => format!("not a valid {}: {error}", M::NAME),
        };
        Err((failure, None))
    }
}

impl<M> Clone for Topic<M> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), nesting: self.nesting, reader: self.reader.clone(), message: PhantomData }
    }
}

impl<M> fmt::Debug for Topic<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Topic").field(&self.name).finish()
    }
}

/// Publishes messages of one type to a single topic.
pub struct TopicPublisher<M> {
    publisher: Publisher,
    /// Whether the maximum message size of the broker is known.
    is_limit_known: AtomicBool,
    message: PhantomData<fn() -> M>,
}

impl<M: polyglot::Message> TopicPublisher<M> {
    /// Publishes a message once the connection has space for it. On a new connection, first waits until the broker's
    /// limit is known. The message is encoded directly into the outbox. Long `Bytes` and `Utf8Bytes` are not copied.
    ///
    /// # Errors
    /// If the message cannot be encoded or is too long, or the connection is closed.
    ///
    /// # Cancel safety
    /// Dropping the future before completion publishes nothing.
    pub async fn publish(&self, message: &M) -> Result<(), PubSubError> {
        if !self.is_limit_known.load(Ordering::Relaxed) {
            // A message above the limit would close the connection.
            self.publisher.limit_known().await;
            self.is_limit_known.store(true, Ordering::Relaxed);
        }
        self.publisher.publish_with(|packet| put(packet, message)).await?
    }
}

impl<M> Clone for TopicPublisher<M> {
    fn clone(&self) -> Self {
        let is_limit_known = AtomicBool::new(self.is_limit_known.load(Ordering::Relaxed));
        Self { publisher: self.publisher.clone(), is_limit_known, message: PhantomData }
    }
}

impl<M> fmt::Debug for TopicPublisher<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TopicPublisher").field(&self.publisher).finish()
    }
}

/// A subscription to messages of one type. Dropping the subscription ends it.
pub struct TopicSubscription<M> {
    subscription: Subscription,
    topic: Topic<M>,
    /// Received message that waits for the description of its layout.
    unread: Option<Message>,
    /// Time of the last request for a description that the broker left unanswered.
    unanswered: Option<Instant>,
}

impl<M: polyglot::Message> TopicSubscription<M> {
    /// Waits for the next message and returns it.
    ///
    /// # Errors
    /// If messages before this point were lost, or if the message cannot be decoded as an `M`. The next call continues
    /// afterwards. Once the connection is closed, every call fails.
    ///
    /// # Cancel safety
    /// Dropping the future loses no message.
    pub async fn recv(&mut self) -> Result<TopicMessage<M>, RecvError> {
        let received = match self.unread.take() {
            Some(unread) => unread,
            None => self.subscription.recv().await?,
        };
        loop {
            let (why, unknown) = match self.topic.decode_or_unknown(received.payload()) {
                Ok(message) => return Ok(TopicMessage { received, message }),
                Err(failure) => failure,
            };
            let may_ask = self.unanswered.is_none_or(|last| last.elapsed() >= DESCRIPTION_PAUSE);
            if let Some(fingerprint) = unknown.filter(|_| may_ask) {
                // Keep the message, so that the next call continues with it if this call is cancelled.
                self.unread = Some(received.clone());
                let description = self.subscription.shared.layout(fingerprint).await;
                self.unread = None;
                if let Some(description) = description {
                    Arc::make_mut(&mut self.topic.reader).learn::<M>(&description);
                    continue;
                }
                self.unanswered = Some(Instant::now());
            }
            return Err(RecvError::Undecodable(format!("the message on {} is {why}", received.topic())));
        }
    }
}

impl<M> fmt::Debug for TopicSubscription<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TopicSubscription").field(&self.subscription).finish()
    }
}

/// A message received from a typed topic.
#[derive(Clone, PartialEq, Debug)]
pub struct TopicMessage<M> {
    received: Message,
    message: M,
}

impl<M> TopicMessage<M> {
    /// Returns the topic of the message.
    pub fn topic(&self) -> &str {
        self.received.topic()
    }

    /// Returns the position of the message in the history of its topic; see [`Message::position`].
    pub fn position(&self) -> Option<Position> {
        self.received.position()
    }

    /// Returns a reference to the decoded message.
    pub fn get_ref(&self) -> &M {
        &self.message
    }

    /// Returns the decoded message and discards its topic and position.
    pub fn into_inner(self) -> M {
        self.message
    }
}

fn put<M: polyglot::Message>(mut packet: PacketWriter<'_>, message: &M) -> Result<(), PubSubError> {
    let mut bulk = Vec::new();
    if let Some(layout) = M::LAYOUT {
        layout.put_mark(packet.buffer());
    }
    let encoder = Encoder::gathering(packet.buffer(), &mut bulk).copying(frisbee::copy_to_share);
    polyglot::encode_root(message, &mut encoder.with_form(Form::Extended)).map_err(|error| unencodable::<M>(&error))?;
    bulk.into_iter().for_each(|part| packet.gather(part.at, part.bytes));
    packet.finish().map_err(|error| SendError::TooLong(error).into())
}

fn unencodable<M: polyglot::Message>(error: &EncodeError) -> PubSubError {
    PubSubError::Encoding(format!("{} cannot be encoded: {error}", M::NAME))
}

/// Returns the decoded body as [`Bytes`]. A body that is part of `payload` shares its memory. A body that was
/// translated is copied.
fn shared(payload: &Bytes, body: Cow<'_, [u8]>) -> Bytes {
    match body {
        Cow::Borrowed(body) => payload.slice_ref(body),
        Cow::Owned(body) => body.into(),
    }
}

/// Decodes a message. If the body is longer than the default maximum, the memory limit for lists and maps is increased
/// in proportion.
fn decode<M: polyglot::Message>(body: &Bytes, nesting: Nesting) -> Result<Root<M>, DecodeError> {
    const TIMES: usize = CONTAINER_MEMORY_MAX / frisbee::BODY_MAX as usize;
    let memory = CONTAINER_MEMORY_MAX.max(body.len().saturating_mul(TIMES));
    polyglot::decode_root(&mut Decoder::shared(body).with_nesting(nesting).with_container_memory(memory))
}
