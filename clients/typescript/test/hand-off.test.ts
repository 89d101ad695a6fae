/** Tests connections that the server hands off to Node. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { Code, type Channel, type Status } from "frisbee-rpc";
import { handOff, type Address, type HandOffOptions } from "frisbee-rpc/node";
import { desk, folder } from "./desk.js";
import { frame, idOf, operationOf, splitter } from "./frame.js";
import { Desk, DeskClient } from "./generated/desk.js";
import { listening } from "./ports.js";
import { failed, type Desk as Server } from "./transports.js";

const host = "127.0.0.1";
const HELLO = frame(0, 3, Buffer.from("fris\x01"));
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const blob = (address: Address, text: string, options?: HandOffOptions): ReturnType<typeof handOff<{ data: Uint8Array }, { data: Uint8Array }>> =>
  handOff(address, Desk, Desk.methods.blob, { data: bytes(text) }, options);

/** Reads the given number of bytes from a socket. */
async function take(socket: Socket, length: number): Promise<string> {
  let read = "";
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    read += String(chunk);
    if (read.length >= length) break;
  }
  return read;
}

async function exchange(socket: Socket): Promise<void> {
  assert.equal(await take(socket, 6), "ready ");
  socket.write("some bytes");
  assert.equal(await take(socket, 10), "SOME BYTES");
  socket.end("more");
  assert.equal(await take(socket, 4), "MORE");
  // A server that is stopped early resets the connection. Waiting for the close handles this error.
  socket.resume();
  if (!socket.closed) await once(socket, "close");
}

let server: Server;
test.before(async () => void (server = await desk()));
test.after(() => server.stop());

test("handed off socket is a duplex stream of bytes after the reply", async () => {
  const { reply, socket } = await blob({ host, port: server.port }, "take");
  assert.deepEqual(reply.data, bytes("take"));
  await exchange(socket);
});

test("handed off socket over TLS is a duplex stream", async () => {
  const here = folder();
  const secure = await desk(undefined, "--tls", here);
  const { socket } = await blob({ host, port: secure.port }, "take", { tls: { ca: readFileSync(`${here}/certificate.pem`) } });
  await exchange(socket);
  await secure.stop();
});

test("hand-off is repeated while the server is busy", async () => {
  let busy = 2;
  // Answers the first requests in place of the server. Passes on everything else.
  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    const there = connect({ port: server.port, host, allowHalfOpen: true });
    there.on("error", () => {}).pipe(client.on("error", () => {}));
    let received = Buffer.alloc(0);
    client.on("data", (part) => {
      received = Buffer.concat([received, part]);
      while (busy >= 0 && received.length >= 10 && received.length >= 10 + received.readUInt32BE(6)) {
        const isHandOff = received.readUInt16BE(4) === 8;
        const rest = received.subarray(10 + received.readUInt32BE(6));
        busy -= Number(isHandOff);
        if (isHandOff && busy >= 0) client.write(frame(0, 8, [2]));
        else there.write(received.subarray(0, received.length - rest.length));
        received = rest;
      }
      if (busy < 0) {
        there.write(received);
        received = Buffer.alloc(0);
      }
    }).on("end", () => there.end());
  });
  proxy.unref();
  const port = await listening(proxy);
  const { socket } = await blob({ host, port }, "take");
  await exchange(socket);
  assert.equal(busy, -1);
  proxy.close();
});

// Regression test: the answer removed the error listener of the socket, so a reset was an uncaught exception.
test("answer after a cancelled hand-off is ignored", async () => {
  const stop = new AbortController();
  const answering = createServer((socket) => {
    socket.on("error", () => {}).write(HELLO);
    // The client cannot write its whole request, so its socket stays open after the cancellation.
    socket.on("data", (part) => {
      if (!part.includes("xxx")) return;
      socket.pause();
      stop.abort();
    });
  });
  const sockets: Socket[] = [];
  answering.on("connection", (socket) => sockets.push(socket));
  const port = await listening(answering);
  const cancelled = await failed(blob({ host, port }, "x".repeat(5_000_000), { signal: stop.signal }));
  assert.equal(cancelled.code, Code.CANCELLED, String(cancelled));
  const [socket] = sockets;
  assert.ok(socket);
  await new Promise((resolve) => socket.write(frame(0, 8, [1]), resolve));
  // The client reads the answer before it notices the reset.
  socket.resetAndDestroy();
  await once(socket, "close");
  answering.close();
});

test("calls before the hand-off use the same connection", async () => {
  let total = 0n;
  const { socket } = await blob({ host, port: server.port }, "take", {
    before: async (channel) => ({ total } = await new DeskClient(channel).add({ a: 2n, b: 40n })),
  });
  assert.equal(total, 42n);
  await exchange(socket);
});

