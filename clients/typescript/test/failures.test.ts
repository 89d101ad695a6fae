/** Failures at this end, in calls made by either end. Tests the status that the caller and the peer receive. */

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Code, Status, Topics, encode, mount, serve, service, type ChannelOptions, type Handlers } from "frisbee-rpc";
import { frame, idOf, operationOf } from "./frame.js";
import { Desk, DeskClient, Page } from "./generated/desk.js";
import { connected, dialled, greet, sentWith, type Opened } from "./links.js";
import { failed, until } from "./transports.js";

const { ask, feed, gather, slow } = Page.methods;

const unsendable = (): Status => new Status(Code.ABORTED, "odd", { metadata: { "A KEY": "x" } });

for (const [what, handlers, code] of [
  ["a status that cannot be sent", { ask: () => { throw unsendable(); }, feed: function* () { throw unsendable(); } }, Code.INTERNAL],
  ["a status with a text that is too long", { ask: () => { throw new Error("x".repeat(8 << 20)); }, feed: function* () { throw new Error("x".repeat(8 << 20)); } }, Code.INTERNAL],
  ["a reply that cannot be written", { ask: () => ({ value: 1 }), feed: () => [{ value: "x" }] }, Code.INVALID_ARGUMENT],
  ["the status of a call that has not run", { ask: () => { throw new Status(Code.UNAVAILABLE, "", { mayHaveRun: false }); }, feed: () => { throw new Status(Code.UNAVAILABLE, "", { mayHaveRun: false }); } }, Code.UNAVAILABLE],
] as const) {
  test(`${what} fails its call as one that may have run`, () =>
    connected(
      async (_, receive, sent) => {
        receive(frame(0x8001, ask.operation, encode(ask.request, {})));
        receive(frame(0x8000, 2, [9, feed.operation]));
        receive(frame(0x8000, 2, encode(feed.request, {})));
        const reply = (id: number, operation: number): Buffer | undefined =>
          sent.find((packet) => idOf(packet) === id && operationOf(packet) === operation)?.subarray(10);
        await until("both are answered", () => Boolean(reply(0x8001, ask.operation) && reply(6, 3)));
        // The reply starts with a prefix that holds the status. The body of TRAILERS is the stream's id, followed by
        // the status.
        assert.deepEqual([...reply(0x8001, ask.operation)!.subarray(0, 5)], [16, 3, 3, 1, code]);
        // TRAILERS truncate a text that is too long, whereas writing a reply fails.
        const streamed = what.includes("too long") ? Code.UNKNOWN : code;
        assert.deepEqual([...reply(6, 3)!.subarray(0, 6)], [0x80, 0x80, 2, 3, 1, streamed]);
      },
      serve(Page, handlers as unknown as Handlers<typeof Page>),
    ));
}

for (const [what, body] of [
  ["is cut off", [8]],
  ["is an error", [6, 5, 10, 1, 0x61]],
] as const) {
  test(`the request of a stream that ${what} is an invalid argument`, () =>
    connected(
      async (_, receive, sent) => {
        receive(frame(0x8000, 2, [9, feed.operation]));
        receive(frame(0x8000, 2, body));
        const trailers = (): Buffer | undefined => sent.find((packet) => idOf(packet) === 6 && operationOf(packet) === 3)?.subarray(10);
        await until("it is answered", () => trailers() !== undefined);
        // The status has the code 3. Item 5 states that the call has not run.
        assert.deepEqual([...trailers()!.subarray(0, 8)], [0x80, 0x80, 2, 3, 1, Code.INVALID_ARGUMENT, 5, 0]);
      },
      serve(Page, { ask: () => ({}), feed: () => [] } as unknown as Handlers<typeof Page>),
    ));
}

test("streamed requests that cannot be written fail a call that may have run", () =>
  connected(async (channel) => {
    const client = new DeskClient(channel);
    const odd = { value: "x" as unknown as bigint };
    const status = await failed(client.total([{ value: 1n }, odd]));
    assert.deepEqual([status.code, status.mayHaveRun], [Code.INVALID_ARGUMENT, true]);
    // The handler is waiting for its request.
    const single = await failed(client.count({ from: odd.value }).next());
    assert.deepEqual([single.code, single.mayHaveRun], [Code.INVALID_ARGUMENT, false]);
  }));

