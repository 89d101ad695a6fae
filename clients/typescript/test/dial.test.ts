/** Transports that cannot be made: they fail calls with a status, and are tried again like lost connections. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { Channel, Code, connect, type Dial, type Status, type WebSocketLike } from "frisbee-rpc";
import { connect as connectSocket } from "frisbee-rpc/node";
import { WebSocket } from "ws";
import { DeskClient } from "./generated/desk.js";
import { failed } from "./place.js";

const Socket = WebSocket as unknown as new (url: string, protocols: string[]) => WebSocketLike;

/** How a call on this channel fails. */
async function failure(channel: Channel, timeout?: number): Promise<Status> {
  const status = await failed(new DeskClient(channel).add({}, { timeout }));
  channel.close();
  return status;
}

test("transport that cannot be made fails calls with its reason", async () => {
  Reflect.deleteProperty(globalThis, "WebSocket");
  const patience = 50;
  const cases: readonly [Channel, RegExp][] = [
    [connect("ws://127.0.0.1:1/", { patience }), /no global WebSocket; .* frisbee-rpc\/node/],
    [connect("foo://x", { patience, WebSocket: Socket }), /protocol/],
    [connectSocket({ port: 99_999 }, { patience }), /port/i],
    [new Channel(() => { throw new Error("no route"); }, { patience }), /no route/],
    [new Channel(() => { throw "a text"; }, { patience }), /a text/],
    [new Channel((events) => { events.close("closed at once"); return { send() {}, close() {}, buffered: () => 0 }; }, { patience }), /closed at once/],
  ];
  for (const [channel, reason] of cases) {
    const status = await failure(channel);
    assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, false], String(status));
    assert.match(status.message, reason);
  }
});

test("failed dial is repeated until one succeeds", async () => {
  let dials = 0;
  const opened = deferred();
  const dial: Dial = (events) => {
    if (++dials < 4) throw new Error("not yet");
    events.open();
    return { send: () => opened.resolve(), close() {}, buffered: () => 0 };
  };
  const channel = new Channel(dial, { patience: 5000 });
  const call = failed(new DeskClient(channel).add({}));
  await opened.promise;
  channel.close();
  await call;
  assert.equal(dials, 4);
});

test("deadline before a connection names the failure to connect", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  const status = await failure(connectSocket({ host: "127.0.0.1", port }), 300);
  assert.deepEqual([status.code, status.mayHaveRun], [Code.DEADLINE_EXCEEDED, false]);
  assert.match(status.message, /no connection to the server: .*ECONNREFUSED/);
});

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((resolved) => (resolve = resolved));
  return { promise, resolve };
}
