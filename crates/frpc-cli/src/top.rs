//! `frpc top`: a live view of a server's activity, from the server's introspection service.
//!
//! `top/board.rs` contains the state and handles keys, `top/methods.rs` computes the statistics of methods,
//! `top/view.rs` renders text, and `top/screen.rs` controls the terminal.

mod board;
mod methods;
mod screen;
mod view;

use crate::arguments::TopArguments;
use crate::failure::Failure;
use crate::source::Context;
use crate::target::Target;
pub(crate) use board::Column;
use board::TopView;
use crossterm::event::{self, Event};
use frpc::{Code, Status, Streaming};
use frpc_reflection::introspection_v1::{ConnectionRequest, IntrospectionClient, WatchReply, WatchRequest};
use screen::Terminal;
use std::io::{self, IsTerminal as _};
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Timeout of the first reply from the server.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Timeout for requesting the details of a connection. The live view is not updated during the request.
const DETAIL_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum number of connections that are requested from the server, equal to the maximum number that a server lists.
const CONNECTIONS: u32 = 1024;

/// Shows the live view until the user quits. If standard output is not a terminal, prints the view once as text.
pub(crate) async fn top(arguments: TopArguments, context: &Context) -> Result<(), Failure> {
    let (target, screen) = (context.target()?, &context.screen);
    let client = IntrospectionClient::new(target.connect(target.builder(), None).await?);
    let is_live = !arguments.once && !screen.json && io::stdout().is_terminal();
    let interval_ms = u32::try_from(arguments.interval.as_millis()).unwrap_or(u32::MAX);
    let request = WatchRequest { interval_ms, connections: CONNECTIONS };
    let first = async {
        let mut replies = client.watch(request).await?.into_inner();
        let first = replies.message().await?;
        Ok::<_, Status>((first, replies))
    };
    let first = tokio::time::timeout(ANSWER_TIMEOUT, first).await;
    let (first, mut replies) = match first {
        Err(_) => return Err(Failure::new(refused(&target, "it does not reply"))),
        Ok(Err(status)) if status.code() == Code::Unimplemented => {
            return Err(Failure::new(refused(&target, status.message())));
        }
        Ok(answer) => answer?,
    };
    let first = first.ok_or_else(|| Failure::new("the server ended the stream before its first reply"))?;
    let usual = if arguments.methods { Column::Rate } else { Column::Calls };
    let mut board = TopView::new(arguments.sort.unwrap_or(usual), arguments.filter);
    if is_live {
        board.take(first, Instant::now());
        return live(&mut board, &client, replies).await;
    }
    if screen.json {
        let mut json = Vec::new();
        let written = frpc::json::to_json(&first, &mut json).map_err(|error| error.to_string());
        let text = written.and_then(|()| String::from_utf8(json).map_err(|error| error.to_string()));
        return screen.json_line(&text.map_err(Failure::new)?);
    }
    // Wait for two replies, because rates are computed from two.
    board.take(first, Instant::now());
    let second = tokio::time::timeout(arguments.interval + ANSWER_TIMEOUT, replies.message()).await;
    if let Some(second) = second.map_err(|_| Failure::new(refused(&target, "it sent only one reply")))?? {
        board.take(second, Instant::now());
    }
    screen.line(&view::plain(&board))
}

fn refused(target: &Target, why: &str) -> String {
    format!(
        "the server at {} has no introspection ({why}): name the address on which the program serves it, such as \
         --server unix:PATH",
        target.address
    )
}

/// Draws the live view until the user quits or the server ends the stream.
async fn live(
    board: &mut TopView,
    client: &IntrospectionClient,
    mut replies: Streaming<WatchReply>,
) -> Result<(), Failure> {
    let unusable = |error: io::Error| Failure::new(format!("cannot use the terminal: {error}"));
    let mut terminal = Terminal::open().map_err(unusable)?;
    let mut keys = keys();
    // Return at a signal, because otherwise it would end the process without restoring the terminal.
    let mut terminated = pin!(frpc::signal::terminate());
    loop {
        terminal.draw(|width, height| view::lines(board, width, height)).map_err(unusable)?;
        tokio::select! {
            () = &mut terminated => return Ok(()),
            key = keys.recv() => {
                // Without keys, end the view, because the user could not quit it.
                let Some(event) = key else { return Ok(()) };
                if let Event::Key(key) = event
                    && key.is_press()
                    && board.key(key).is_break()
                {
                    return Ok(());
                }
            }
            reply = replies.message() => match reply? {
                Some(reply) => board.take(reply, Instant::now()),
                None => return Err(Failure::new("the server ended the stream")),
            },
        }
        fetch_detail(board, client).await;
    }
}

/// Starts a thread that reads the events of the terminal, and returns a queue that receives them. The thread ends with
/// the process.
fn keys() -> mpsc::UnboundedReceiver<Event> {
    let (typed, keys) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if typed.send(event).is_err() {
                return;
            }
        }
    });
    keys
}

/// Requests the details of the selected connection from the server, if one is selected.
async fn fetch_detail(board: &mut TopView, client: &IntrospectionClient) {
    let Some((server, number)) = board.wants_detail() else { return };
    let request = ConnectionRequest { server, number };
    let detail = match tokio::time::timeout(DETAIL_TIMEOUT, client.connection(request)).await {
        Ok(Ok(reply)) => Ok(reply.into_inner()),
        Ok(Err(status)) => Err(status.message().to_owned()),
        Err(_) => Err("the server does not reply".to_owned()),
    };
    board.take_detail(detail);
}
