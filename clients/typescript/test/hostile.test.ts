/** Servers that violate the protocol. Calls must fail with a status, and memory must not grow. */

import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { Code, Topics } from "frisbee-rpc";
import { connect, handOff } from "frisbee-rpc/node";
import { frame, idOf, operationOf, splitter } from "./frame.js";
import { listening } from "./ports.js";
import { failed, until } from "./transports.js";
import { Desk, DeskClient } from "./generated/desk.js";

const HELLO = frame(0, 3, [...Buffer.from("fris\x01"), 4, 3, 0x80, 0x80, 0x10]);

/**
 * Runs a function with a server that sends these bytes to each client. The server answers requests only through
 * `answer`.
 */
async function withServer(bytes: Buffer, run: (client: DeskClient) => Promise<void>, answer?: (socket: Socket, frame: Buffer) => void): Promise<void> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.write(bytes);
    socket.on("data", splitter((packet) => answer?.(socket, packet)));
  });
  const port = await listening(server);
  const channel = connect({ port, host: "127.0.0.1" }, { reconnectTimeout: 1000 });
  try {
    await run(new DeskClient(channel));
  } finally {
    channel.close();
    server.close();
  }
}

for (const [name, bytes, reason] of [
  ["a length beyond the limit", frame(0, 3, [], 0xffff_ffff), /a packet of 4294967295 bytes/],
  ["a length just beyond the limit after HELLO", Buffer.concat([HELLO, frame(0, 9, [], (5 << 20) + 1)]), /a packet of 5242881 bytes/],
  ["a packet of operation 3 just beyond its limit", Buffer.concat([HELLO, frame(5, 3, [], (64 << 10) + 1)]), /a packet of 65537 bytes/],
  ["no magic", Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"), /without its magic/],
  ["a reply before HELLO", frame(0, 10, [8, 0]), /before HELLO/],
  ["a HELLO that is none", frame(0, 3, [1, 2, 3]), /broke the protocol/],
  ["a HELLO with an item that is cut off", frame(0, 3, [...Buffer.from("fris\x01"), 1, 200, 1]), /truncated/],
  ["a HELLO with an empty number", frame(0, 3, [...Buffer.from("fris\x01"), 3, 0]), /HELLO item 3: truncated/],
  ["a HELLO with bytes after a number", frame(0, 3, [...Buffer.from("fris\x01"), 3, 2, 7, 7]), /HELLO item 3: a number is too long/],
  ["a HELLO with a number above 64 bits", frame(0, 3, [...Buffer.from("fris\x01"), 4, 10, ...new Array<number>(9).fill(0x80), 2]), /HELLO item 4: a number is too long/],
  ["a HELLO with an item twice", frame(0, 3, [...Buffer.from("fris\x01"), 2, 1, 7, 2, 1, 7]), /HELLO item 2: occurs twice/],
  ["a HELLO with a service that is cut off", frame(0, 3, [...Buffer.from("fris\x01"), 32, 3, 1, 0x61, 0]), /HELLO item 32: truncated/],
  ["a HELLO with an item that must be understood", frame(0, 3, [...Buffer.from("fris\x01"), 200, 0]), /HELLO item 200: must be understood/],
  ["a packet that must be understood", Buffer.concat([HELLO, frame(0x8000, 3)]), /packet type 32768 must be understood/],
  ["a PONG before HELLO, as Go answers", frame(0, 1), /compat peer/],
  ["a PING with a body", Buffer.concat([HELLO, frame(0, 0, [1])]), /with a body/],
  ["a request for no layouts", Buffer.concat([HELLO, frame(1, 3)]), /ASK of 0 bytes/],
  ["a request for too many layouts", Buffer.concat([HELLO, frame(1, 3, new Array<number>(65 * 16).fill(1))]), /ASK of 1040 bytes/],
  ["an answer to no hand-off", Buffer.concat([HELLO, frame(0, 8, [1])]), /HAND_OFF/],
] as const) {
  test(`calls fail when the server sends ${name}`, () =>
    withServer(bytes, async (client) => {
      const status = await failed(client.add({}));
      assert.equal(status.code, Code.UNAVAILABLE);
      assert.match(status.message, reason);
    }));
}

test("a server without a broker fails pending subscriptions", () =>
  withServer(
    HELLO,
    async (client) => {
      const topics = new Topics(client.channel);
      for (const request of [topics.sync(), topics.subscribe("a"), topics.subscribe("a", { from: "last" })]) {
        const status = await failed(request);
        assert.deepEqual([status.code, status.message, status.mayHaveRun], [Code.UNIMPLEMENTED, "no", false]);
      }
    },
    (socket, request) => {
      // The server rejects it like any unknown operation.
      const prefix = [16, 5, 3, 1, Code.UNIMPLEMENTED, 5, 0];
      if (operationOf(request) >= 0xff00) socket.write(frame(idOf(request), operationOf(request), [...prefix, 6, 5, 10, 2, 0x6e, 0x6f]));
    },
  ));

test("items of HELLO that this end does not know are skipped", () =>
  withServer(
    // HELLO items for compression, for a later version, and for credit.
    frame(0, 3, [...Buffer.from("fris\x01"), 35, 1, 1, 127, 2, 1, 2, 4, 3, 0x80, 0x80, 0x10]),
    async (client) => assert.equal((await client.add({})).total, 3n),
    (socket, request) => {
      if (operationOf(request) >= 10) socket.write(frame(idOf(request), operationOf(request), [8, 0, 13, 6, 10, 1]));
    },
  ));

test("limits in HELLO have up to 64 bits", () => {
  const most = [10, ...new Array<number>(9).fill(0xff), 1];
  return withServer(
    frame(0, 3, [...Buffer.from("fris\x01"), ...[1, 2, 3, 4].flatMap((type) => [type, ...most])]),
    async (client) => assert.equal((await client.add({})).total, 3n),
    (socket, request) => {
      if (operationOf(request) >= 10) socket.write(frame(idOf(request), operationOf(request), [8, 0, 13, 6, 10, 1]));
    },
  );
});

test("offset of a topic that a number cannot hold ends the connection", () =>
  withServer(
    HELLO,
    async (client) => {
      const topics = new Topics(client.channel);
      await topics.subscribe("a", { from: "now" });
      assert.match((await failed(topics.sync())).message, /beyond 2\^53/);
    },
    (socket, request) => {
      const epoch = new Array<number>(8).fill(1);
      // The reply announces one topic of the history. Its position has the offset 2^53 + 1.
      if (operationOf(request) === 0xff06) socket.write(frame(idOf(request), 0xff06, [0, 1, ...epoch, 1]));
      if (operationOf(request) === 0xff03) socket.write(frame(1, 0xff07, [1, 0x61, ...epoch, 0x81, ...new Array<number>(6).fill(0x80), 0x10]));
    },
  ));

/** Bodies of a broker's packets: the answer to FOLLOW with a number of topics, and the position of the topic `a`. */
const epoch = new Array<number>(8).fill(1);
const followed = (topics: number): number[] => [0, 1, ...epoch, topics];
const position = (offset: number): number[] => [1, 0x61, ...epoch, offset];

// A broker with history refuses FOLLOW with the operation of the request, and others with REFUSED.
for (const refusal of [0xff05, 0xff06]) test(`a subscription continues without its positions if refused by ${refusal}`, () => {
  const requests: number[][] = [];
  return withServer(
    HELLO,
    async (client) => {
      const messages = await new Topics(client.channel).subscribe("*", { from: "oldest" });
      const received = [(await messages.next()).value, (await messages.next()).value];
      assert.deepEqual(received.map((message) => [message?.payload[0], message?.reconnected]), [[1, false], [2, true]]);
      assert.deepEqual(requests, [[1, 0x2a, 2], [1, 0x2a, 2, ...position(8)], [1, 0x2a, 0]]);
    },
    (socket, request) => {
      if (operationOf(request) !== 0xff06) return;
      const id = idOf(request);
      requests.push([...request.subarray(10)]);
      if (requests.length === 1) {
        socket.end(Buffer.concat([frame(id, 0xff06, followed(1)), frame(id, 0xff07, position(7)), frame(id, 0xff02, [1, 0x61, 1])]));
      } else if (requests.length === 2) socket.write(frame(id, refusal, [3, ...Buffer.from("too many positions")]));
      else socket.write(Buffer.concat([frame(id, 0xff06, followed(0)), frame(0, 0xff07, position(20)), frame(0, 0xff02, [1, 0x61, 2])]));
    },
  );
});

test("losses are reported after a reconnect to a broker without history", () => {
  let requests = 0;
  return withServer(
    HELLO,
    async (client) => {
      const messages = await new Topics(client.channel).subscribe("*", { from: "oldest" });
      const received = [(await messages.next()).value, (await messages.next()).value];
      assert.deepEqual(received.map((message) => [message?.lagged, message?.reconnected]), [[0, false], [5, true]]);
    },
    (socket, request) => {
      const id = idOf(request);
      if (operationOf(request) === 0xff00) {
        return void socket.write(Buffer.concat([frame(id, 0xff00), frame(0, 0xff04, [5]), frame(0, 0xff02, [1, 0x61, 2])]));
      }
      if (operationOf(request) !== 0xff06) return;
      if (++requests > 1) return void socket.write(frame(id, 0xff05, [4]));
      socket.end(Buffer.concat([frame(id, 0xff06, followed(1)), frame(id, 0xff07, position(7)), frame(id, 0xff02, [1, 0x61, 1])]));
    },
  );
});

for (const from of ["now", "last", "oldest"] as const) test(`a loss during the list of topics from ${from} is reported`, () => {
  let requests = 0;
  return withServer(
    HELLO,
    async (client) => {
      const messages = await new Topics(client.channel).subscribe("*", { from });
      const received = [(await messages.next()).value, (await messages.next()).value];
      assert.deepEqual(received.map((message) => message?.reconnected), [false, true]);
    },
    (socket, request) => {
      if (operationOf(request) !== 0xff06) return;
      const id = idOf(request);
      const answer = Buffer.concat([frame(id, 0xff06, followed(2)), frame(id, 0xff07, position(7 + requests)), frame(id, 0xff02, [1, 0x61, 1])]);
      if (++requests > 1) socket.write(answer);
      else socket.end(answer);
    },
  );
});

for (const from of [undefined, "now"] as const) test(`a loss before a subscription with ${from} began is not its own`, () =>
  withServer(
    HELLO,
    async (client) => {
      const messages = await new Topics(client.channel).subscribe("*", { from });
      assert.equal((await messages.next()).value?.lagged, 0);
    },
    (socket, request) => {
      const [id, operation] = [idOf(request), operationOf(request)];
      if (operation < 0xff00) return;
      const answer = operation === 0xff06 ? followed(0) : [];
      socket.write(Buffer.concat([frame(0, 0xff04, [5]), frame(id, operation, answer), frame(0, 0xff02, [1, 0x61, 2])]));
    },
  ));

test("a subscription continues without positions that exceed the longest packet", () => {
  const lengths: number[] = [];
  // The HELLO of the server permits bodies of 1024 bytes.
  return withServer(
    frame(0, 3, [...Buffer.from("fris\x01"), 1, 2, 0x80, 8, 4, 3, 0x80, 0x80, 0x10]),
    async (client) => {
      const messages = await new Topics(client.channel).subscribe("*", { from: "oldest" });
      assert.equal((await messages.next()).value?.reconnected, false);
      assert.equal((await messages.next()).value?.reconnected, true);
      assert.deepEqual(lengths, [3, 3]);
    },
    (socket, request) => {
      if (operationOf(request) !== 0xff06) return;
      const id = idOf(request);
      if (lengths.push(request.length - 10) > 1) {
        return void socket.write(Buffer.concat([frame(id, 0xff06, followed(0)), frame(0, 0xff02, [1, 0x61, 2])]));
      }
      const positions = Array.from({ length: 100 }, (_, at) => frame(id, 0xff07, [2, 0x30 + Math.floor(at / 10), 0x30 + (at % 10), ...epoch, 7]));
      socket.end(Buffer.concat([frame(id, 0xff06, followed(101)), ...positions, frame(id, 0xff07, position(7)), frame(id, 0xff02, [1, 0x61, 1])]));
    },
  );
});

test("a credit with bytes after its number ends the connection", () =>
  withServer(
    HELLO,
    async (client) => assert.match((await failed(client.flood({}).next())).message, /broke the protocol: a number is too long/),
    (socket, packet) => {
      if (operationOf(packet) === 2) socket.write(frame(idOf(packet), 5, [1, 0]));
    },
  ));

test("a reset with a padded code ends its stream alone", () =>
  withServer(
    HELLO,
    async (client) => {
      assert.equal((await failed(client.flood({}).next())).code, Code.NOT_FOUND);
      assert.equal((await client.add({})).total, 3n);
    },
    (socket, packet) => {
      if (operationOf(packet) === 2 && packet[10] === 9) socket.write(frame(idOf(packet), 7, [0x85, ...new Array<number>(8).fill(0x80), 0]));
      else if (operationOf(packet) >= 10) socket.write(frame(idOf(packet), operationOf(packet), [8, 0, 13, 6, 10, 1]));
    },
  ));

test("a call starts while a stream lacks a slot", () =>
  withServer(
    // The HELLO of the server permits one stream.
    frame(0, 3, [...Buffer.from("fris\x01"), 2, 1, 1, 4, 3, 0x80, 0x80, 0x10]),
    async (client) => {
      // These calls wait for the connection.
      const streams = [client.flood({}), client.flood({})];
      assert.equal((await client.add({}, { timeout: 2000 })).total, 3n);
      for (const stream of streams) await stream.return?.();
    },
    (socket, request) => {
      if (operationOf(request) >= 10) socket.write(frame(idOf(request), operationOf(request), [8, 0, 13, 6, 10, 1]));
    },
  ));

test("messages are published in order while a call lacks a slot", () => {
  const published: number[] = [];
  let isCalled = false;
  return withServer(
    // The HELLO of the server permits one call.
    frame(0, 3, [...Buffer.from("fris\x01"), 3, 1, 1, 4, 3, 0x80, 0x80, 0x10]),
    async (client) => {
      const topics = new Topics(client.channel);
      // These calls and the first message wait for the connection. The server answers no call.
      const calls = [client.add({}), client.add({})].map((call) => call.catch(() => {}));
      const first = topics.publish("a", "1");
      await until("a call is sent", () => isCalled);
      await topics.publish("a", "2");
      await topics.sync();
      assert.deepEqual(published, [0x31, 0x32]);
      await first;
      client.channel.close();
      await calls[1];
    },
    (socket, request) => {
      isCalled ||= operationOf(request) === Desk.methods.add.operation;
      if (operationOf(request) === 0xff02) published.push(request[12]!);
      else if (operationOf(request) === 0xff03) socket.write(request);
    },
  );
});

for (const answer of [[], [4]]) test(`an answer [${answer.join()}] to a hand-off breaks the protocol`, async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => void (data.includes(Buffer.from([0, 15, 0, 0, 0, 8])) ? socket.write(frame(0, 8, answer)) : socket.write(HELLO)));
  });
  const port = await listening(server);
  const status = await failed(handOff({ port, host: "127.0.0.1" }, Desk, Desk.methods.blob, {}));
  assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, true]);
  assert.match(status.message, /broke the protocol/);
  server.close();
});

