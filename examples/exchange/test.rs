//! A short run of the market with a few simulated browsers and a program.

use super::book::{OrderBook, Refused};
use super::exchange::{Order, Report, Side};
use super::load::Load;
use super::server::Market;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Timeout that suffices on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn order(number: u32, side: Side, price: u32, amount: u32) -> Order {
    Order { number, side: side.into(), price, amount }
}

fn report(number: u32, side: Side, price: u32, amount: u32, left: u32) -> Report {
    Report { number, side: side.into(), amount, price, left }
}

#[test]
fn order_matches_best_price_then_oldest() {
    let mut book = OrderBook::default();
    for (trader, price) in [(1, 103), (2, 102), (3, 102)] {
        let rests = book.place(trader, &order(7, Side::Sell, price, 10)).unwrap();
        assert_eq!(rests, [(trader, report(7, Side::Sell, price, 0, 10))]);
    }
    let reports = book.place(9, &order(1, Side::Buy, 102, 25)).unwrap();
    let expected = [
        (2, report(7, Side::Sell, 102, 10, 0)),
        (9, report(1, Side::Buy, 102, 10, 15)),
        (3, report(7, Side::Sell, 102, 10, 0)),
        (9, report(1, Side::Buy, 102, 10, 5)),
        (9, report(1, Side::Buy, 102, 0, 5)),
    ];
    assert_eq!(reports, expected);
    let (bids, asks, deals) = book.shown();
    assert_eq!((bids.len(), bids[0].price, bids[0].amount), (1, 102, 5));
    assert_eq!((asks.len(), asks[0].price, deals.len()), (1, 103, 2));
}

#[test]
fn book_withdraws_departed_orders_and_rejects_invalid() {
    let mut book = OrderBook::default();
    book.place(1, &order(1, Side::Sell, 100, 10)).unwrap();
    book.place(2, &order(1, Side::Sell, 100, 3)).unwrap();
    book.withdraw(1);
    assert_eq!(book.shown().1[0].amount, 3);
    for (price, amount) in [(0, 1), (100, 0), (u32::MAX, 1), (1, u32::MAX)] {
        assert_eq!(book.place(3, &order(1, Side::Buy, price, amount)), Err(Refused::Invalid));
    }
    for number in 0..100 {
        book.place(4, &order(number, Side::Buy, 50, 1)).unwrap();
    }
    assert_eq!(book.place(4, &order(100, Side::Buy, 50, 1)), Err(Refused::Full));
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_order_lets_traders_continue() {
    let market = Market::start("127.0.0.1:0", Vec::new()).await.unwrap();
    let load = Load { browsers: 2, programs: 0, pause: Duration::from_millis(1) };
    let trading = load.start(market.address()).await.unwrap();
    let counts = trading.counts.clone();
    let shown = async {
        while counts.renewed.load(Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        let reports = counts.reports.load(Relaxed);
        while counts.reports.load(Relaxed) < reports + 100 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, shown).await.expect("simulated clients should trade within the timeout");
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_connection_carries_books_reports_and_calls() {
    let market = Market::start("127.0.0.1:0", Vec::new()).await.unwrap();
    let load = Load { browsers: 8, programs: 1, pause: Duration::from_millis(20) };
    let trading = load.start(market.address()).await.unwrap();
    let counts = trading.counts.clone();
    let shown = async {
        while [&counts.books, &counts.reports, &counts.looks, &counts.traded]
            .iter()
            .any(|count| count.load(Relaxed) < 20)
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, shown).await.expect("simulated clients should trade within the timeout");
    let offer = trading.inquire().await.unwrap();
    // A program serves nothing, and is disconnected if it does not read its reports in time.
    assert!((8..=9).contains(&offer.0.called) && offer.0.answered == 8, "{:?}", offer.0);
    assert_eq!((offer.0.price, counts.quotes.load(Relaxed)), (10_000, 8));
    let figures = trading.figures(Duration::from_secs(1), &offer);
    assert!(figures.contains("8 browsers connected") && figures.contains("8 answered"), "{figures}");
}
