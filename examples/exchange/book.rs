//! The order book: matches orders and stores the rest. Independent of connections.

use super::exchange::{Deal, Level, Order, Report, Side};
use std::collections::{BTreeMap, VecDeque};

/// Number of displayed prices and deals.
const SHOWN: usize = 12;
/// Maximum price in cents, and maximum amount of an order.
const PRICE_MAX: u32 = 1_000_000;
const AMOUNT_MAX: u32 = 10_000;
/// Maximum number of resting orders, per trader and in total.
const RESTING_MAX: usize = 100;
const BOOK_MAX: usize = 100_000;

/// Identifies a trader while it is connected.
pub(crate) type TraderId = u64;

/// An order resting in the book.
struct Resting {
    trader: TraderId,
    number: u32,
    left: u32,
}

type Half = BTreeMap<u32, VecDeque<Resting>>;

/// Both sides of the book, and the last deals.
#[derive(Default)]
pub(crate) struct OrderBook {
    bids: Half,
    asks: Half,
    deals: VecDeque<Deal>,
    dealt: u32,
    resting: BTreeMap<TraderId, usize>,
    total: usize,
}

/// The reason why an order was rejected.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A price or amount is zero or too high.
    Invalid,
    /// Too many orders are resting in the book.
    Full,
}

impl OrderBook {
    /// Adds an order: it trades with the best match, and the rest remains in the book. Returns the reports for the
    /// traders.
    pub(crate) fn place(&mut self, trader: TraderId, order: &Order) -> Result<Vec<(TraderId, Report)>, Refused> {
        let side = Side::try_from(order.side).map_err(|_| Refused::Invalid)?;
        if !(1..=PRICE_MAX).contains(&order.price) || !(1..=AMOUNT_MAX).contains(&order.amount) {
            return Err(Refused::Invalid);
        }
        if self.total >= BOOK_MAX || self.resting.get(&trader).is_some_and(|resting| *resting >= RESTING_MAX) {
            return Err(Refused::Full);
        }
        let mut reports = Vec::new();
        let mut left = order.amount;
        while left > 0 {
            let Some(price) = self.meets(side, order.price) else { break };
            left = self.trade_at(price, side, trader, order, left, &mut reports);
        }
        if left > 0 {
            let half = if side == Side::Buy { &mut self.bids } else { &mut self.asks };
            half.entry(order.price).or_default().push_back(Resting { trader, number: order.number, left });
            *self.resting.entry(trader).or_default() += 1;
            self.total += 1;
            reports
                .push((trader, Report { number: order.number, side: order.side, amount: 0, price: order.price, left }));
        }
        Ok(reports)
    }

    /// Withdraws all orders of a trader.
    pub(crate) fn withdraw(&mut self, trader: TraderId) {
        let Some(count) = self.resting.remove(&trader) else { return };
        self.total = self.total.saturating_sub(count);
        for half in [&mut self.bids, &mut self.asks] {
            half.retain(|_, orders| {
                orders.retain(|resting| resting.trader != trader);
                !orders.is_empty()
            });
        }
    }

    /// Returns the best bid and ask prices, and the last deals.
    pub(crate) fn shown(&self) -> (Vec<Level>, Vec<Level>, Vec<Deal>) {
        let level = |(&price, orders): (&u32, &VecDeque<Resting>)| Level {
            price,
            amount: orders.iter().fold(0, |sum: u32, resting| sum.saturating_add(resting.left)),
        };
        let bids = self.bids.iter().rev().take(SHOWN).map(level).collect();
        let asks = self.asks.iter().take(SHOWN).map(level).collect();
        (bids, asks, self.deals.iter().copied().collect())
    }

    /// Returns the best price of the opposite side, if it satisfies the limit.
    fn meets(&self, side: Side, limit: u32) -> Option<u32> {
        match side {
            Side::Buy => self.asks.keys().next().copied().filter(|price| *price <= limit),
            Side::Sell => self.bids.keys().next_back().copied().filter(|price| *price >= limit),
        }
    }

    /// Trades with the orders at a price, oldest first, and returns the remaining amount.
    fn trade_at(
        &mut self,
        price: u32,
        side: Side,
        trader: TraderId,
        order: &Order,
        mut left: u32,
        reports: &mut Vec<(TraderId, Report)>,
    ) -> u32 {
        let (half, other) = match side {
            Side::Buy => (&mut self.asks, Side::Sell),
            Side::Sell => (&mut self.bids, Side::Buy),
        };
        let Some(orders) = half.get_mut(&price) else { return left };
        while left > 0 {
            let Some(first) = orders.front_mut() else { break };
            let amount = left.min(first.left);
            left -= amount;
            first.left -= amount;
            let report = Report { number: first.number, side: other.into(), amount, price, left: first.left };
            reports.push((first.trader, report));
            reports.push((trader, Report { number: order.number, side: order.side, amount, price, left }));
            if first.left == 0 {
                let counted = self.resting.entry(first.trader).or_default();
                *counted = counted.saturating_sub(1);
                self.total = self.total.saturating_sub(1);
                orders.pop_front();
            }
            self.dealt = self.dealt.wrapping_add(1);
            self.deals.push_front(Deal { number: self.dealt, side: order.side, price, amount });
            self.deals.truncate(SHOWN);
        }
        if orders.is_empty() {
            half.remove(&price);
        }
        left
    }
}