test("packets that belong to nothing are skipped", () => {
  const noise = [frame(5, 4711, [1]), frame(1, 9, [1, 8]), frame(3, 2, [8, 0]), frame(3, 5, [1]), frame(3, 7), frame(9, 0xff02, [1, 65]), frame(3, 6, [10]), frame(7, 10, [16, 2, 4, 0, 8, 0])];
  return withServer(
    Buffer.concat([HELLO, ...noise]),
    async (client) => assert.equal((await client.add({})).total, 3n),
    (socket, request) => {
      if (operationOf(request) < 10) return;
      // The first reply has the id of the request but another operation. The second has another id but the same
      // operation.
      socket.write(Buffer.concat([frame(idOf(request), 4712, [8, 0]), frame(idOf(request) ^ 0x4000, operationOf(request), [8, 0])]));
      socket.write(frame(idOf(request), operationOf(request), [8, 0, 13, 6, 10, 1]));
    },
  );
});

for (const [name, body] of [
  ["invalid UTF-8", [6, 5, 10, 1, 0xff]],
  ["a prefix that is too long", [16, 0xff, 0xff, 0xff, 0x0f]],
  ["metadata that is no text", [16, 5, 2, 3, 1, 0x41, 0x80, 8, 0]],
  ["a key of metadata with a space", [16, 7, 2, 5, 3, 0x61, 0x20, 0x62, 0x63, 8, 0, 13, 6, 10, 1]],
  ["an item of the prefix that is repeated", [16, 4, 5, 0, 5, 0, 8, 0, 13, 6, 10, 1]],
  ["an item of the prefix that must be understood", [16, 2, 200, 0, 8, 0, 13, 6, 10, 1]],
  ["nothing", []],
  ["a message that is cut off", [8, 0, 13]],
] as const) {
  test(`a reply with ${name} fails its call and no other`, () => {
    let count = 0;
    return withServer(
      HELLO,
      async (client) => {
        assert.equal((await failed(client.add({}))).code, Code.INTERNAL);
        assert.equal((await client.add({})).count, 1);
      },
      (socket, request) => {
        if (operationOf(request) < 10) return;
        socket.write(frame(idOf(request), operationOf(request), count++ ? [8, 0, 13, 6, 10, 1] : body));
      },
    );
  });
}

test("a server that sends on a stream without credit is reset, and one that opens a stream is refused", () => {
  const resets: number[] = [];
  return withServer(
    Buffer.concat([HELLO, frame(0x8000, 2, [9, 10])]),
    async (client) => {
      const chunks = client.flood({});
      const { value } = await chunks.next();
      assert.equal(value?.data.length, 100_000);
      await until("both are reset", () => resets.length === 2);
      assert.deepEqual(resets.sort(), [1, 0x8000]);
      await failed((async () => {
        for await (const _ of chunks);
      })());
    },
    (socket, packet) => {
      if (operationOf(packet) === 7 && packet.length > 10) resets.push(idOf(packet));
      const chunk = Buffer.concat([Buffer.from([8, 0, 4, 10, 0xa0, 0x8d, 6]), Buffer.alloc(100_000)]);
      if (operationOf(packet) === 2 && packet[10] === 9) for (let at = 0; at < 8; at++) socket.write(frame(1, 2, chunk));
    },
  );
});
