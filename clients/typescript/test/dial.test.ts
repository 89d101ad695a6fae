/** Transports that cannot connect: calls fail with a status, and connecting is retried as after a lost connection. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket as NetSocket } from "node:net";
import { test } from "node:test";
import { Channel, Code, Topics, connect, type Dial, type Status, type Transport, type TransportEvents, type WebSocketLike } from "frisbee-rpc";
import { connect as connectSocket, socket } from "frisbee-rpc/node";
import { WebSocket } from "ws";
import { Desk, DeskClient } from "./generated/desk.js";
import { frame, idOf, operationOf, splitter } from "./frame.js";
import { listening } from "./ports.js";
import { failed, until } from "./transports.js";

const Socket = WebSocket as unknown as new (url: string, protocols: string[]) => WebSocketLike;

/** Returns how a call on this channel fails. */
async function failure(channel: Channel, timeout?: number): Promise<Status> {
  const status = await failed(new DeskClient(channel).add({}, { timeout }));
  channel.close();
  return status;
}

test("transport that cannot be made fails calls with its reason", async () => {
  Reflect.deleteProperty(globalThis, "WebSocket");
  const reconnectTimeout = 50;
  const cases: readonly [Channel, RegExp][] = [
    [connect("ws://127.0.0.1:1/", { reconnectTimeout }), /no WebSocket; .* frisbee-rpc\/node/],
    [connect("foo://x", { reconnectTimeout, WebSocket: Socket }), /protocol/],
    [connectSocket({ port: 99_999 }, { reconnectTimeout }), /port/i],
    // The error includes every address of localhost.
    [connectSocket({ port: 1 }, { reconnectTimeout: 1000 }), /ECONNREFUSED/],
    [connect("ws://127.0.0.1:1/", { reconnectTimeout: 1000, WebSocket: Socket }), /ECONNREFUSED/],
    [new Channel(() => { throw new Error("no route"); }, { reconnectTimeout }), /no route/],
    [new Channel(() => { throw "a text"; }, { reconnectTimeout }), /a text/],
    [new Channel((events) => { events.close("closed at once"); return { send() {}, close() {}, buffered: () => 0 }; }, { reconnectTimeout }), /closed at once/],
  ];
  for (const [channel, reason] of cases) {
    const status = await failure(channel);
    assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, false], String(status));
    assert.match(status.message, reason);
  }
});

test("transport that throws later fails calls with its reason", async () => {
  const reconnectTimeout = 50;
  const fine = { send() {}, close() {}, buffered: () => 0 };
  const thrown = (reason: string) => () => { throw new Error(reason); };
  const channel = (transport: Partial<Transport>) => new Channel((events) => {
    setTimeout(() => { events.open(); events.data(new Uint8Array(16)); }, 1);
    return { ...fine, ...transport };
  }, { reconnectTimeout });
  const cases: readonly [Channel, RegExp][] = [
    [channel({ send: thrown("no room") }), /no room/],
    [channel({ buffered: thrown("no count") }), /no count/],
    [channel({ close: thrown("no end") }), /no end|protocol/],
    [channel({ send: thrown("no room"), close: thrown("no end") }), /no room/],
    [new Channel((async (events: TransportEvents) => { setTimeout(() => events.open(), 1); return fine; }) as unknown as Dial, { reconnectTimeout }), /send is not a function/],
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
  const channel = new Channel(dial, { reconnectTimeout: 5000 });
  const call = failed(new DeskClient(channel).add({}));
  await opened.promise;
  channel.close();
  await call;
  assert.equal(dials, 4);
});

/** Regression test: the channel kept a connection that had ended before it was assigned, and made no other. */
test("malformed bytes before the dial returns end the connection", async () => {
  let dials = 0;
  const dial: Dial = (events) => {
    events.open();
    events.data(++dials > 1 ? frame(0, 3, Buffer.from("fris\x01")) : new Uint8Array(16));
    return { send() {}, close() {}, buffered: () => 0 };
  };
  const channel = new Channel(dial);
  await channel.connected();
  assert.equal(dials, 2);
  channel.close();
});

test("deadline before a connection names the failure to connect", async () => {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, "close");
  const status = await failure(connectSocket({ host: "127.0.0.1", port }), 300);
  assert.deepEqual([status.code, status.mayHaveRun], [Code.DEADLINE_EXCEEDED, false]);
  assert.match(status.message, /no connection to the server: .*ECONNREFUSED/);
});

/**
 * Regression test: the backoff after connections that lasted less than two seconds was longer than the reconnect
 * timeout of calls.
 */
