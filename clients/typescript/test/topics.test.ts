/** Requests to a broker: topics whose broker and connections fail. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Code, Topics, encode, serve, service, type Channel, type Status, type Subscription, type Unary } from "frisbee-rpc";
import { frame, idOf, operationOf } from "./frame.js";
import { Text } from "./generated/desk.js";
import { connected, dialled, greet, sentWith, type Opened } from "./links.js";
import { failed, until } from "./transports.js";

test("more requests to a broker than there are ids fail", () =>
  connected(async (channel) => {
    const topics = new Topics(channel);
    const requests = Array.from({ length: 0x1_0000 }, () => topics.sync());
    assert.equal((await failed(requests.pop()!)).code, Code.RESOURCE_EXHAUSTED);
    channel.close();
    await Promise.allSettled(requests);
  }));

test("request to a broker that cannot be written leaves nothing", () =>
  connected(async (channel) => {
    const topics = new Topics(channel);
    assert.equal((await failed(topics.subscribe("a".repeat(6 << 20)))).code, Code.RESOURCE_EXHAUSTED);
    assert.equal(topics["requests"].size, 0);
  }));

/** Regression test: once the queue was full, each message moved all others, and the test took minutes. */
test("flood of short messages drops the oldest in time", { timeout: 30_000 }, () =>
  connected(async (channel, receive, sent) => {
    const [count, at] = [300_000, 1000];
    const subscribing = new Topics(channel).subscribe("a");
    await until("it is sent", () => sentWith(sent, 0xff00) > 0);
    receive(frame(1, 0xff00));
    const messages = await subscribing;
    const some = Buffer.concat(new Array<Buffer>(at).fill(frame(1, 0xff02, [1, 97, 1])));
    for (let received = 0; received < count; received += at) receive(some);
    let taken = 0;
    let lagged = 0;
    for await (const message of messages) {
      taken++;
      lagged += message.lagged;
      if (taken + lagged === count) break;
    }
    assert.ok(lagged > 0 && taken > 200_000, `${taken}, ${lagged}`);
  }));

/** Regression test: both objects counted their request ids from 1, and each received the other's messages. */
test("topics of a channel made twice share no id", () =>
  connected(async (channel, receive, sent) => {
    const [first, second] = [new Topics(channel), new Topics(channel)];
    const subscribing = [first.subscribe("a", { group: "one" }), second.subscribe("b", { group: "two" })] as const;
    const subscribed = (): Buffer[] => sent.filter((packet) => operationOf(packet) === 0xff00);
    await until("both are sent", () => subscribed().length === 2);
    for (const packet of subscribed()) receive(frame(idOf(packet), 0xff00));
    const [a, b] = await Promise.all(subscribing);
    for (const packet of subscribed()) receive(frame(idOf(packet), 0xff02, [1, packet[11]!, 7]));
    assert.deepEqual([(await a.next()).value?.topic, (await b.next()).value?.topic], ["a", "b"]);
  }));

/** Regression test: when a message was dropped, the gap before a newer message was added to the oldest one. */
test("message keeps the gap in front of it when an older one is dropped", () =>
  connected(async (channel, receive, sent) => {
    const subscribing = new Topics(channel).subscribe("a");
    await until("it is sent", () => sentWith(sent, 0xff00) > 0);
    receive(frame(1, 0xff00));
    const messages = await subscribing;
    const large = frame(1, 0xff02, [1, 97, ...new Uint8Array(4 << 20)]);
    for (const packet of [large, large, large, frame(1, 0xff04, [5]), large]) receive(packet);
    const gaps: number[] = [];
    while (gaps.length < 3) gaps.push((await messages.next()).value?.lagged ?? -1);
    assert.deepEqual(gaps, [1, 0, 5]);
  }));

