//! Which methods are tools, and how they are called.

use super::InFlight;
use super::tools::{NAME_MAX, Tools};
use frpc::AdapterContext;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The time of a tool call. The public SDKs wait for a minute.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The longest result: more than the context of most models holds. It is sent twice, as structure and as text.
const RESULT_MAX: usize = 1024 * 1024;

/// The most tools in a page of the list: with their schemas about 100 KiB.
const PAGE_MAX: usize = 50;

/// Tools for agents: methods of chosen services as tools of the Model Context Protocol.
///
/// **No method is a tool unless it was chosen here**, by its name or [by the schema](Self::marked). Unary methods and those
/// with a stream of responses can be tools, if their code was generated with `json(true)`:
///
/// ```
/// use frpc_gateway::{Gateway, Mcp};
///
/// let mcp = Mcp::new().service("shop.Orders").method_as("greet.Greeter/Greet", "greet");
/// let gateway = Gateway::new().mcp(mcp);
/// ```
///
/// A tool has the comment of its method as its description, and JSON Schemas of both messages. `idempotency_level` becomes
/// its annotations: `NO_SIDE_EFFECTS` is read-only, `IDEMPOTENT` is idempotent, and every other method may be destructive.
/// Clients decide by these and by the comments whether a person has to confirm a call.
///
/// Tools pass the same middleware, [rules](frpc::Authorize), deadlines and limits as calls in other protocols. The list has only
/// the tools that the rules allow to the caller.
///
/// Clients reach the tools by POST at `/mcp`, within the [locks](crate::Http) of HTTP, and by lines over TCP, which
/// `frpc mcp --to ADDRESS` connects to standard input and output.
#[derive(Clone, Debug)]
#[must_use]
pub struct Mcp {
    pub(crate) chosen: Vec<ToolSelection>,
    /// Names of services and methods that are no tools.
    pub(crate) excluded: Vec<String>,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) result_max: usize,
    pub(crate) page_max: usize,
    pub(crate) resource: Option<Resource>,
    /// Made of the services when the first client comes.
    tools: Arc<OnceLock<Tools>>,
    pub(crate) in_flight: Arc<InFlight>,
}

/// Methods that are tools.
#[derive(Clone, Debug)]
pub(crate) enum ToolSelection {
    /// Those that the schema marks.
    Marked,
    Service(String),
    /// A method, and the name of its tool unless that is made of the method's.
    Method(String, Option<String>),
}

/// The endpoint as a protected resource of OAuth (RFC 9728).
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) url: String,
    pub(crate) authorization_servers: Vec<String>,
    pub(crate) scopes: Vec<String>,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            chosen: Vec::new(),
            excluded: Vec::new(),
            name: "frpc".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            timeout: TIMEOUT,
            result_max: RESULT_MAX,
            page_max: PAGE_MAX,
            resource: None,
            tools: Arc::default(),
            in_flight: Arc::default(),
        }
    }
}

impl Mcp {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the methods tools that the schema marks by the options of `frpc/agent.proto`, in all services of the server:
    ///
    /// ```proto
    /// import "frpc/agent.proto";
    ///
    /// service Orders {
    ///   option (frpc.tools) = true;  // all methods that take one request
    ///   rpc Place(Order) returns (Receipt);
    ///   rpc Refund(Receipt) returns (Order) { option (frpc.tool) = false; }
    /// }
    /// ```
    ///
    /// ```
    /// use frpc_gateway::Mcp;
    ///
    /// let mcp = Mcp::new().marked().except("shop.Orders/Cancel");
    /// ```
    pub fn marked(mut self) -> Self {
        self.chosen.push(ToolSelection::Marked);
        self
    }

    /// Excludes a service or a method from the tools, by a name such as `shop.Orders` or `shop.Orders/Cancel`, however it
    /// was chosen. If the server has nothing of this name, there are no tools at all, and an error in the log.
    pub fn except(mut self, name: impl Into<String>) -> Self {
        self.excluded.push(name.into());
        self
    }

    /// Makes all methods of a service tools, by its full name. Methods that a later schema adds become tools as well.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.chosen.push(ToolSelection::Service(name.into()));
        self
    }

    /// Makes a method a tool, by a name such as `greet.Greeter/Greet`. The tool is called `greet_Greeter_Greet`, because
    /// some clients accept no dots. Of a name of more than 64 characters, or one that an earlier tool has, the last 55
    /// characters are kept and a hash of the method's name is appended.
    pub fn method(mut self, name: impl Into<String>) -> Self {
        self.chosen.push(ToolSelection::Method(name.into(), None));
        self
    }

    /// As [`method`](Self::method), with a name for the tool.
    ///
    /// # Panics
    /// If `tool` is not one to 64 letters, digits, underscores, hyphens and dots of ASCII: large clients accept no more.
    pub fn method_as(mut self, name: impl Into<String>, tool: impl Into<String>) -> Self {
        let tool = tool.into();
        let is_mark = |byte: u8| matches!(byte, b'_' | b'-' | b'.');
        let is_valid = (1..=NAME_MAX).contains(&tool.len())
            && tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte));
        assert!(is_valid, "invalid tool name {tool:?}: use at most 64 of A-Z, a-z, 0-9, '_', '-' and '.'");
        self.chosen.push(ToolSelection::Method(name.into(), Some(tool)));
        self
    }

    /// Sets the name and version that clients show of the server. Default: `frpc` and the version of this crate.
    pub fn server(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Sets a text for the model about the tools as a whole, such as the order in which they are called.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the deadline of a tool call. Default: 60 s. A client may ask for less by the member `timeoutMs` of its request.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the longest result of a tool as JSON, in bytes. Default: 1 MiB. A longer one becomes an error with the code
    /// `RESOURCE_EXHAUSTED`. The results of a method that streams count together.
    pub fn result_max(mut self, bytes: usize) -> Self {
        self.result_max = bytes;
        self
    }

    /// Sets the most tools in a page of `tools/list`, at least one. Default: 50.
    pub fn page_max(mut self, tools: usize) -> Self {
        self.page_max = tools.max(1);
        self
    }

    /// States where clients get tokens, by RFC 9728: `resource` is the public URL of the endpoint, such as
    /// `https://api.example.com/mcp`. A request whose token is missing or not accepted is answered with 401, and
    /// `WWW-Authenticate` leads to the document with these servers. The tokens themselves are verified by the
    /// [rules](frpc::Authorize) of the server, such as those of frpc-access.
    ///
    /// ```
    /// use frpc_gateway::Mcp;
    ///
    /// let mcp = Mcp::new()
    ///     .service("shop.Orders")
    ///     .protected_by("https://api.example.com/mcp", ["https://login.example.com"], ["orders"]);
    /// ```
    pub fn protected_by<S: Into<String>, C: Into<String>>(
        mut self,
        resource: impl Into<String>,
        authorization_servers: impl IntoIterator<Item = S>,
        scopes: impl IntoIterator<Item = C>,
    ) -> Self {
        self.resource = Some(Resource {
            url: resource.into(),
            authorization_servers: authorization_servers.into_iter().map(Into::into).collect(),
            scopes: scopes.into_iter().map(Into::into).collect(),
        });
        self
    }

    /// The same settings for another server, whose tools are its own.
    pub(crate) fn fresh(&self) -> Self {
        Self { tools: Arc::default(), in_flight: Arc::default(), ..self.clone() }
    }

    /// The tools of the server.
    pub(crate) fn tools(&self, context: &AdapterContext) -> &Tools {
        self.tools.get_or_init(|| Tools::new(&self.chosen, &self.excluded, context.methods()))
    }
}
