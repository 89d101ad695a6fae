/**
 * The page of a trader: calls, a stream of orders and reports, a topic with the book, and calls of the server, on one
 * connection.
 */

import { Status, Topics, connect, decode, serve } from "frisbee-rpc";
import { Book, ExchangeClient, Side, Trader, type Deal, type Level, type Order, type Report } from "./exchange.js";

const PRICES_SHOWN = 240;
const LINES_SHOWN = 8;

const the = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const show = (id: string, text: string): void => void (the(id).textContent = text);
const money = (cents: number): string => (cents / 100).toFixed(2);
const word = (side: Side): string => (side === Side.BUY ? "buy" : "sell");

/** Creates an element that contains text or other elements. */
function make(tag: string, content: string | readonly HTMLElement[], className = ""): HTMLElement {
  const element = document.createElement(tag);
  element.className = className;
  if (typeof content === "string") element.textContent = content;
  else element.append(...content);
  return element;
}

/** Adds a line at the top of a list. */
function tell(id: string, line: HTMLElement): void {
  const list = the(id);
  list.querySelector(".empty")?.remove();
  list.prepend(line);
  while (list.children.length > LINES_SHOWN) list.lastElementChild?.remove();
}

// Orders and reports.

const mine = new Map<number, { readonly order: Order; done: number; left: number }>();
let held = 0;
let cash = 0;
let wake = (): void => {};
const outgoing: Order[] = [];

async function* orders(): AsyncGenerator<Order> {
  for (;;) {
    const order = outgoing.shift();
    if (order) yield order;
    else await new Promise<void>((resolve) => (wake = resolve));
  }
}

function reported({ number, amount, price, left }: Report): void {
  const own = mine.get(number);
  if (!own) return;
  own.done += amount;
  own.left = left;
  const sign = own.order.side === Side.BUY ? 1 : -1;
  held += sign * amount;
  cash -= sign * amount * price;
  show("held", String(held));
  show("cash", money(cash));
  const lines = [...mine.values()].reverse().slice(0, LINES_SHOWN).map(({ order, done, left }) =>
    make("tr", [
      make("td", `${word(order.side)} ${order.amount}`, word(order.side)),
      make("td", money(order.price)),
      make("td", String(done)),
      make("td", String(left)),
    ]),
  );
  the("orders").replaceChildren(...lines);
}

the<HTMLFormElement>("ticket").addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(event.target as HTMLFormElement);
  const side = (event.submitter as HTMLButtonElement).value === "sell" ? Side.SELL : Side.BUY;
  const order = { number: mine.size + 1, side, price: Math.round(Number(fields.get("price")) * 100), amount: Number(fields.get("amount")) };
  mine.set(order.number, { order, done: 0, left: order.amount });
  outgoing.push(order);
  wake();
});

// The book.

let last = 0;
let lastDeal = 0;
let counted: { readonly orders: number; readonly at: number } | undefined;
const prices: number[] = [];

function levels(id: string, levels: readonly Level[]): void {
  const most = Math.max(1, ...levels.map(({ amount }) => amount));
  the(id).replaceChildren(...levels.slice(0, 10).map(({ price, amount }) => {
    const meter = document.createElement("meter");
    meter.max = most;
    meter.value = amount;
    return make("li", [meter, make("span", money(price)), make("span", String(amount))]);
  }));
}

function dealt(deals: readonly Deal[]): void {
  for (const { number, price } of [...deals].reverse()) if (number > lastDeal) prices.push(price);
  prices.splice(0, prices.length - PRICES_SHOWN);
  const [newest] = deals;
  if (!newest || newest.number === lastDeal) return;
  lastDeal = newest.number;
  const change = newest.price - last;
  if (last && change) {
    show("change", `${change > 0 ? "▲" : "▼"} ${money(Math.abs(change))}`);
    the("change").dataset["side"] = change > 0 ? "buy" : "sell";
  }
  last = newest.price;
  show("last", money(last));
  the("deals").replaceChildren(...deals.map(({ side, price, amount }) =>
    make("li", [make("span", side === Side.BUY ? "bought" : "sold", word(side)), make("span", money(price)), make("span", String(amount))]),
  ));
  draw();
}