/** Regression test: the length of topics was not charged to a subscription's queue or to its positions. */
test("topic that is too long ends the connection", () =>
  connected(async (channel, receive, sent) => {
    const link = await channel.connected();
    const subscribing = new Topics(channel).subscribe(">");
    await until("it is sent", () => sentWith(sent, 0xff00) > 0);
    receive(frame(1, 0xff00));
    const messages = await subscribing;
    receive(frame(1, 0xff02, [0xff, 1, ...new Uint8Array(255).fill(97)]));
    assert.equal((await messages.next()).value?.topic.length, 255);
    receive(frame(1, 0xff02, [0x80, 2, ...new Uint8Array(256).fill(97)]));
    assert.equal(link.isUp, false);
  }));

/** Regression test: topics took all packets with operations above their own, so these calls were never answered. */
test("topics take no calls with later operations", () => {
  const own = service("a.Own", "00".repeat(16), "", { ask: { operation: 65_289, request: Text, reply: Text } as Unary<Text, Text> });
  return connected(
    async (channel, receive, sent) => {
      new Topics(channel);
      receive(frame(0x8001, 65_289, encode(Text, { value: "x" })));
      await until("it is answered", () => sentWith(sent, 65_289) === 1);
    },
    serve(own, { ask: (text) => text }),
  );
});

/** Regression test: the second call succeeded, although the first had failed without a confirmation. */
test("sync after a failed one reports unconfirmed messages", () =>
  dialled(async (channel, links) => {
    const topics = new Topics(channel);
    const published = topics.publish("a", "1");
    for (const [at, code] of [Code.UNAVAILABLE, Code.DATA_LOSS, undefined].entries()) {
      const syncing = topics.sync().then(() => undefined, (error: Status) => error.code);
      const link = (): Opened | undefined => links[Math.min(at, 1)];
      await until("it dials", () => link() !== undefined);
      if (at < 2) greet(link()!);
      await until("it is sent", () => sentWith(link()!.sent, 0xff03) === Math.max(at, 1));
      if (at === 0) link()!.events.close("lost");
      else link()!.events.data(frame(idOf(link()!.sent.at(-1)!), 0xff03));
      assert.equal(await syncing, code);
    }
    await published;
  }));

/** Regression test: requests to a server that does not answer them waited forever. */
test("requests that a broker does not answer fail", { timeout: 20_000 }, (context) =>
  connected(async (channel, _, sent) => {
    await channel.connected();
    const topics = new Topics(channel);
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const requests = [topics.subscribe("a"), topics.sync()].map(failed);
    context.mock.timers.tick(10_000);
    for (const { code } of await Promise.all(requests)) assert.equal(code, Code.DEADLINE_EXCEEDED);
    await new Promise(setImmediate);
    assert.equal(sentWith(sent, 0xff01), 1, "the subscription is cancelled");
    assert.equal(topics["requests"].size, 0);
  }));

/**
 * Subscribes to the topic `a`, and loses the connection of the subscription. Returns its messages, and a function that
 * connects again and returns the connection.
 */
async function interrupted(context: TestContext, channel: Channel, links: Opened[]): Promise<[messages: Subscription, reconnect: () => Promise<Opened>]> {
  const subscribing = new Topics(channel).subscribe("a");
  await until("it dials", () => links.length > 0);
  const [link] = links as [Opened];
  greet(link);
  await until("it is sent", () => sentWith(link.sent, 0xff00) === 1);
  link.events.data(frame(1, 0xff00));
  const messages = await subscribing;
  context.mock.timers.enable({ apis: ["setTimeout"] });
  link.events.close("lost");
  return [messages, async () => {
    // The maximum delay of a reconnect.
    context.mock.timers.tick(2000);
    const next = links.at(-1)!;
    greet(next);
    await new Promise(setImmediate);
    assert.equal(sentWith(next.sent, 0xff00), 1, "the subscription is resumed");
    return next;
  }];
}

/** Regression test: the channel connected once more for the subscription. */
test("subscription that ends without a connection opens none", (context) =>
  dialled(async (channel, links) => {
    const [messages] = await interrupted(context, channel, links);
    await messages.return?.();
    context.mock.timers.tick(60_000);
    assert.equal(links.length, 1);
  }));