test("server that closes after each answer fails no call", async (context) => {
  // Selects the longest possible backoff.
  context.mock.method(Math, "random", () => 1);
  const dial: Dial = (events) => {
    events.open();
    events.data(frame(0, 3, Buffer.from("fris\x01")));
    const answer = (id: number, operation: number): void => {
      events.data(frame(id, operation, [8, 0, 13, 6, 10, 1]));
      events.close("closed after the answer");
    };
    const send = splitter((packet) => {
      const [id, operation] = [idOf(packet), operationOf(packet)];
      if (operation >= 10) setImmediate(answer, id, operation);
    });
    return { send, close() {}, buffered: () => 0 };
  };
  const channel = new Channel(dial, { reconnectTimeout: 500 });
  for (let call = 0; call < 12; call++) assert.equal((await new DeskClient(channel).add({})).total, 3n, `call ${call}`);
  channel.close();
});

test("waiting call is repeated when its write ends the connection", async () => {
  let dials = 0;
  const blob = { ...Desk.methods.blob, idempotent: true };
  const dial: Dial = (events) => {
    const isFirst = ++dials === 1;
    events.open();
    // One call at a time.
    events.data(frame(0, 3, [...Buffer.from("fris\x01"), 3, 1, 1]));
    const split = splitter((packet) => {
      const [id, operation] = [idOf(packet), operationOf(packet)];
      if (operation >= 10) setImmediate(() => events.data(frame(id, operation, operation === blob.operation ? [8, 0, 4, 10, 1, 7] : [8, 0, 13, 6, 10, 1])));
    });
    const send = (bytes: Uint8Array): void => {
      if (isFirst && bytes.length > 100_000) throw new Error("no room");
      split(bytes);
    };
    return { send, close() {}, buffered: () => 0 };
  };
  const channel = new Channel(dial);
  const first = new DeskClient(channel).add({});
  const second = channel.unary(Desk, blob, { data: new Uint8Array(100_000) }, { timeout: 5000 });
  assert.equal((await first).total, 3n);
  assert.deepEqual((await second).data, new Uint8Array([7]));
  assert.equal(dials, 2);
  channel.close();
});

/** Regression test: the subscription requested connections in an endless loop, so no event was handled. */
test("subscription continues on a channel without reconnect timeout", async () => {
  let dials = 0;
  let lose = (): void => {};
  const dial: Dial = (events) => {
    if (++dials > 1 && dials < 4) throw new Error("not yet");
    lose = () => events.close("lost");
    events.open();
    setImmediate(() => events.data(frame(0, 3, Buffer.from("fris\x01"))));
    const send = splitter((packet) => {
      const [id, operation] = [idOf(packet), operationOf(packet)];
      // The server confirms the subscription, and publishes the number of the connection as a message.
      if (operation === 0xff00) setImmediate(() => events.data(Buffer.concat([frame(id, operation), frame(id, 0xff02, [1, 97, dials])])));
    });
    return { send, close() {}, buffered: () => 0 };
  };
  const channel = new Channel(dial, { reconnectTimeout: 0 });
  await until("it is connected", () => channel.connected().then(() => true, () => false));
  const messages = await new Topics(channel).subscribe("a");
  assert.deepEqual((await messages.next()).value?.payload, new Uint8Array([1]));
  lose();
  assert.deepEqual((await messages.next()).value?.payload, new Uint8Array([4]));
  channel.close();
});

test("closed socket is gone though it never connects", async () => {
  const closed = deferred();
  const address = { host: "nowhere", port: 1, lookup: () => {} };
  socket(address)({ open() {}, data() {}, close: () => closed.resolve() }).close();
  await closed.promise;
});

/** Regression test: a client connected to itself on the port of a stopped server, which could not listen again. */
test("socket connected to itself is closed", async () => {
  const server = createServer();
  const port = await listening(server);
  server.close();
  const [opened, closed] = [deferred(), deferred()];
  const address = { host: "127.0.0.1", port, localPort: port };
  socket(address)({ open: () => opened.resolve(), data() {}, close: () => closed.resolve() });
  const ended = await Promise.race([opened.promise.then(() => "open"), closed.promise.then(() => "closed")]);
  assert.equal(ended, "closed");
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  server.close();
});

test("closed socket is gone though its peer reads nothing", async () => {
  const server = createServer({ pauseOnConnect: true });
  const accepted = once(server, "connection") as Promise<[NetSocket]>;
  const [opened, closed] = [deferred(), deferred()];
  const port = await listening(server);
  const transport = socket({ host: "127.0.0.1", port })({ open: () => opened.resolve(), data() {}, close: () => closed.resolve() });
  await opened.promise;
  transport.send(new Uint8Array(64 << 20));
  transport.close();
  await closed.promise;
  const [peer] = await accepted;
  peer.destroy();
  server.close();
});