test("connection that the server keeps is an error", async () => {
  const at = { host, port: server.port };
  const kept = await failed(blob(at, "keep"));
  assert.deepEqual([kept.code, kept.message], [Code.FAILED_PRECONDITION, "the handler kept the connection"]);
  const refused = await failed(blob(at, "fail"));
  assert.deepEqual([refused.code, refused.message], [Code.UNAVAILABLE, "no connection today"]);
  const other = await failed(handOff(at, Desk, Desk.methods.add, { a: 1n }));
  assert.equal(other.code, Code.UNIMPLEMENTED, String(other));
  const gone = await failed(blob({ host, port: 1 }, "take", { reconnectTimeout: 50 }));
  assert.equal(gone.code, Code.UNAVAILABLE);
});

/**
 * Regression tests: a server that asked for the layout after the request got no answer, and a missing description was
 * sent as an empty one.
 */
for (const layout of [Desk.layout, ""]) test(`layout ${layout && "with a description "}is sent before the hand-off`, async () => {
  const packets: Buffer[] = [];
  // This server sends HELLO and refuses the hand-off.
  const refusing = createServer((socket) => {
    socket.once("data", () => socket.write(HELLO));
    socket.on("error", () => {}).on("data", splitter((packet) => {
      packets.push(packet);
      if (operationOf(packet) === 8) socket.write(frame(0, 8, [3]));
    }));
  });
  const port = await listening(refusing);
  await failed(handOff({ host, port }, { ...Desk, layout }, Desk.methods.blob, {}));
  const [description, request] = packets.slice(-2) as [Buffer, Buffer];
  assert.deepEqual([idOf(description), operationOf(description), operationOf(request)], [2, 3, 8]);
  assert.equal(description.subarray(10).toString("base64"), layout || Buffer.from(`00${Desk.fingerprint}`, "hex").toString("base64"));
  refusing.close();
});

test("abort before the answer closes the connection", async () => {
  // This server sends HELLO but does not answer the hand-off request.
  const silent = createServer((socket) => {
    socket.once("data", () => socket.write(Buffer.concat([HELLO, frame(0, 1)]))).on("error", () => {});
  });
  const port = await listening(silent);
  const accepted = once(silent, "connection") as Promise<[Socket]>;
  const controller = new AbortController();
  const call = failed(blob({ host, port }, "take", { signal: controller.signal }));
  const [socket] = await accepted;
  let received = "";
  await new Promise<void>((resolve) => socket.on("data", (chunk: Buffer) => {
    // This is a HAND_OFF request for operation 12.
    if ((received += chunk.toString("hex")).includes("000f00000008")) resolve();
  }));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  controller.abort();
  assert.equal((await call).code, Code.CANCELLED);
  await closed;
  silent.close();
});

// Regression test: the hand-off waited for the earlier calls to end, for up to 30 s.
test("abort of the calls before the hand-off closes the connection", { timeout: 10_000 }, async () => {
  // This server sends HELLO but answers nothing.
  const silent = createServer((socket) => {
    socket.once("data", () => socket.write(Buffer.concat([HELLO, frame(0, 1)]))).on("error", () => {});
  });
  const accepted = once(silent, "connection") as Promise<[Socket]>;
  const controller = new AbortController();
  const port = await listening(silent);
  let call: Promise<Status> | undefined;
  await new Promise<void>((called) => {
    const before = async (channel: Channel): Promise<void> => {
      await channel.connected();
      const adding = new DeskClient(channel).add({});
      called();
      await adding;
    };
    call = failed(blob({ host, port }, "take", { signal: controller.signal, before }));
  });
  const [socket] = await accepted;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  controller.abort();
  const status = await call;
  assert.deepEqual([status?.code, status?.mayHaveRun], [Code.CANCELLED, false]);
  await closed;
  silent.close();
});

// Regression test: after the connection was lost, the hand-off was requested on a new one that had not logged in.
test("connection lost after the calls before the hand-off is not replaced", async () => {
  const sockets: Socket[] = [];
  let isRequested = false;
  // This server sends HELLO but answers nothing.
  const greeting = createServer((socket) => {
    sockets.push(socket);
    socket.once("data", () => socket.write(Buffer.concat([HELLO, frame(0, 1)])));
    socket.on("data", (chunk: Buffer) => {
      if (!chunk.toString("hex").includes("000f00000008")) return;
      isRequested = true;
      socket.destroy();
    }).on("error", () => {});
  });
  const port = await listening(greeting);
  const lost = await failed(blob({ host, port }, "take", {
    before: async (channel) => {
      const first = await channel.connected();
      sockets[0]?.destroy();
      while (first.isUp) await new Promise(setImmediate);
    },
  }));
  assert.deepEqual([lost.code, lost.mayHaveRun, isRequested], [Code.UNAVAILABLE, false, false]);
  sockets.forEach((socket) => socket.destroy());
  greeting.close();
});