/** Regression test: the code was INVALID_ARGUMENT. */
test("message that the backplane does not accept is unavailable", () =>
  connected(async (channel, receive, sent) => {
    const topics = new Topics(channel);
    await topics.publish("a", "1");
    const syncing = failed(topics.sync());
    await until("it is sent", () => sentWith(sent, 0xff03) === 1);
    receive(Buffer.concat([frame(0, 0xff05, [6, ...Buffer.from("the backplane is unavailable")]), frame(1, 0xff03)]));
    const { code, message, mayHaveRun } = await syncing;
    assert.deepEqual([code, message, mayHaveRun], [Code.UNAVAILABLE, "the backplane is unavailable", false]);
  }));

/** Regression test: only a first request had a timeout, and the messages of a resumed subscription never ended. */
test("resumed subscription that a broker does not answer fails", (context) =>
  dialled(async (channel, links) => {
    const [messages, reconnect] = await interrupted(context, channel, links);
    const next = failed(messages.next());
    const { sent } = await reconnect();
    context.mock.timers.tick(10_000);
    assert.equal((await next).code, Code.DEADLINE_EXCEEDED);
    await new Promise(setImmediate);
    assert.equal(sentWith(sent, 0xff01), 1, "the subscription is cancelled");
  }));

test("time of a lost connection does not count for the next one", (context) =>
  dialled(async (channel, links) => {
    const [messages, reconnect] = await interrupted(context, channel, links);
    (await reconnect()).events.close("lost");
    const { events } = await reconnect();
    events.data(frame(1, 0xff00));
    context.mock.timers.tick(10_000);
    events.data(frame(0, 0xff02, [1, 97, 7]));
    assert.deepEqual((await messages.next()).value?.payload, new Uint8Array([7]));
  }));

test("subscription left before it is resumed keeps no timer", () =>
  dialled(async (channel, links) => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const subscribing = new Topics(channel).subscribe("a");
    for (const at of [0, 1]) {
      await until("it dials", () => links.length > at);
      greet(links[at]!);
      await until("it is sent", () => sentWith(links[at]!.sent, 0xff00) === 1);
      if (at > 0) break;
      links[at]!.events.data(frame(1, 0xff00));
      await subscribing;
      links[at]!.events.close("lost");
    }
    const before = timers();
    await (await subscribing).return?.();
    assert.equal(timers(), before - 1);
  }));

/** Regression test: the client sent the same request again for each refusal. */
test("broker that refuses each request as unknown is asked twice", () =>
  connected(async (channel, receive, sent) => {
    const subscribing = failed(new Topics(channel).subscribe("a", { from: "now" }));
    for (const operation of [0xff06, 0xff00]) {
      await until("it is sent", () => sentWith(sent, operation) === 1);
      receive(frame(1, 0xff05, [4, ...Buffer.from("unknown operation")]));
    }
    const { code, message } = await subscribing;
    assert.deepEqual([code, message], [Code.UNIMPLEMENTED, "unknown operation"]);
    assert.equal(sentWith(sent, 0xff00), 1);
  }));

/** Regression test: the topics of queued messages were not counted, and took four times the limit. */
test("topics of queued messages count towards the limit", () =>
  connected(async (channel, receive, sent) => {
    const topic = "a".repeat(255);
    const subscribing = new Topics(channel).subscribe(topic);
    await until("it is sent", () => sentWith(sent, 0xff00) > 0);
    receive(frame(1, 0xff00));
    const messages = await subscribing;
    const some = Buffer.concat(new Array<Buffer>(1000).fill(frame(0, 0xff02, [255, 1, ...Buffer.from(topic)])));
    for (let received = 0; received < 60_000; received += 1000) receive(some);
    // Each message is charged 255 + 64 bytes of the limit of 16 MiB.
    assert.equal((await messages.next()).value?.lagged, 60_000 - Math.floor((16 << 20) / 319));
  }));