test("stream whose opening cannot be written sends nothing", () =>
  connected(async (channel, _, sent) => {
    const client = new DeskClient(channel);
    const status = await failed(client.count({}, { metadata: { "A KEY": "x" } }).next());
    assert.deepEqual([status.code, status.mayHaveRun], [Code.INVALID_ARGUMENT, false]);
    client.count({}).next().catch(() => {});
    await until("the second is opened", () => sentWith(sent, 2) > 0);
    assert.deepEqual(sent.filter((packet) => operationOf(packet) === 7 && packet.length > 10), []);
  }));

test("late reply of a cancelled handler is not that of the next call with its id", () => {
  const replies: ((text: { value: string }) => void)[] = [];
  const handlers = { ask: () => new Promise<{ value: string }>((resolve) => replies.push(resolve)) };
  return connected(
    async (_, receive, sent) => {
      const request = frame(0x8001, ask.operation, encode(ask.request, {}));
      const texts = (): string[] => sent.filter((packet) => operationOf(packet) === ask.operation).map((packet) => packet.subarray(10).toString("latin1"));
      receive(request);
      receive(frame(0x8001, 6, [ask.operation]));
      receive(request);
      await until("the first is cancelled", () => replies.length === 2 && texts().length === 1);
      replies[0]?.({ value: "late" });
      await new Promise(setImmediate);
      replies[1]?.({ value: "own" });
      await until("the second is answered", () => texts().length > 1);
      assert.equal(texts().length, 2);
      assert.match(texts()[1]!, /own$/);
    },
    serve(Page, handlers as unknown as Handlers<typeof Page>),
  );
});

test("exception of a mounted protocol is uncaught and harms no other", (context) => {
  const uncaught: unknown[] = [];
  const original = queueMicrotask;
  context.mock.method(globalThis, "queueMicrotask", (run: () => void) => original(() => {
    try {
      run();
    } catch (error) {
      uncaught.push(error);
    }
  }));
  return connected(async (channel, receive) => {
    const fail = (text: string) => () => { throw new Error(text); };
    mount(channel, { operations: [1000, 1000], packet: fail("packet"), down: fail("down") });
    const syncing = failed(new Topics(channel).sync());
    const link = await channel.connected();
    receive(frame(1, 1000));
    assert.equal(link.isUp, true);
    // This packet violates the protocol.
    receive(frame(0, 8));
    assert.equal((await syncing).code, Code.UNAVAILABLE);
    await until("both are reported", () => uncaught.length === 2);
    assert.deepEqual(uncaught.map((error) => (error as Error).message), ["packet", "down"]);
  });
});

/**
 * Regression test: an `ArrayBuffer` in place of a `Uint8Array` made the output position NaN, so nothing more was sent.
 */
test("values of another type than their field's are refused, and harm no other call", () =>
  connected(async (channel, receive, sent) => {
    const client = new DeskClient(channel);
    const wrong = { flag: "yes", i: "1", f: "1.5", d: null, s: 7, y: new ArrayBuffer(8), names: new Set(["a"]), ages: { a: 1 } };
    for (const [name, value] of Object.entries(wrong)) {
      const status = await failed(client.echo({ [name]: value }));
      assert.deepEqual([status.code, status.mayHaveRun], [Code.INVALID_ARGUMENT, false], String(status));
      assert.match(status.message, new RegExp(`^desk.All.${name} cannot be the (string|object|number) `));
    }
    const buffer = new ArrayBuffer(8) as unknown as Uint8Array;
    const send = mount(channel, { operations: [1000, 1000], packet() {} });
    for (const sending of [send(1, 1000, buffer), new Topics(channel).publish("a", buffer), client.echo({}, { metadata: { "a-bin": buffer } })]) {
      assert.match((await failed(sending)).message, /not \[object ArrayBuffer\]/);
    }
    const total = client.add({});
    await until("it is sent", () => sentWith(sent, Desk.methods.add.operation) > 0);
    receive(frame(idOf(sent.at(-1)!), Desk.methods.add.operation, [8, 0, 13, 6, 10, 1]));
    assert.equal((await total).total, 3n);
  }));

test("timeout that is no number fails its call", () =>
  connected(async (channel) => {
    const client = new DeskClient(channel);
    for (const call of [client.add({}, { timeout: NaN }), client.count({}, { timeout: NaN }).next()]) {
      const status = await failed(call);
      assert.deepEqual([status.code, status.mayHaveRun], [Code.INVALID_ARGUMENT, false]);
    }
  }));

