/** Calls over WebSocket, here through a bridge to TCP that cuts messages anywhere. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { test } from "node:test";
import { SUBPROTOCOL, connect, type WebSocketLike } from "frisbee-rpc";
import { WebSocket, WebSocketServer } from "ws";
import type { Desk } from "./desk.js";
import { failed, suite } from "./suite.js";
import { DeskClient } from "./generated/desk.js";

/** A bridge from WebSocket to a server, whose messages end where those of TCP happen to, or earlier. */
const bridge = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false) });
bridge.on("connection", (socket, request) => {
  const tcp = connectTcp({ port: Number(request.url?.slice(1)) });
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
const { port } = bridge.address() as { port: number };


const Socket = WebSocket as unknown as new (url: string, protocols: string[]) => WebSocketLike;
const over = (server: Desk): string => `ws://127.0.0.1:${port}/${server.port}`;

suite("WebSocket", (server, options) => connect(over(server), { ...options, WebSocket: Socket }));

test("a server that does not speak the subprotocol is left", async () => {
  const other = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => false });
  await once(other, "listening");
  const channel = connect(`ws://127.0.0.1:${(other.address() as { port: number }).port}/`, { WebSocket: Socket, patience: 300 });
  assert.equal((await failed(new DeskClient(channel).add({}))).mayHaveRun, false);
  channel.close();
  other.close();
});

test.after(() => bridge.close());
