//! Simulated traders: browsers, which act like the page, and programs that trade as fast as possible.

use super::exchange::{Book, ExchangeClient, Inquiry, Nothing, Offer, Order, Report, Side, Trader, TraderServer};
use super::market::TOPIC;
use frisbee_pubsub::{ClientRouter, OPERATIONS};
use frpc::{Channel, Code, Request, RequestStream, Response, Status, Topic};
use frpc_gateway::web_socket;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Maximum number of a program's orders without a report.
const PIPELINED: u32 = 64;
/// Number of browsers that connect concurrently.
const DIALLING: usize = 64;
/// Maximum number of stored latencies.
const KEPT: usize = 1_000_000;
/// The approximate price of the security, in cents.
const WORTH: u32 = 10_000;

type Failure = Box<dyn Error + Send + Sync>;

/// The configuration of the simulated traders.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// Number of browsers, each with a WebSocket, a subscription, an order stream and a service.
    pub(crate) browsers: usize,
    /// Number of programs, each with a stream over TCP.
    pub(crate) programs: usize,
    /// Pause of a browser between two orders.
    pub(crate) pause: Duration,
}

/// The counters.
#[derive(Default)]
pub(crate) struct Counts {
    /// Books received by browsers.
    pub(crate) books: AtomicU64,
    /// Reports received by browsers.
    pub(crate) reports: AtomicU64,
    /// Reports received by programs.
    pub(crate) traded: AtomicU64,
    /// Server calls answered by browsers.
    pub(crate) quotes: AtomicU64,
    /// Unary calls made by browsers.
    pub(crate) looks: AtomicU64,
    /// Streams reopened by browsers after the market rejected an order.
    pub(crate) renewed: AtomicU64,
    /// Latencies from a browser's order to its first report.
    latencies: Mutex<Vec<Duration>>,
}

/// Running traders, which stop when this is dropped.
pub(crate) struct Trading {
    /// The counters of the traders.
    pub(crate) counts: Arc<Counts>,
    load: Load,
    connected: Duration,
    market: ExchangeClient,
    _tasks: JoinSet<()>,
}

/// A deterministic pseudorandom number generator.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(sides)) as u32
    }

    /// Returns an order near the current price.
    fn order(&mut self, number: u32) -> Order {
        let side = if self.roll(2) == 0 { Side::Buy } else { Side::Sell };
        let price = WORTH + self.roll(160) - 80;
        let price = if side == Side::Buy { price - 15 } else { price + 15 };
        Order { number, side: side.into(), price, amount: self.roll(20) + 1 }
    }
}

/// The service offered by a browser.
struct Quotes(Arc<Counts>, u32);

impl Trader for Quotes {
    async fn quote(&self, request: Request<Inquiry>) -> Result<Response<Offer>, Status> {
        self.0.quotes.fetch_add(1, Relaxed);
        let price = if request.get_ref().side == i32::from(Side::Buy) { WORTH + self.1 } else { WORTH - self.1 };
        Ok(Response::new(Offer { price, ..Offer::default() }))
    }
}

impl Load {
    /// Connects all traders, and starts trading.
    pub(crate) async fn start(self, market: SocketAddr) -> Result<Trading, Failure> {
        let counts = Arc::new(Counts::default());
        let mut tasks = JoinSet::new();
        let started = Instant::now();
        let mut dialling = JoinSet::new();
        for number in 0..self.browsers {
            if dialling.len() >= DIALLING
                && let Some(dialled) = dialling.join_next().await
            {
                tasks.spawn(reported(browse(dialled??, counts.clone(), self.pause)));
            }
            dialling.spawn(dial(market, counts.clone(), number));
        }
        while let Some(dialled) = dialling.join_next().await {
            tasks.spawn(reported(browse(dialled??, counts.clone(), self.pause)));
        }
        let connected = started.elapsed();
        for number in 0..self.programs {
            tasks.spawn(reported(trade(market, counts.clone(), number as u64)));
        }
        let market = ExchangeClient::connect(market.to_string()).await?;
        // Excludes the connection phase from the measurement.
        counts.reset();
        Ok(Trading { counts, load: self, connected, market, _tasks: tasks })
    }
}

/// Reports the failure of a trader.
async fn reported(trader: impl Future<Output = Result<(), Failure>>) {
    if let Err(error) = trader.await {
        eprintln!("a trader has stopped: {error}");
    }
}

/// The handles of a browser, which share one connection.
struct Browser {
    client: ExchangeClient,
    books: frpc::pubsub::TopicSubscription<Book>,
    dice: Dice,
}

async fn dial(market: SocketAddr, counts: Arc<Counts>, number: usize) -> Result<Browser, Failure> {
    let router = ClientRouter::new();
    let topics = router.client();
    let margin = number as u32 % 40;
    let channel = Channel::builder()
        .mount(OPERATIONS, router)
        .add_service(TraderServer::new(Quotes(counts, margin)))
        .connect_with_connector(move || async move { web_socket::connect(&format!("ws://{market}/")).await })
        .await?;
    let books = Topic::<Book>::new(TOPIC).subscribe(&topics).await?;
    Ok(Browser { client: ExchangeClient::new(channel), books, dice: Dice(number as u64 + 1) })
}

