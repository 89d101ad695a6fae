//! The calls inside of a channel's middleware. When one has ended, the next begins in its place, where only that is put
//! which is its own.

use super::{Stage, Unary};
use crate::Status;
use crate::api::extras::Held;
use crate::api::middleware::{Begins, Makes, Parts};
use crate::client::channel::Channel;
use crate::schema::method::Method;
use polyglot::Message;
use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A call that is to begin inside of the middleware of its channel.
pub(super) struct Coming<'a, A, B> {
    channel: &'a Channel,
    method: &'static Method,
    message: &'a mut A,
    reply: PhantomData<fn() -> B>,
}

impl<'a, A, B> Coming<'a, A, B> {
    /// Takes the message out when it begins.
    #[inline(always)]
    pub(super) fn new(channel: &'a Channel, method: &'static Method, message: &'a mut A) -> Self {
        Self { channel, method, message, reply: PhantomData }
    }
}

impl<A, B> Begins for Coming<'_, A, B>
where
    A: Message + Send + Sync + 'static,
    B: Message + Send + 'static,
{
    type Place = Inner<A, B>;

    #[inline(always)]
    fn begin_in(self, place: &mut Inner<A, B>) {
        let call = &mut place.call;
        if !Arc::ptr_eq(&call.channel.inner, &self.channel.inner) {
            call.channel = self.channel.plain();
        }
        call.method = self.method;
        call.message = std::mem::take(self.message);
    }

    #[cold]
    #[inline(never)]
    fn begin_apart(self) -> Pin<Box<dyn Makes>> {
        let call = Unary {
            channel: self.channel.plain(),
            method: self.method,
            timeout: None,
            message: std::mem::take(self.message),
            extras: Held::default(),
            stage: Stage::New,
        };
        Box::pin(Inner { call, reply: None::<B> })
    }
}

/// A call inside of the middleware of its channel, then its reply, then nothing but the channel.
pub(super) struct Inner<A, B> {
    call: Unary<'static, Channel, A, B>,
    reply: Option<B>,
}

/// No part of it is pinned.
impl<A, B> Unpin for Inner<A, B> {}

impl<A, B> Makes for Inner<A, B>
where
    A: Message + Send + Sync + 'static,
    B: Message + Send + 'static,
{
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<&mut Parts>,
        extras: &mut Held,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), Status>> {
        let Self { call, reply } = self.get_mut();
        if let Some(parts) = coming {
            (call.timeout, call.extras) = parts.take_own();
        }
        let ended = match ready!(call.poll_here(context)) {
            Ok(response) => {
                let (message, beside) = response.apart();
                (*reply, *extras) = (Some(message), beside);
                Ok(())
            }
            Err(status) => Err(status),
        };
        (call.message, call.extras, call.stage) = (A::default(), Held::default(), Stage::New);
        Poll::Ready(ended)
    }

    fn place(self: Pin<&mut Self>) -> &mut dyn Any {
        self.get_mut()
    }

    fn reply(self: Pin<&mut Self>) -> &mut dyn Any {
        &mut self.get_mut().reply
    }
}