/** Regression test: each byte that the peer sent extended the timeout for unsent bytes. */
test("closed socket is gone though its peer only sends", { timeout: 10_000 }, async (context) => {
  const server = createServer({ pauseOnConnect: true });
  const accepted = once(server, "connection") as Promise<[NetSocket]>;
  const [opened, closed] = [deferred(), deferred()];
  const port = await listening(server);
  const transport = socket({ host: "127.0.0.1", port })({ open: () => opened.resolve(), data() {}, close: () => closed.resolve() });
  const [peer] = await accepted;
  // Ignored, because the socket may be closed before the next byte is sent.
  peer.on("error", () => {});
  const sending = setInterval(() => peer.write("a"), 100);
  context.after(() => {
    clearInterval(sending);
    peer.destroy();
    server.close();
  });
  await opened.promise;
  transport.send(new Uint8Array(64 << 20));
  context.mock.timers.enable({ apis: ["setTimeout"] });
  transport.close();
  context.mock.timers.tick(60_000);
  await closed.promise;
});

test("call without a connection names the end of the last one, and that it may have run", async (context) => {
  let dials = 0;
  let lose = (): void => {};
  const sent = deferred();
  const dial: Dial = (events) => {
    const isFirst = ++dials === 1;
    if (isFirst) {
      lose = () => events.close("lost by a test");
      events.open();
      setImmediate(() => events.data(frame(0, 3, Buffer.from("fris\x01"))));
    }
    // Before the first call of a service, a packet announces the service.
    const send = splitter((packet) => void (operationOf(packet) >= 10 && sent.resolve()));
    return { send, close() {}, buffered: () => 0 };
  };
  const channel = new Channel(dial, { reconnectTimeout: 50 });
  // On a busy machine, connecting may take longer than the reconnect timeout of the call below.
  const link = await channel.connected(undefined, Infinity);
  // Advances the clock, so that the connection counts as long-lived.
  const now = performance.now.bind(performance);
  context.mock.method(performance, "now", () => now() + 10_000);
  const repeated = failed(new DeskClient(channel).get({}));
  await sent.promise;
  lose();
  assert.equal(link.isUp, false);
  const status = await repeated;
  assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, true]);
  assert.match(status.message, /lost by a test/);
  const closed = failed(new DeskClient(channel).get({}));
  channel.close();
  assert.equal((await closed).mayHaveRun, false);
});

/**
 * Regression test: a loop of publications never yielded to the transport, and the connection was closed at 64 MiB of
 * unsent bytes.
 */
test("calls and publications wait while much is unsent", async () => {
  const [count, size] = [100, 1 << 20];
  let [dials, unsent, most, received] = [0, 0, 0, 0];
  const dial: Dial = (events) => {
    dials++;
    events.open();
    events.data(frame(0, 3, Buffer.from("fris\x01")));
    const take = (): void => {
      received += unsent;
      unsent = 0;
    };
    const send = (bytes: Uint8Array): void => {
      if (!unsent) setImmediate(take);
      most = Math.max(most, (unsent += bytes.length));
      for (let at = 0; at < bytes.length; ) {
        const sent = Buffer.from(bytes.buffer, bytes.byteOffset + at);
        const [id, operation] = [sent.readUInt16BE(2), sent.readUInt16BE(4)];
        if (operation === Desk.methods.blob.operation) setImmediate(() => events.data(frame(id, operation, [8, 0, 4, 10, 0])));
        at += 10 + sent.readUInt32BE(6);
      }
    };
    return { send, close() {}, buffered: () => unsent };
  };
  const channel = new Channel(dial);
  const [client, topics, data] = [new DeskClient(channel), new Topics(channel), new Uint8Array(size)];
  await channel.connected();
  for (let at = 0; at < count; at++) await topics.publish("a", data);
  await Promise.all(Array.from({ length: count }, () => client.blob({ data })));
  await until("all is sent", () => received > 2 * count * size);
  assert.equal(dials, 1);
  assert.ok(most < 16 * size, `${most} bytes waited`);
  channel.close();
});

/** Regression test: a call whose reconnect timeout expired while the connection had no free slot waited forever. */
test("call that waited for a slot fails when no connection follows", { timeout: 10_000 }, async () => {
  let lose = (): void => {};
  let dials = 0;
  const dial: Dial = (events) => {
    if (++dials > 1) throw new Error("no route");
    lose = () => events.close("lost");
    events.open();
    // The HELLO of the server permits one stream.
    setImmediate(() => events.data(frame(0, 3, [...Buffer.from("fris\x01"), 2, 1, 1])));
    return { send() {}, close() {}, buffered: () => 0 };
  };
  const channel = new Channel(dial, { reconnectTimeout: 0 });
  await until("it is connected", () => channel.connected().then(() => true, () => false));
  const client = new DeskClient(channel);
  const streams = [client.count({}), client.count({})].map((replies) => failed(replies.next()));
  lose();
  const [open, waiting] = await Promise.all(streams);
  assert.deepEqual([open?.mayHaveRun, waiting?.mayHaveRun], [true, false]);
  assert.match(waiting?.message ?? "", /no connection to the server: lost/);
  channel.close();
});

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((resolved) => (resolve = resolved));
  return { promise, resolve };
}
