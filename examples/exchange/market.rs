//! The service: traders with their streams, and the shared book.

use super::book::{OrderBook, Refused, TraderId};
use super::exchange::{Book, Exchange, Inquiry, Nothing, Offer, Order, Report, Side, TraderClient};
use frisbee_pubsub::Client;
use frpc::{Request, Response, ResponseSender, ResponseStream, Status, Streaming, Topic};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// The topic with the book.
pub(crate) const TOPIC: &str = "exchange.book";
/// Interval at which a changed book is published.
const TICK: Duration = Duration::from_millis(100);
/// Maximum number of reports queued for a trader. A trader that exceeds it is disconnected.
const REPORTS_MAX: usize = 1024;
/// Maximum number of traders.
const TRADERS_MAX: usize = 10_000;
/// Time limit of traders to answer a price inquiry.
const THINKING: Duration = Duration::from_secs(2);

/// The market, shared by all connections.
#[derive(Clone, Default)]
pub(crate) struct Market(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    book: OrderBook,
    traders: HashMap<TraderId, Seat>,
    last: TraderId,
    orders: u32,
    changed: bool,
}

/// A trader with an open stream.
struct Seat {
    reports: Arc<ResponseSender<Report>>,
    page: Option<TraderClient>,
    address: Option<SocketAddr>,
}

/// Removes a trader's orders from the book when its stream ends for any reason.
struct Leaves(Market, TraderId);

impl Drop for Leaves {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.leave(self.1);
    }
}

impl State {
    fn leave(&mut self, trader: TraderId) {
        self.traders.remove(&trader);
        self.book.withdraw(trader);
        self.changed = true;
    }

    fn place(&mut self, trader: TraderId, order: &Order) -> Result<(), Status> {
        if !self.traders.contains_key(&trader) {
            return Err(Status::resource_exhausted("reports were not taken in time"));
        }
        self.orders = self.orders.wrapping_add(1);
        self.changed = true;
        let reports = self.book.place(trader, order).map_err(|refused| match refused {
            Refused::Invalid => Status::invalid_argument("the price or the amount is zero or too high"),
            Refused::Full => Status::resource_exhausted("too many orders rest in the book"),
        })?;
        for (to, report) in reports {
            let is_late = self.traders.get(&to).is_some_and(|seat| seat.reports.try_send(Ok(report)).is_err());
            if is_late {
                self.leave(to);
            }
        }
        Ok(())
    }

    fn shown(&self) -> Book {
        let (bids, asks, deals) = self.book.shown();
        let traders = u32::try_from(self.traders.len()).unwrap_or(u32::MAX);
        Book { bids, asks, deals, traders, orders: self.orders }
    }
}

impl Market {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the book when it has changed, until the broker shuts down.
    pub(crate) async fn publish(self, client: Client) -> Result<(), Status> {
        let publisher = Topic::<Book>::new(TOPIC).publisher(&client)?;
        let mut ticks = tokio::time::interval(TICK);
        loop {
            ticks.tick().await;
            let book = {
                let mut state = self.state();
                std::mem::take(&mut state.changed).then(|| state.shown())
            };
            if let Some(book) = book {
                publisher.publish(&book).await?;
            }
        }
    }

    fn sit(&self, seat: Seat) -> Result<TraderId, Status> {
        let mut state = self.state();
        if state.traders.len() >= TRADERS_MAX {
            return Err(Status::resource_exhausted("there are too many traders"));
        }
        state.last += 1;
        state.changed = true;
        let id = state.last;
        state.traders.insert(id, seat);
        Ok(id)
    }
}

impl Exchange for Market {
    async fn look(&self, _request: Request<Nothing>) -> Result<Response<Book>, Status> {
        Ok(Response::new(self.state().shown()))
    }

    async fn trade(&self, request: Request<Streaming<Order>>) -> Result<Response<ResponseStream<Report>>, Status> {
        let page = request.channel().map(TraderClient::new);
        let address = request.remote_addr();
        let mut orders = request.into_inner();
        let (reports, stream) = ResponseStream::channel(REPORTS_MAX);
        let reports = Arc::new(reports);
        let trader = self.sit(Seat { reports: reports.clone(), page, address })?;
        let leaves = Leaves(self.clone(), trader);
        tokio::spawn(async move {
            let Leaves(market, trader) = &leaves;
            loop {
                let failed = match orders.message().await {
                    Ok(Some(order)) => market.state().place(*trader, &order).err(),
                    Ok(None) | Err(_) => return,
                };
                if let Some(status) = failed {
                    drop(reports.try_send(Err(status)));
                    return;
                }
            }
        });
        Ok(Response::new(stream))
    }

    async fn inquire(&self, request: Request<Inquiry>) -> Result<Response<Offer>, Status> {
        let asker = request.remote_addr();
        let inquiry = request.into_inner();
        let pages: Vec<TraderClient> = {
            let state = self.state();
            let others = state.traders.values().filter(|seat| seat.address != asker);
            others.filter_map(|seat| seat.page.clone()).collect()
        };
        let mut calls = JoinSet::new();
        let mut offer = Offer { price: 0, called: u32::try_from(pages.len()).unwrap_or(u32::MAX), answered: 0 };
        for page in pages {
            calls.spawn(async move { tokio::time::timeout(THINKING, page.quote(inquiry)).await.ok()?.ok() });
        }
        while let Some(answer) = calls.join_next().await {
            let Ok(Some(quoted)) = answer else { continue };
            offer.answered += 1;
            let price = quoted.get_ref().price;
            let is_better =
                if inquiry.side == i32::from(Side::Buy) { price < offer.price } else { price > offer.price };
            if price > 0 && (offer.price == 0 || is_better) {
                offer.price = price;
            }
        }
        Ok(Response::new(offer))
    }
}