test("lost call of an idempotent method is retried once", () =>
  dialled(async (channel, links) => {
    const { operation } = Desk.methods.get;
    const call = failed(new DeskClient(channel).get({}));
    for (const attempt of [0, 1]) {
      await until("it dials", () => links.length > attempt);
      greet(links[attempt]!);
      await until("it is sent", () => sentWith(links[attempt]!.sent, operation) === 1);
      links[attempt]!.events.close("lost");
    }
    const status = await call;
    assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, true]);
    assert.match(status.message, /the connection was lost: lost/);
    assert.equal(links.length, 2);
  }));

/** Regression test: the status of the second attempt hid that the first may have run. */
test("lost call may have run although its retry was refused", () =>
  dialled(async (channel, links) => {
    const { operation } = Desk.methods.get;
    const call = failed(new DeskClient(channel).get({}));
    for (const attempt of [0, 1]) {
      await until("it dials", () => links.length > attempt);
      const { events, sent } = links[attempt]!;
      greet(links[attempt]!);
      await until("it is sent", () => sentWith(sent, operation) === 1);
      // Item 5 of the prefix states that the second attempt has not run.
      if (attempt) events.data(frame(idOf(sent.at(-1)!), operation, [16, 5, 3, 1, Code.UNAVAILABLE, 5, 0, 6, 5, 10, 0]));
      else events.close("lost");
    }
    const status = await call;
    assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, true]);
  }));

test("stream without a free slot fails after the default timeout", () =>
  dialled(async (channel, links) => {
    const client = new DeskClient(channel);
    let isOpen = true;
    const open = client.flood({});
    const first = open.next().finally(() => (isOpen = false));
    await until("it dials", () => links.length > 0);
    greet(links[0]!, 1);
    await until("it is open", () => sentWith(links[0]!.sent, 2) > 0);
    const status = await failed(client.flood({}).next());
    assert.deepEqual([status.code, status.mayHaveRun], [Code.DEADLINE_EXCEEDED, false]);
    assert.ok(isOpen, "the stream that has a slot has no time limit");
    await open.return?.();
    await first;
  }, { timeout: 100 }));

test("request stream without reply fails after the default timeout", () =>
  dialled(async (channel, links) => {
    const client = new DeskClient(channel);
    let send = (): void => {};
    let isOpen = true;
    const call = failed(client.total((async function* () {
      await new Promise<void>((resolve) => (send = resolve));
      yield { value: 1n };
    })())).finally(() => (isOpen = false));
    await until("it dials", () => links.length > 0);
    greet(links[0]!, 1);
    await until("it is open", () => sentWith(links[0]!.sent, 2) > 0);
    // This stream gets no slot and times out. If the call already had a timeout, the call would fail first.
    await failed(client.flood({}).next());
    assert.ok(isOpen, "the call has no time limit until its last request");
    send();
    const status = await call;
    assert.deepEqual([status.code, status.mayHaveRun], [Code.DEADLINE_EXCEEDED, true]);
  }, { timeout: 100 }));

test("large streamed requests wait for unsent bytes", () =>
  dialled(async (channel, links) => {
    const large = { data: new Uint8Array(4 << 20) };
    const calls = Array.from({ length: 20 }, () => new DeskClient(channel).sink([large]).catch((status: Status) => status.message));
    await until("it dials", () => links.length > 0);
    const [link] = links as [Opened];
    greet(link);
    let most = 0;
    await until("all are sent", () => {
      most = Math.max(most, link.unsent);
      if (link.unsent > 8 << 20) link.unsent = 0;
      return link.sent.filter(({ length }) => length > large.data.length).length === 20;
    });
    assert.ok(most < 16 << 20, `${most} bytes were unsent`);
    link.events.close("the end");
    assert.match((await Promise.all(calls)).join(), /^(the connection was lost: the end,?){20}$/);
  }));

test("generator of a handler ends when its message cannot be sent", () => {
  let hasEnded = false;
  const handlers = {
    feed: function* () {
      try {
        yield { value: "x" };
      } finally {
        hasEnded = true;
      }
    },
  };
  return connected(
    async (_, receive, sent) => {
      receive(frame(0x8000, 2, [9, feed.operation]));
      receive(frame(0x8000, 2, encode(feed.request, {})));
      // The caller keeps its direction of the stream open.
      await until("the failure is sent", () => sent.some((packet) => idOf(packet) === 6 && operationOf(packet) === 3));
      assert.ok(hasEnded);
    },
    serve(Page, handlers as unknown as Handlers<typeof Page>),
  );
});

