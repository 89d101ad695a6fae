//! Responses, with their metadata and extensions.

use crate::api::extras::{Extras, OptionalExtras, accessors};
use std::fmt;

/// A response: a message or a stream of messages, with metadata and extensions.
///
/// ```
/// use samples::greeter::{Greeting, Name};
/// use frpc::{Request, Response, Status};
///
/// async fn greet(request: Request<Name>) -> Result<Response<Greeting>, Status> {
///     let text = format!("Hello, {}!", request.into_inner().name);
///     let mut response = Response::new(Greeting { text });
///     response.metadata_mut().insert("served-by", "north")?;
///     Ok(response)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Status> {
/// let response = greet(Request::new(Name { name: "Ada".to_owned() })).await?;
/// assert_eq!(response.metadata().get("served-by"), Some("north"));
/// assert_eq!(response.into_inner().text, "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Response<T> {
    message: T,
    pub(crate) extras: OptionalExtras,
}

impl<T> Response<T> {
    /// Creates a response from a message.
    pub fn new(message: T) -> Self {
        Self { message, extras: OptionalExtras::default() }
    }

    /// Splits the response into its message and its metadata with extensions.
    pub(crate) fn into_parts_with_extras(self) -> (T, OptionalExtras) {
        (self.message, self.extras)
    }

    pub(crate) fn from_parts_with_extras(message: T, extras: OptionalExtras) -> Self {
        Self { message, extras }
    }

    /// Returns a reference to the message.
    pub fn get_ref(&self) -> &T {
        &self.message
    }

    /// Returns a mutable reference to the message.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.message
    }

    /// Consumes the response, returning its message.
    pub fn into_inner(self) -> T {
        self.message
    }

    /// Replaces the message with the result of `map`, keeping metadata and extensions.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> Response<U> {
        Response { message: map(self.message), extras: self.extras }
    }
}

accessors!(
    [T] Response<T>,
    extras,
    "frpc::Response<()>",
    "Returns the metadata of the response. At a client, it is empty if the server is a compat peer.",
    "It is not sent to compat peers, because their wire format has no metadata.",
    "Returns the extensions of the response: local values, at most one of each type, which are never sent. A handler \
     uses them to pass values to the [middleware](crate::Middleware) around it, and the middleware of a client uses them \
     to pass values to the caller."
);

impl<T: fmt::Debug> fmt::Debug for Response<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Response");
        shown.field("message", &self.message);
        Extras::show(self.extras.as_deref(), &mut shown);
        shown.finish()
    }
}

impl<T> From<T> for Response<T> {
    fn from(message: T) -> Self {
        Self::new(message)
    }
}