function published({ bids, asks, deals, traders, orders }: Book): void {
  levels("asks", asks);
  levels("bids", bids);
  if (asks[0] && bids[0]) show("spread", `${money(asks[0].price - bids[0].price)} apart`);
  show("traders", String(traders));
  const at = performance.now();
  if (!counted || at - counted.at > 1000) {
    if (counted) show("rate", ((orders - counted.orders) / ((at - counted.at) / 1000)).toFixed(0));
    counted = { orders, at };
  }
  dealt(deals);
}

/** Draws the chart of prices. */
function draw(): void {
  const canvas = the<HTMLCanvasElement>("chart");
  const context = canvas.getContext("2d");
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!context || prices.length < 2 || width === 0) return;
  const scale = devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = height * scale;
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const probe = the("state");
  const low = Math.min(...prices) - 2;
  const high = Math.max(...prices) + 2;
  const right = width - 56;
  const x = (at: number): number => (at / (PRICES_SHOWN - 1)) * right;
  const y = (price: number): number => ((high - price) / (high - low)) * (height - 12) + 6;
  context.font = `12px ${style.fontFamily}`;
  context.fillStyle = context.strokeStyle = getComputedStyle(probe).color;
  context.lineWidth = 0.5;
  for (let line = 0; line < 5; line++) {
    const price = low + ((high - low) * line) / 4;
    context.globalAlpha = 0.35;
    context.beginPath();
    context.moveTo(0, y(price));
    context.lineTo(right, y(price));
    context.stroke();
    context.globalAlpha = 1;
    context.fillText(money(price), right + 8, y(price) + 4);
  }
  const first = PRICES_SHOWN - prices.length;
  context.strokeStyle = context.fillStyle = style.color;
  context.beginPath();
  prices.forEach((price, at) => context.lineTo(x(first + at), y(price)));
  context.lineWidth = 1.5;
  context.stroke();
  context.lineTo(right, height);
  context.lineTo(x(first), height);
  context.globalAlpha = 0.1;
  context.fill();
}
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

// The connection.

const page = serve(Trader, {
  quote: ({ side, amount }) => {
    const margin = Math.round(Number(the<HTMLInputElement>("margin").value) * 100);
    const price = last && last + (side === Side.BUY ? margin : -margin);
    tell("asked", make("li", `${word(side)} ${amount}? You said ${money(price)}.`));
    return { price };
  },
});
const { hostname } = location;
const channel = connect(`ws://${hostname}:${document.documentElement.dataset["port"]}/`, { serve: page, stayConnected: true });
const exchange = new ExchangeClient(channel);
const topics = new Topics(channel);

the("inquire").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = (event.target as HTMLElement).querySelector("button") as HTMLButtonElement;
  button.disabled = true;
  try {
    const begun = performance.now();
    const { price, called, answered } = await exchange.inquire({ side: Side.BUY, amount: 10 });
    const time = (performance.now() - begun).toFixed(0);
    show("offer", price ? `${money(price)} is the best of ${answered} of ${called}, after ${time} ms.` : `None of ${called} had a price.`);
  } catch (error) {
    show("offer", Status.from(error).message);
  }
  button.disabled = false;
});

/** Trades and shows the book. When the connection is lost, starts again after a second. */
async function trade(): Promise<never> {
  for (;;) {
    try {
      const books = await topics.subscribe("exchange.book");
      const reports = exchange.trade(orders());
      const ended = (async () => {
        for await (const report of reports) reported(report);
      })();
      the("state").dataset["is"] = "open";
      show("state", "connected");
      published(await exchange.look({}));
      const shown = (async () => {
        for await (const { payload } of books) published(decode(Book, payload));
      })();
      await Promise.race([ended, shown]);
    } catch (error) {
      the("state").dataset["is"] = "failed";
      show("state", Status.from(error).message);
    }
    // The market has withdrawn the resting orders.
    outgoing.length = 0;
    for (const own of mine.values()) own.left = 0;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
void trade();

setInterval(async () => {
  if (document.hidden) return;
  const begun = performance.now();
  try {
    await exchange.look({}, { timeout: 5000 });
    show("ping", `${(performance.now() - begun).toFixed(1)} ms`);
  } catch {
    show("ping", "–");
  }
}, 2000);