test("invalid arguments are refused with their remedy", () =>
  connected(async (channel) => {
    const client = new DeskClient(channel);
    const from = { epoch: "zz", offset: -7 };
    for (const [call, text] of [
      [client.total(5 as never), "messages are an iterable, not 5"],
      [client.total(undefined as never), "messages are an iterable, not undefined"],
      [client.add({}, { metadata: { A: "b" } }), "invalid metadata A: keys have a-z"],
      [client.add({}, { metadata: { "a b": "c" } }), "invalid metadata a b: keys have a-z"],
      [new Topics(channel).subscribe("a", { from }), "zz, -7 is not a position"],
      [new Topics(channel).subscribe("a", { from: { epoch: "0".repeat(16), offset: Infinity } }), "0000000000000000, Infinity is not a position"],
    ] as const) {
      const status = await failed(call);
      assert.equal(status.code, Code.INVALID_ARGUMENT);
      assert.ok(status.message.startsWith(text), status.message);
    }
  }));

/** Regression test: the first bytes of the body resemble a call by the server. */
test("mounted packet is received whatever its body begins with", () => {
  const body = [16, 2, 4, 0, 7];
  const received = (serving?: ChannelOptions["serve"]): Promise<void> =>
    connected(async (channel, receive, sent) => {
      const bodies: number[][] = [];
      mount(channel, { operations: [1000, 1000], packet: (_, __, is) => bodies.push([...is]) });
      receive(frame(1, 1000, body));
      assert.deepEqual(bodies, [body]);
      assert.deepEqual(sent.filter((packet) => operationOf(packet) === 1000), []);
    }, serving);
  return received().then(() => received(serve(Page, {} as Handlers<typeof Page>)));
});

/** Regression test: each request with the same id started a handler, but only the last handler was counted. */
test("request with the id of one in progress ends the connection", () =>
  connected(
    async (channel, receive) => {
      const link = await channel.connected();
      const request = (operation: number): Buffer => frame(0x8001, operation, encode(ask.request, {}));
      receive(request(ask.operation));
      // Ids are unique per operation.
      receive(request(slow.operation));
      assert.equal(link.isUp, true);
      receive(request(ask.operation));
      assert.equal(link.isUp, false);
    },
    serve(Page, { ask: () => new Promise(() => {}), slow: () => new Promise(() => {}) } as unknown as Handlers<typeof Page>),
  ));

/** Regression test: a cancelled call released its slot although its handler was still running. */
test("cancelled calls leave no more handlers running than there may be calls", () => {
  let running = 0;
  return connected(
    async (_, receive, sent) => {
      for (let id = 1; id <= 1000; id++) {
        receive(frame(0x8000 + id, ask.operation, encode(ask.request, {})));
        receive(frame(0x8000 + id, 6, [ask.operation]));
      }
      await until("all are answered", () => sentWith(sent, ask.operation) === 1000);
      assert.equal(running, 256);
    },
    serve(Page, { ask: () => (running++, new Promise(() => {})) } as unknown as Handlers<typeof Page>),
  );
});

test("call whose timeout has passed runs no handler", () => {
  let running = 0;
  return connected(
    async (_, receive, sent) => {
      // Item 1 of the prefix is the timeout.
      receive(frame(0x8001, ask.operation, [16, 3, 1, 1, 0, ...encode(ask.request, {})]));
      await until("it is answered", () => sentWith(sent, ask.operation) > 0);
      const [answer] = sent.filter((packet) => operationOf(packet) === ask.operation) as [Buffer];
      // Item 3 of the prefix is the status code, and item 5 states that the call has not run.
      assert.deepEqual([...answer.subarray(10, 17)], [16, 5, 3, 1, Code.DEADLINE_EXCEEDED, 5, 0]);
      assert.equal(running, 0);
    },
    serve(Page, { ask: () => (running++, {}) } as unknown as Handlers<typeof Page>),
  );
});

