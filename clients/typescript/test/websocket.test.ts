/**
 * Calls over WebSocket: directly to the server with and without TLS, and through a bridge that splits messages at any
 * position.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectTcp } from "node:net";
import { test } from "node:test";
import { SUBPROTOCOL, connect, type WebSocketLike } from "frisbee-rpc";
import { WebSocket, WebSocketServer } from "ws";
import { desk, folder } from "./desk.js";
import { frame, idOf, operationOf, splitter } from "./frame.js";
import { DeskClient } from "./generated/desk.js";
import { calls } from "./matrix/calls.js";
import { layouts } from "./matrix/layouts.js";
import { topics } from "./matrix/topics.js";
import { failed, type TestTransport } from "./transports.js";

const here = folder();
const Socket = WebSocket as unknown as new (url: string, protocols: string[]) => WebSocketLike;

/** Returns a WebSocket class that trusts the certificate of the tests. */
class Trusting extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols, { ca: readFileSync(`${here}/certificate.pem`) });
  }
}

/** A bridge from WebSocket to a TCP server. A WebSocket message contains the bytes of one TCP read, or only a part. */
const bridge = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false) });
bridge.on("connection", (socket, request) => {
  const tcp = connectTcp({ host: "127.0.0.1", port: Number(request.url?.slice(1)) });
  tcp.on("data", (data) => {
    const at = data.length < 100_000 ? Math.floor(data.length / 3) : 0;
    if (at) socket.send(data.subarray(0, at));
    socket.send(data.subarray(at));
  });
  socket.on("message", (data) => tcp.write(data as Buffer));
  tcp.on("close", () => socket.close());
  tcp.on("error", () => socket.close());
  socket.on("close", () => tcp.destroy());
});
await once(bridge, "listening");
test.after(() => bridge.close());
const { port: bridgePort } = bridge.address() as { port: number };

const TRANSPORTS: readonly TestTransport[] = [
  { name: "WebSocket", connect: ({ port }, options) => connect(`ws://127.0.0.1:${port}/`, { ...options, WebSocket: Socket }), start: desk },
  {
    name: "WebSocket with TLS",
    connect: ({ port }, options) => connect(`wss://127.0.0.1:${port}/`, { ...options, WebSocket: Trusting as unknown as typeof Socket }),
    start: (address, ...flags) => desk(address, "--tls", here, ...flags),
  },
  { name: "a bridge", connect: ({ port }, options) => connect(`ws://127.0.0.1:${bridgePort}/${port}`, { ...options, WebSocket: Socket }), start: desk },
];
for (const transport of TRANSPORTS) {
  calls(transport);
  layouts(transport);
  topics(transport);
}

test("a server that does not speak the subprotocol is left", async () => {
  const other = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => false });
  await once(other, "listening");
  const channel = connect(`ws://127.0.0.1:${(other.address() as { port: number }).port}/`, { WebSocket: Socket, reconnectTimeout: 300 });
  const status = await failed(new DeskClient(channel).add({}));
  assert.equal(status.mayHaveRun, false);
  assert.match(status.message, /subprotocol|does not speak frisbee.1/);
  channel.close();
  other.close();
});

// Regression test: `ws` compresses messages asynchronously, and the channel reused their buffer before that.
test("requests over a compressed WebSocket arrive unchanged", async () => {
  const lasts: (number | undefined)[] = [];
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: true });
  server.on("connection", (socket) => {
    socket.send(frame(0, 3, Buffer.from("fris\x01")));
    const split = splitter((packet) => {
      if (operationOf(packet) < 10) return;
      lasts.push(packet.at(-1));
      socket.send(frame(idOf(packet), operationOf(packet), [8, 0, 4, 10, 0]));
    });
    socket.on("message", (data) => split(data as Buffer));
  });
  await once(server, "listening");
  const channel = connect(`ws://127.0.0.1:${(server.address() as { port: number }).port}/`, { WebSocket: Socket, timeout: 5000 });
  await channel.connected();
  const client = new DeskClient(channel);
  // Each request exceeds the size at which the connection flushes.
  const replies = [1, 2, 3, 4].map((fill) => client.blob({ data: new Uint8Array(70_000).fill(fill) }));
  await Promise.all(replies);
  assert.deepEqual(lasts, [1, 2, 3, 4]);
  channel.close();
  server.close();
});
