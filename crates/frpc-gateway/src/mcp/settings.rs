//! Selection of methods as tools, and settings of their calls.

use super::InFlight;
use super::tools::{NAME_MAX, Tools};
use frpc::{AdapterContext, SettingError};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Default timeout of a tool call, equal to that of the public MCP SDKs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Default maximum size of a tool's result in bytes. It exceeds the context of most models. A result is sent twice, as
/// structured content and as text.
const RESULT_MAX: usize = 1024 * 1024;

/// Default maximum number of tools per page of the list. With their schemas they take about 100 KiB.
const PAGE_MAX: usize = 50;

/// Tools for agents: methods of selected services as tools of the Model Context Protocol.
///
/// **No method is a tool unless it is selected here**, by its name or [by the schema](Self::marked). Unary and
/// server-streaming methods can be tools, if their code was generated with `json(true)`:
///
/// ```
/// use frpc_gateway::{Gateway, Mcp};
///
/// let mcp = Mcp::new().service("shop.Orders").method_as("greet.Greeter/Greet", "greet");
/// let gateway = Gateway::new().mcp(mcp);
/// ```
///
/// A tool has the comment of its method as its description, and JSON Schemas of both messages. Its annotations are
/// derived from `idempotency_level`: `NO_SIDE_EFFECTS` is read-only, `IDEMPOTENT` is idempotent, and every other method
/// may be destructive. Clients use annotations and descriptions to decide whether a person must confirm a call.
///
/// Tool calls are subject to the same middleware, [rules](frpc::Authorize), deadlines and limits as calls in other
/// protocols. The list contains only the tools that the caller is permitted to call.
///
/// Clients call tools by POST to `/mcp`, subject to the [host and origin rules](crate::Http) of HTTP, or as lines over
/// TCP, which `frpc mcp --to ADDRESS` connects to standard input and output.
#[derive(Clone, Debug)]
#[must_use]
pub struct Mcp {
    pub(crate) chosen: Vec<ToolSelection>,
    /// Names of services and methods that are excluded from the tools.
    pub(crate) excluded: Vec<String>,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) result_max: usize,
    pub(crate) page_max: usize,
    pub(crate) resource: Option<Resource>,
    /// Tools of the server, created from its services when the first client connects.
    tools: Arc<OnceLock<Tools>>,
    pub(crate) in_flight: Arc<InFlight>,
}

/// Selection of methods that are offered to agents as tools.
#[derive(Clone, Debug)]
pub(crate) enum ToolSelection {
    /// All methods that have the option `frpc.tool` in the schema.
    Marked,
    Service(String),
    /// A method, and the name of its tool. `None` derives the name from the method.
    Method(String, Option<String>),
}

/// Description of the endpoint as an OAuth protected resource (RFC 9728).
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
    /// Creates settings that offer no tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes tools of all methods that are marked in the schema with the options of `frpc/agent.proto`, in all services
    /// of the server:
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

    /// Excludes a service or a method, named like `shop.Orders` or `shop.Orders/Cancel`, from all selections. If the
    /// server does not have it, no tools are served and an error is logged.
    pub fn except(mut self, name: impl Into<String>) -> Self {
        self.excluded.push(name.into());
        self
    }

    /// Offers all methods of a service as tools, by its full name. Methods that the schema adds later are included.
    pub fn service(mut self, name: impl Into<String>) -> Self {
        self.chosen.push(ToolSelection::Service(name.into()));
        self
    }

    /// Makes a method a tool, by a name such as `greet.Greeter/Greet`. The tool is named `greet_Greeter_Greet`, because
    /// some clients do not accept dots. A name of more than 64 characters, or one already in use, is replaced by its
    /// last 55 characters and a hash of the method's name.
    pub fn method(mut self, name: impl Into<String>) -> Self {
        self.chosen.push(ToolSelection::Method(name.into(), None));
        self
    }

    /// Like [`method`](Self::method), but with a custom tool name.
    ///
    /// # Panics
    /// If `tool` is not 1 to 64 ASCII letters, digits, underscores, hyphens and dots, the limit of major clients.
    pub fn method_as(mut self, name: impl Into<String>, tool: impl Into<String>) -> Self {
        let tool = tool.into();
        let is_mark = |byte: u8| matches!(byte, b'_' | b'-' | b'.');
        let is_valid = (1..=NAME_MAX).contains(&tool.len())
            && tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_mark(byte));
        assert!(is_valid, "invalid tool name {tool:?}: use at most 64 of A-Z, a-z, 0-9, '_', '-' and '.'");
        self.chosen.push(ToolSelection::Method(name.into(), Some(tool)));
        self
    }

    /// Sets the server name and version that MCP clients display. Defaults to `frpc` and the version of this crate.
    pub fn server(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Sets instructions for the model about using the tools together, such as the order of calls.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Sets the timeout of tool calls. Clients can request a shorter one with the member `timeoutMs`. Defaults to 60 s.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum size in bytes of a tool's result as JSON. A larger result is replaced by the error
    /// `RESOURCE_EXHAUSTED`. For streaming methods, the limit applies to all messages together. Defaults to 1 MiB.
    pub fn result_max(mut self, bytes: usize) -> Self {
        self.result_max = bytes;
        self
    }

    /// Sets the maximum number of tools per page of `tools/list`, at least one. Defaults to 50.
    pub fn page_max(mut self, tools: usize) -> Self {
        self.page_max = tools.max(1);
        self
    }

    /// Publishes where clients obtain tokens, by RFC 9728. `resource` is the public URL of the endpoint, such as
    /// `https://api.example.com/mcp`. A request without a valid token fails with status 401, and its `WWW-Authenticate`
    /// field refers to the document with these authorization servers. Tokens are verified by the
    /// [rules](frpc::Authorize) of the server, for example the rules of frpc-access.
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

    /// Returns an error if a limit or timeout is zero.
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        SettingError::check_positive(&[("mcp.timeout", self.timeout)])?;
        SettingError::check_positive(&[("mcp.result_max", self.result_max)])
    }

    /// Returns a copy of the settings for another server, without the tools that have been created.
    pub(crate) fn fresh(&self) -> Self {
        Self { tools: Arc::default(), in_flight: Arc::default(), ..self.clone() }
    }

    /// Returns the tools of the server. Creates them on the first call.
    pub(crate) fn tools(&self, context: &AdapterContext) -> &Tools {
        self.tools.get_or_init(|| Tools::new(&self.chosen, &self.excluded, context.methods()))
    }
}