/** Regression test: messages that crossed the end of their stream counted as packets that match no call. */
test("late messages of a cancelled stream end no connection", () =>
  connected(async (channel, receive, sent) => {
    const link = await channel.connected();
    const counts = new DeskClient(channel).count({});
    await until("it is open", () => sentWith(sent, 2) > 0);
    await counts.return?.();
    const many = (packet: Buffer): void => {
      const some = Buffer.concat(new Array<Buffer>(1001).fill(packet));
      for (let at = 0; at < 100; at++) receive(some);
    };
    many(frame(1, 2, encode(Desk.methods.count.reply, {})));
    assert.equal(link.isUp, true);
    many(frame(1, Desk.methods.add.operation));
    assert.equal(link.isUp, false);
  }));

test("batch is received as its messages", () =>
  connected(async (channel, receive, sent) => {
    const counts = new DeskClient(channel).count({});
    await until("it is open", () => sentWith(sent, 2) > 0);
    receive(Buffer.concat([frame(1, 9, [4, 8, 0, 13, 2, 4, 8, 0, 13, 4]), frame(1, 7)]));
    const values: bigint[] = [];
    for await (const { value } of counts) values.push(value);
    assert.deepEqual(values, [1n, 2n]);
  }));

test("cancellation that names no call is ignored", () =>
  connected(
    async (channel, receive) => {
      const link = await channel.connected();
      receive(frame(0x8001, 6));
      assert.equal(link.isUp, true);
    },
    serve(Page, {} as Handlers<typeof Page>),
  ));

/** Regression test: the call failed as one that was not sent, and was sent nevertheless. */
test("call whose timeout passes at once is not sent", (context) =>
  connected(async (channel, _, sent) => {
    await channel.connected();
    let now = performance.now();
    context.mock.method(performance, "now", () => ++now);
    const client = new DeskClient(channel);
    for (const call of [client.add({}, { timeout: 0.5 }), client.count({}, { timeout: 0.5 }).next()]) {
      const status = await failed(call);
      assert.deepEqual([status.code, status.mayHaveRun], [Code.DEADLINE_EXCEEDED, false]);
    }
    await new Promise(setImmediate);
    assert.deepEqual([sentWith(sent, Desk.methods.add.operation), sentWith(sent, 2)], [0, 0]);
  }));

/** Regression test: if nobody read the replies, the listener and the timer of the call outlived it. */
test("stream whose requests fail at once leaves no listener", () =>
  connected(async (channel) => {
    await channel.connected();
    const { signal } = new AbortController();
    const locked = { [Symbol.asyncIterator]: () => { throw new Error("locked"); } };
    new DeskClient(channel).chat(locked, { signal, timeout: 60_000 });
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  }));

/** Regression test: the second packet was sent first. */
test("packet sent during the handshake does not overtake another", () =>
  dialled(async (channel, links) => {
    const send = mount(channel, { operations: [1000, 1000], packet: () => void send(2, 1000, new Uint8Array()) });
    const first = send(1, 1000, new Uint8Array());
    await until("it dials", () => links.length > 0);
    const [{ events, sent }] = links as [Opened];
    events.open();
    events.data(Buffer.concat([frame(0, 3, [...Buffer.from("fris\x01")]), frame(7, 1000)]));
    await first;
    await until("both are sent", () => sentWith(sent, 1000) === 2);
    assert.deepEqual(sent.filter((packet) => operationOf(packet) === 1000).map(idOf), [1, 2]);
  }));

/** Regression test: each failed attempt to connect was reported as a lost connection. */
test("mounted protocol hears of lost connections only", () =>
  dialled(async (channel, links) => {
    const downs: string[] = [];
    mount(channel, { operations: [1000, 1000], packet() {}, down: ({ message }) => downs.push(message) });
    const connecting = channel.connected();
    await until("it dials", () => links.length > 0);
    links[0]!.events.close("refused");
    await until("it dials again", () => links.length > 1);
    assert.deepEqual(downs, []);
    greet(links[1]!);
    await connecting;
    links[1]!.events.close("lost");
    assert.deepEqual(downs, ["the connection was lost: lost"]);
  }));

/** Regression test: the exception was thrown to the transport, and ended the process. */
test("services that do not fit into HELLO fail the connection", () =>
  dialled(async (channel, links) => {
    for (let at = 0; at < 3000; at++) channel.name(service(`a.Service${at}`, "00".repeat(16), "", {}));
    const call = failed(new DeskClient(channel).add({}));
    await until("it dials", () => links.length > 0);
    links[0]!.events.open();
    assert.match((await call).message, /of at most 65536/);
  }, { reconnectTimeout: 50 }));

