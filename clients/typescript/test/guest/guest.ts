/**
 * Runs the matrix in a browser, Deno or Bun, with the WebSocket of the runtime and servers started by `host.ts`. A
 * browser runs one selected test at a time. Other runtimes run all tests and print a line of JSON for each.
 */

import { connect, Topics } from "frisbee-rpc";
import { calls } from "../matrix/calls.js";
import { layouts } from "../matrix/layouts.js";
import { topics } from "../matrix/topics.js";
import { vectors } from "../matrix/vectors.js";
import type { Desk, TestTransport } from "../transports.js";
import { DeskClient } from "../generated/desk.js";
import { registered } from "./registry.js";

const page = globalThis as unknown as {
  location?: { origin: string };
  process?: { argv: string[] };
  names: () => string[];
  run: (name: string) => Promise<string>;
  attempt: (url: string) => Promise<string>;
  stays: (url: string, millis: number) => Promise<string>;
  follow: (url: string, last: number) => Promise<void>;
  followed: () => Followed;
};

/** Statistics about the numbered messages received from a topic. */
export interface Followed {
  /** Number of the last message received. */
  last: number;
  received: number;
  /** Number of messages that the subscription reported as lost. */
  stated: number;
  /** Number of lost messages that were not reported, or reported although they arrived. */
  silent: number;
  twice: number;
  /** Number of times that the subscription reported an unknown number of lost messages. */
  unknown: number;
  connections: number;
}
const isBrowser = typeof document === "object";
const host = isBrowser ? page.location?.origin : page.process?.argv[2];

async function post<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`${host}/${path}`, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as T;
}

async function start(address = "127.0.0.1:0", ...flags: string[]): Promise<Desk> {
  const desk = await post<{ id: number; port: number; address: string }>("start", { address, flags });
  return { ...desk, stop: () => post<void>("stop", { id: desk.id }) };
}

const TRANSPORTS: readonly TestTransport[] = [
  { name: "WebSocket", connect: ({ port }, options) => connect(`ws://127.0.0.1:${port}/`, options), start },
  ...(isBrowser ? [{ name: "WebSocket with TLS", connect: ({ port }, options) => connect(`wss://127.0.0.1:${port}/`, options), start } satisfies TestTransport] : []),
];
for (const transport of TRANSPORTS) {
  calls(transport);
  layouts(transport);
  topics(transport);
}
vectors();

/** Runs a test. Returns the failure, or `undefined`. */
page.run = async (name) => {
  try {
    await registered.get(name)?.();
    return "";
  } catch (error) {
    return String((error as Error).stack ?? error);
  }
};
page.names = () => [...registered.keys()];

/** Makes a call. Returns the text of its status, or "answered". */
page.attempt = async (url) => {
  const channel = connect(url, { reconnectTimeout: 300 });
  const text = await new DeskClient(channel).add({}).then(() => "answered", String);
  channel.close();
  return text;
};

/** Makes a call of this duration. Returns `document.visibilityState` afterwards, or the failure of the call. */
page.stays = async (url, millis) => {
  const channel = connect(url);
  try {
    await new DeskClient(channel).wait({ millis });
    return document.visibilityState;
  } catch (error) {
    return String(error);
  } finally {
    channel.close();
  }
};

const counts: Followed = { last: 0, received: 0, stated: 0, silent: 0, twice: 0, unknown: 0, connections: 0 };

/** Subscribes to numbered messages, and updates the statistics until the last one arrives. */
page.follow = async (url, last) => {
  const native = WebSocket;
  globalThis.WebSocket = class extends native {
    constructor(...options: ConstructorParameters<typeof native>) {
      super(...options);
      this.addEventListener("open", () => counts.connections++);
    }
  };
  const channel = connect(url);
  const messages = await new Topics(channel).subscribe("load.a", { from: "oldest" });
  const text = new TextDecoder();
  void (async () => {
    for await (const { payload, lagged, reconnected } of messages) {
      const number = Number(text.decode(payload));
      counts.received++;
      counts.stated += lagged;
      counts.unknown += Number(reconnected);
      if (number <= counts.last) counts.twice++;
      else counts.silent += Math.abs(number - counts.last - 1 - lagged);
      counts.last = number;
      if (number === last) break;
    }
    channel.close();
  })();
};
page.followed = () => counts;

if (!isBrowser) {
  for (const name of registered.keys()) console.log(JSON.stringify({ name, failure: await page.run(name) }));
}