/// Trades until a failure. A trader with too many resting orders withdraws them by reopening its stream.
async fn browse(mut browser: Browser, counts: Arc<Counts>, pause: Duration) -> Result<(), Failure> {
    loop {
        let Err(error) = browse_once(&mut browser, &counts, pause).await else { return Ok(()) };
        match error.downcast_ref::<Status>() {
            Some(status) if status.code() == Code::ResourceExhausted => counts.renewed.fetch_add(1, Relaxed),
            _ => return Err(error),
        };
    }
}

/// Acts like a page with one order stream: displays each book, and sends an order periodically.
async fn browse_once(browser: &mut Browser, counts: &Counts, pause: Duration) -> Result<(), Failure> {
    let Browser { client, books, dice } = browser;
    let (orders, stream) = RequestStream::channel(1);
    let mut reports = client.trade(stream).await?.into_inner();
    let mut number = 0;
    let mut sent = None;
    // The status arrives with the reports.
    let mut is_ended = false;
    // Staggers the traders.
    let first = Duration::from_millis(u64::from(dice.roll(1000)) * pause.as_millis() as u64 / 1000);
    let mut next = tokio::time::Instant::now() + first;
    loop {
        tokio::select! {
            book = books.recv() => {
                book?;
                counts.books.fetch_add(1, Relaxed);
            }
            report = reports.message() => {
                let Some(Report { number: of, .. }) = report? else { return Ok(()) };
                counts.reports.fetch_add(1, Relaxed);
                if let Some(at) = sent.take_if(|_| of == number) {
                    counts.note(at);
                }
            }
            () = tokio::time::sleep_until(next), if !is_ended => {
                next += pause;
                number += 1;
                if number % 4 == 0 {
                    client.look(Nothing {}).await?;
                    counts.looks.fetch_add(1, Relaxed);
                }
                sent = Some(Instant::now());
                is_ended = orders.send(dice.order(number)).await.is_err();
            }
        }
    }
}

/// Trades without a pause, with up to [`PIPELINED`] orders in flight.
async fn trade(market: SocketAddr, counts: Arc<Counts>, seed: u64) -> Result<(), Failure> {
    let client = ExchangeClient::connect(market.to_string()).await?;
    let (orders, stream) = RequestStream::channel(PIPELINED as usize);
    let mut reports = client.trade(stream).await?.into_inner();
    let mut dice = Dice(seed);
    let (mut sent, mut reported) = (0, 0);
    loop {
        while sent < reported + PIPELINED {
            sent += 1;
            // The two orders of a pair match, so the book does not grow.
            let side = if sent % 2 == 0 { Side::Buy } else { Side::Sell };
            orders.send(Order { side: side.into(), price: WORTH, ..dice.order(sent) }).await?;
        }
        let Some(report) = reports.message().await? else { break };
        reported = reported.max(report.number);
        counts.traded.fetch_add(1, Relaxed);
    }
    Ok(())
}

impl Counts {
    fn reset(&self) {
        for count in [&self.books, &self.reports, &self.traded, &self.quotes, &self.looks] {
            count.store(0, Relaxed);
        }
        self.latencies.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn note(&self, sent: Instant) {
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        if latencies.len() < KEPT {
            latencies.push(sent.elapsed());
        }
    }

    /// Returns the median and the 99th percentile of the latencies.
    fn latency(&self) -> (Duration, Duration) {
        let mut latencies = self.latencies.lock().unwrap_or_else(PoisonError::into_inner);
        latencies.sort_unstable();
        let at = |part: usize| latencies.get(latencies.len() * part / 100).copied().unwrap_or_default();
        (at(50), at(99))
    }
}

impl Trading {
    /// Makes the server call all browsers. Returns the best offer and the duration.
    pub(crate) async fn inquire(&self) -> Result<(Offer, Duration), Status> {
        let started = Instant::now();
        let offer = self.market.inquire(Inquiry { side: Side::Buy.into(), amount: 10 }).await?.into_inner();
        Ok((offer, started.elapsed()))
    }

    /// Formats the counters for this duration.
    pub(crate) fn figures(&self, time: Duration, (offer, requested): &(Offer, Duration)) -> String {
        let Counts { books, reports, traded, looks, .. } = &*self.counts;
        let each_second = |count: &AtomicU64| count.load(Relaxed) as f64 / time.as_secs_f64();
        let (half, most) = self.counts.latency();
        format!(
            "{} browsers connected within {:.1?}, and each second they got\n\
             {:>10.0} books\n\
             {:>10.0} reports, half of the first within {half:.1?} of the order and 99 of 100 within {most:.1?}\n\
             {:>10.0} replies to calls\n\
             while {} programs got\n\
             {:>10.0} reports.\n\
             The server called {} of them at once, and {} answered within {requested:.1?}.",
            self.load.browsers,
            self.connected,
            each_second(books),
            each_second(reports),
            each_second(looks),
            self.load.programs,
            each_second(traded),
            offer.called,
            offer.answered,
        )
    }
}