/** Regression test: the server ignored openings that were more than 16 384 ids ahead of the last one. */
test("ids of streams stay near the last one", () =>
  connected(async (channel, _, sent) => {
    await channel.connected();
    const client = new DeskClient(channel);
    for (let at = 0; at < 0x5000; at++) client.count({}).next().catch(() => {});
    for (let at = 0; at < 0x4000; at++) await client.count({}).return?.();
    let last = 0;
    const opened = sent.filter((packet) => operationOf(packet) === 2 && packet[10] === 9).map((packet) => idOf(packet));
    for (const id of opened) {
      assert.ok(((id - last) & 0x7fff) <= 0x4000, `${id} after ${last}`);
      last = id;
    }
    assert.ok(opened.length > 16_000, `${opened.length}`);
  }));

/** Regression test: the connection closed before the handler had replied. */
test("call after the last reply of a drain is answered", () =>
  connected(
    async (channel, receive, sent) => {
      const link = await channel.connected();
      const adding = new DeskClient(channel).add({});
      receive(frame(0, 4));
      receive(Buffer.concat([frame(1, Desk.methods.add.operation, [8, 0, 13, 6, 10, 1]), frame(0x8001, ask.operation, encode(ask.request, {}))]));
      assert.equal((await adding).total, 3n);
      await until("it closes", () => !link.isUp);
      assert.equal(sentWith(sent, ask.operation), 1);
    },
    serve(Page, { ask: () => new Promise((resolve) => setImmediate(resolve, { value: "x" })) } as unknown as Handlers<typeof Page>),
  ));

/** A HELLO that grants streams no initial credit. */
const THRIFTY = frame(0, 3, [...Buffer.from("fris\x01")]);

/** Regression test: the reply was sent at once. */
test("single reply to streamed requests waits for credit", () =>
  connected(
    async (_, receive, sent) => {
      receive(Buffer.concat([frame(0x8000, 2, [9, gather.operation]), frame(0x8000, 7)]));
      const ofStream = (): number[] => sent.filter((packet) => idOf(packet) === 0x8000).map((packet) => operationOf(packet));
      await new Promise(setImmediate);
      assert.deepEqual(ofStream(), []);
      receive(frame(0x8000, 5, [1]));
      await until("it ends", () => ofStream().includes(7));
      assert.deepEqual(ofStream(), [2, 7]);
      assert.equal(sentWith(sent, 3), 1, "a message implies that the call is accepted");
    },
    serve(Page, { gather: () => ({}) } as unknown as Handlers<typeof Page>),
    THRIFTY,
  ));

/** Regression test: END waited until the request had been read. */
test("end after the only request needs no credit", () =>
  connected(async (channel, receive, sent) => {
    new DeskClient(channel).count({}).next().catch(() => {});
    await until("it is open", () => sentWith(sent, 2) === 1);
    receive(frame(1, 5, [1]));
    await until("it ends", () => sentWith(sent, 7) === 1);
    assert.equal(sentWith(sent, 2), 2);
  }, undefined, THRIFTY));

/** Regression test: END waited until the connection had sent most of its unsent bytes. */
test("end of streamed requests does not wait for unsent bytes", () =>
  dialled(async (channel, links) => {
    const client = new DeskClient(channel);
    let last = (): void => {};
    const call = client.total((async function* () {
      await new Promise<void>((resolve) => (last = resolve));
    })()).catch(() => {});
    await until("it dials", () => links.length > 0);
    const [link] = links as [Opened];
    greet(link);
    await until("it is open", () => sentWith(link.sent, 2) === 1);
    link.unsent = 9 << 20;
    const adding = client.add({}).catch(() => {});
    await until("it is full", () => sentWith(link.sent, Desk.methods.add.operation) === 1);
    last();
    await new Promise(setImmediate);
    assert.equal(sentWith(link.sent, 7), 1);
    link.events.close("the end");
    await Promise.all([call, adding]);
  }));

