/** Tests of calls that run over every transport. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, Status, serve, type Channel, type ChannelOptions, type Metadata } from "frisbee-rpc";
import { Color, DeskClient, Page, type All } from "../generated/desk.js";
import { WINDOW_CHUNKS, failed, fence, until, type Desk, type TestTransport } from "../transports.js";

async function* counted(count: number, size = 0): AsyncGenerator<{ value: bigint; data: Uint8Array }> {
  for (let at = 0; at < count; at++) yield { value: BigInt(at), data: new Uint8Array(size) };
}

const collected = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

/** Patience of calls. It is long because a browser on a busy machine connects slowly. */
const reconnectTimeout = 60_000;

/** Defines the tests for a transport. */
export function calls({ name: transport, connect, start }: TestTransport): void {
  const served = (name: string, run: (client: DeskClient, channel: Channel, server: Desk) => Promise<void>, options?: ChannelOptions): void => {
    test(`${transport}: ${name}`, async () => {
      const server = await start();
      const channel = connect(server, { reconnectTimeout, ...options });
      try {
        await run(new DeskClient(channel), channel, server);
      } finally {
        channel.close();
        await server.stop();
      }
    });
  };

  served("a unary call returns its reply with every kind of field", async (client) => {
    const all: All = {
      flag: true, i: -5, u: 4_000_000_000, l: -(1n << 62n), w: 1n << 63n, f: 1.5, d: Math.PI, s: "text ä", y: new Uint8Array([0, 255]),
      color: Color.BLUE, pair: { a: 1n, b: -1n }, names: ["", "a"], pairs: [{ a: 2n, b: 3n }], ages: new Map([["x", 1]]),
      byNumber: new Map([[-7n, { a: 0n, b: 9n }]]), maybe: 0, word: undefined, choice: { case: "text", value: "" }, inner: undefined,
      tint: Color.RED, colors: [Color.RED, Color.NONE],
    };
    assert.deepEqual(await client.echo(all), all);
    assert.deepEqual((await client.echo({ inner: all })).inner, all);
    assert.equal((await client.echo({})).choice, undefined);
  });

  served("a thousand calls at once get each its own reply", async (client) => {
    const sums = await Promise.all(Array.from({ length: 1000 }, (_, at) => client.add({ a: BigInt(at), b: 1n })));
    sums.forEach(({ total }, at) => assert.equal(total, BigInt(at + 1)));
  });

  served("twenty thousand calls at once wait for room and are all answered", async (client) => {
    const sums = await Promise.all(Array.from({ length: 20_000 }, (_, at) => client.add({ a: BigInt(at) })));
    sums.forEach(({ total }, at) => assert.equal(total, BigInt(at)));
  });

  served("a failure arrives with code, text and details", async (client) => {
    const status = await failed(client.fail({ code: Code.NOT_FOUND, text: "gone", details: new Uint8Array([1, 2]) }));
    assert.deepEqual([status.code, status.message, status.mayHaveRun], [Code.NOT_FOUND, "gone", true]);
    assert.deepEqual(status.details, new Uint8Array([1, 2]));
    for (let code = 1; code <= 16; code++) assert.equal((await failed(client.fail({ code }))).code, code);
  });

  served("metadata goes along both ways", async (client) => {
    let got: Metadata = {};
    const metadata = { sent: "a text", "sent-bin": new Uint8Array([0, 255]) };
    await client.blob({}, { metadata, onMetadata: (metadata) => (got = metadata) });
    assert.deepEqual({ ...got }, { got: "a text", "got-bin": new Uint8Array([0, 255]) });
    const status = await failed(client.blob({}, { metadata: { "UPPER CASE": "" } }));
    assert.deepEqual([status.code, status.mayHaveRun], [Code.INVALID_ARGUMENT, false]);
  });

  served("bodies of one and of four MiB are echoed, and a longer one is refused unsent", async (client) => {
    for (const size of [1 << 20, 4 << 20]) {
      const data = new Uint8Array(size).map((_, at) => at * 7);
      assert.deepEqual((await client.blob({ data })).data, data);
    }
    const status = await failed(client.blob({ data: new Uint8Array(6 << 20) }));
    assert.deepEqual([status.code, status.mayHaveRun], [Code.RESOURCE_EXHAUSTED, false]);
    assert.equal((await client.add({ a: 1n })).total, 1n);
  });

  served("a deadline ends the call here and drops its handler there", async (client) => {
    await client.add({}); // The connection is made.
    const status = await failed(client.wait({ millis: 3_600_000 }, { timeout: 50 }));
    assert.deepEqual([status.code, status.mayHaveRun], [Code.DEADLINE_EXCEEDED, true]);
    await until("the handler is dropped", async () => (await client.state({})).dropped === 1);
    await client.get({}, { timeout: 20_000 });
    const { left } = await client.state({});
    assert.ok(left > 10_000 && left <= 20_000, `${left}`);
    await client.get({});
    assert.equal((await client.state({})).left, 0, "the default is not sent");
  });

  served("an abort ends the call here and drops its handler there", async (client) => {
    const controller = new AbortController();
    const call = failed(client.wait({ millis: 3_600_000 }, { signal: controller.signal }));
    await until("the handler waits", async () => (await client.state({})).waiting === 1);
    controller.abort();
    assert.equal((await call).code, Code.CANCELLED);
    await until("the handler is dropped", async () => (await client.state({})).dropped === 1);
    assert.equal((await failed(client.add({}, { signal: controller.signal }))).mayHaveRun, false);
  });

  served("a server streams, and ends or fails", async (client) => {
    const numbers = await collected(client.count({ from: 5n, count: 1000 }));
    assert.deepEqual(numbers.map(({ value }) => value), Array.from({ length: 1000 }, (_, at) => BigInt(5 + at)));
    const before: bigint[] = [];
    const status = await failed((async () => {
      for await (const { value } of client.count({ count: -1 })) before.push(value);
    })());
    assert.deepEqual([before, status.code, status.message], [[0n, 1n], Code.OUT_OF_RANGE, "negative count"]);
  });

  served("leaving a loop cancels the stream", async (client) => {
    for await (const _ of client.flood({ from: 1000n, count: 1_000_000 })) break;
    await until("the handler is gone", async () => (await client.state({})).ended === 1);
  });

  served("a slow reader holds its sender at its window", async (client) => {
    const chunks = client.flood({ from: 10_000n, count: 1000 });
    await chunks.next();
    await until("the window is full", async () => (await client.state({})).flooded >= WINDOW_CHUNKS);
    await fence(client);
    const { flooded } = await client.state({});
    assert.ok(flooded <= WINDOW_CHUNKS + 1, `${flooded} chunks of 10 000 bytes were taken for a window of 256 KiB`);
    let rest = 1;
    for await (const { data } of chunks) rest += data.length === 10_000 ? 1 : 0;
    assert.equal(rest, 1000);
  });

  served("a client streams and gets one reply", async (client) => {
    assert.deepEqual(await client.total(counted(1000)), { total: 499_500n, count: 1000 });
    assert.deepEqual(await client.total([{ value: 1n }, { value: 2n }]), { total: 3n, count: 2 });
    assert.deepEqual(await client.total([]), { total: 0n, count: 0 });
  });

  served("a server that does not read holds this end at its window", async (client) => {
    let requested = 0;
    const chunks = (async function* () {
      for await (const { data } of counted(1000, 10_000)) {
        requested++;
        yield { data };
      }
    })();
    const sum = client.sink(chunks);
    await until("the window is full", () => requested >= WINDOW_CHUNKS);
    await fence(client);
    assert.ok(requested <= WINDOW_CHUNKS + 1, `${requested}`);
    await client.release({});
    assert.deepEqual(await sum, { total: 10_000_000n, count: 1000 });
  });

  served("texts go both ways one by one", async (client) => {
    const queue: (string | undefined)[] = [];
    let wake = (): void => {};
    const say = (text: string | undefined): void => {
      queue.push(text);
      wake();
    };
    const texts = (async function* () {
      for (;;) {
        if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const value = queue.shift();
        if (value === undefined) return;
        yield { value };
      }
    })();
    const answers = client.chat(texts);
    for (const text of ["one", "two", "three"]) {
      say(text);
      assert.deepEqual(await answers.next(), { done: false, value: { value: `re:${text}` } });
    }
    say(undefined);
    assert.equal((await answers.next()).done, true);
  });

  served("a source that throws fails its call and the server is notified", async (client) => {
    const status = await failed(client.total((function* () {
      yield { value: 1n };
      throw new Error("no more");
    })()));
    assert.equal(status.message, "no more");
    assert.equal((await client.add({ a: 1n })).total, 1n);
  });

  served("a stream has a deadline too", async (client) => {
    await client.add({});
    const answers = client.chat((async function* () {
      await new Promise(() => {});
    })(), { timeout: 50 });
    assert.equal((await failed(answers.next())).code, Code.DEADLINE_EXCEEDED);
    await until("the handler is gone", async () => (await client.state({})).ended === 1);
  });

  test(`${transport}: calls go on after the server was started again, and a lost call says that it may have run`, async () => {
    let server = await start();
    const channel = connect(server, { reconnectTimeout });
    const client = new DeskClient(channel);
    await client.add({});
    const lost = failed(client.wait({ millis: 3_600_000 }));
    const stream = client.chat((async function* () {
      await new Promise(() => {});
    })());
    const broken = failed(stream.next());
    await until("the handler waits", async () => (await client.state({})).waiting === 1);
    await server.stop();
    for (const status of await Promise.all([lost, broken])) assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, true]);
    const waiting = client.add({ a: 3n });
    server = await start(server.address);
    assert.equal((await waiting).total, 3n);
    channel.close();
    await server.stop();
  });

  test(`${transport}: a call without a server fails unsent when its reconnect timeout is over`, async () => {
    const server = await start();
    await server.stop();
    const channel = connect(server, { reconnectTimeout: 200 });
    const status = await failed(new DeskClient(channel).add({}));
    assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, false]);
    channel.close();
    assert.equal((await failed(new DeskClient(channel).add({}))).code, Code.FAILED_PRECONDITION);
  });

  let slow: AbortSignal | undefined;
  const page = serve(Page, {
    ask: ({ value }) => {
      if (value === "fail") throw new Status(Code.ABORTED, "as requested");
      return { value: `page:${value}` };
    },
    feed: async function* ({ from, count }) {
      for (let at = 0; at < count; at++) yield { value: from + BigInt(at) };
    },
    gather: async (numbers) => {
      let total = 0n;
      let count = 0;
      for await (const { value } of numbers) {
        total += value;
        count++;
      }
      return { total, count };
    },
    slow: (_, { signal }) => {
      slow = signal;
      return new Promise(() => {});
    },
  });
  served("the server calls the page by every kind of method", async (client) => {
    assert.deepEqual(await client.askBack({ value: "x" }), { value: "page:x" });
    const status = await failed(client.askBack({ value: "fail" }));
    assert.deepEqual([status.code, status.message], [Code.ABORTED, "as requested"]);
    assert.deepEqual(await client.feedBack({ from: 1n, count: 5000 }), { total: 12_502_500n, count: 5000 });
    assert.deepEqual(await client.gatherBack({ from: 1n, count: 5000 }), { total: 12_502_500n, count: 5000 });
    await client.giveUpBack({ millis: 50 });
    await until("the handler is notified", () => slow?.aborted === true);
  }, { serve: page });
  served("a handler of the page that leaves its loop over requests still replies", async (client) => {
    assert.deepEqual(await client.gatherBack({ from: 7n, count: 5000 }), { total: 7n, count: 1 });
  }, {
    serve: serve(Page, {
      ask: (text) => text,
      feed: async function* () {},
      gather: async (numbers) => {
        for await (const { value } of numbers) return { total: value, count: 1 };
        return {};
      },
      slow: () => ({}),
    }),
  });
  served("a page that serves nothing says so", async (client) => {
    assert.equal((await failed(client.askBack({}))).code, Code.UNIMPLEMENTED);
  });
}