/** Regression test: all later calls waited for a slot until their deadlines. */
test("connection without slots beside cancelled calls is replaced", (context) =>
  dialled(async (channel, links) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const client = new DeskClient(channel);
    const controller = new AbortController();
    const cancelled = [client.wait({}, controller), client.wait({}, controller)].map(failed);
    await until("it dials", () => links.length > 0);
    const [link] = links as [Opened];
    link.events.open();
    // The HELLO of the server permits two calls. The server never answers them.
    link.events.data(frame(0, 3, [...Buffer.from("fris\x01"), 3, 1, 2]));
    await until("both are sent", () => sentWith(link.sent, Desk.methods.wait.operation) === 2);
    controller.abort();
    await Promise.all(cancelled);
    const call = client.add({}).catch(() => {});
    context.mock.timers.tick(2000);
    await new Promise(setImmediate);
    assert.equal(links.length, 1, "the replies may still arrive");
    context.mock.timers.tick(2000);
    await until("it dials again", () => links.length > 1);
    greet(links[1]!);
    await until("it is sent", () => sentWith(links[1]!.sent, Desk.methods.add.operation) === 1);
    links[1]!.events.close("the end");
    await call;
  }));

/** Regression test: the stream kept its slot until the connection ended. */
test("stream that its caller does not end is reset", (context) =>
  connected(
    async (_, receive, sent) => {
      context.mock.timers.enable({ apis: ["setTimeout"] });
      receive(frame(0x8000, 2, [9, gather.operation]));
      await new Promise(setImmediate);
      const ends = (): boolean[] => sent.filter((packet) => operationOf(packet) === 7).map((packet) => packet.length > 10);
      assert.deepEqual(ends(), [false]);
      context.mock.timers.tick(10_000);
      await new Promise(setImmediate);
      assert.deepEqual(ends(), [false, true]);
    },
    serve(Page, { gather: () => ({}) } as unknown as Handlers<typeof Page>),
  ));

/** Regression test: the exception ended the process. */
test("failure that cannot be sent is answered with a short text", () =>
  connected(
    async (_, receive, sent) => {
      receive(frame(0x8001, ask.operation, encode(ask.request, {})));
      await until("it is answered", () => sentWith(sent, ask.operation) === 1);
      assert.deepEqual([...sent.at(-1)!.subarray(10, 15)], [16, 3, 3, 1, Code.INTERNAL]);
    },
    serve(Page, { ask: () => { throw new Status(Code.ABORTED, "odd", { metadata: { ["A".repeat(2000)]: "x" } }); } } as unknown as Handlers<typeof Page>),
    // The server accepts bodies of 1024 bytes.
    frame(0, 3, [...Buffer.from("fris\x01"), 1, 2, 0x80, 8]),
  ));

/** Regression test: the connection was closed. */
test("description that exceeds a packet is reported as unknown", () =>
  connected(
    async (_, receive, sent) => {
      const fingerprint = new Array<number>(16).fill(0xab);
      receive(frame(1, 3, fingerprint));
      await until("it is answered", () => sentWith(sent, 3) === 2);
      assert.deepEqual([...sent.at(-1)!.subarray(2)], [0, 2, 0, 3, 0, 0, 0, 17, 0, ...fingerprint]);
    },
    serve(service("a.Own", "ab".repeat(16), "A".repeat(90_000), {}), {}),
  ));

/** Regression test: the caller waited for credit until the handler ended. */
test("messages that a handler does not read return their credit", () =>
  connected(
    async (_, receive, sent) => {
      const message = frame(0x8000, 2, encode(gather.request, {}));
      receive(Buffer.concat([frame(0x8000, 2, [9, gather.operation]), message, message]));
      await new Promise(setImmediate);
      receive(Buffer.concat(Array<Buffer>(2000).fill(message)));
      await until("credit is returned", () => sentWith(sent, 5) > 0);
    },
    serve(Page, {
      gather: async (messages: AsyncIterable<unknown>) => {
        for await (const _ of messages) break;
        await new Promise(() => {});
      },
    } as unknown as Handlers<typeof Page>),
  ));

/** Regression test: the handler's iterator was not closed, so a call that the handler forwarded stayed open. */
test("replies of a handler that starts after a reset are returned", () => {
  let returned = 0;
  const replies = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: {} }), return: () => (returned++, { done: true }) }) };
  return connected(
    async (_, receive) => {
      const opening = [frame(0x8000, 2, [9, feed.operation]), frame(0x8000, 2, encode(feed.request, {}))];
      receive(Buffer.concat([...opening, frame(0x8000, 7, [1])]));
      await until("it is returned", () => returned === 1);
    },
    serve(Page, { feed: () => replies } as unknown as Handlers<typeof Page>),
  );
});
