/** Tests of a broker that is mounted next to services. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, mount, Topics, Status } from "frisbee-rpc";
import { failed, until, type TestTransport } from "../transports.js";

/** Defines the test for a transport. */
export function topics({ name: transport, connect, start }: TestTransport): void {
  test(`${transport}: messages arrive at the subscriptions that match, in order`, async () => {
    const server = await start();
    const channel = connect(server);
    const topics = new Topics(channel);
    const all = await topics.subscribe("orders.>");
    const created = await topics.subscribe("orders.*.created");
    const group = await topics.subscribe("orders.>", { group: "workers" });
    for (let at = 0; at < 100; at++) await topics.publish(at % 2 ? "orders.north.created" : "orders.south", `${at}`);
    await topics.sync();
    for (let at = 0; at < 100; at++) {
      const { value } = await all.next();
      assert.deepEqual([value?.topic, new TextDecoder().decode(value?.payload)], [at % 2 ? "orders.north.created" : "orders.south", `${at}`]);
      await group.next();
    }
    assert.equal((await created.next()).value?.topic, "orders.north.created");
    await created.return?.();
    assert.equal((await created.next()).done, true);
    assert.equal((await failed(topics.subscribe("a..b"))).code, Code.INVALID_ARGUMENT);
    await topics.publish("a..b", "1");
    assert.equal((await failed(topics.sync())).code, Code.INVALID_ARGUMENT);
    await topics.sync();
    const next = all.next();
    channel.close();
    assert.deepEqual(await next, { done: true, value: undefined });
    await server.stop();
  });

  test(`${transport}: packets of a mounted protocol are exchanged beside calls`, async () => {
    const server = await start();
    const channel = connect(server);
    const waiting = new Map<number, (text: string) => void>();
    const downs: Status[] = [];
    const send = mount(channel, {
      operations: [1000, 1001],
      packet: (id, operation, body) => waiting.get(id)?.(`${operation} ${new TextDecoder().decode(body)}`),
      down: (status) => downs.push(status),
    });
    const sendText = async (id: number, text: string) => {
      const reply = new Promise<string>((resolve) => waiting.set(id, resolve));
      await send(id, 1000, new TextEncoder().encode(text));
      return reply;
    };
    assert.deepEqual(await Promise.all([sendText(1, "a"), sendText(2, "b"), sendText(3, "")]), ["1000 A", "1000 B", "1000 "]);
    (await channel.connected()).drain();
    assert.equal(await sendText(4, "again"), "1000 AGAIN");
    assert.equal(downs[0]?.code, Code.UNAVAILABLE);
    const refused = await send(5, 1000, new Uint8Array(6 << 20)).then(() => undefined, (error: unknown) => error);
    assert.ok(refused instanceof Status && refused.code === Code.RESOURCE_EXHAUSTED);
    channel.close();
    await server.stop();
  });

  test(`${transport}: a subscription with a history loses nothing with its connection`, async () => {
    const server = await start();
    const [reader, writer] = [connect(server), connect(server)];
    const [topics, publisher] = [new Topics(reader), new Topics(writer)];
    for (let at = 1; at <= 3; at++) await publisher.publish("kept.a", `${at}`);
    await publisher.sync();
    const kept = await topics.subscribe("kept.*", { from: "oldest" });
    const last = await topics.subscribe("kept.a", { from: "last" });
    for (let at = 1; at <= 60; at++) {
      if (at > 3) await publisher.publish("kept.a", `${at}`);
      if (at % 7 === 0) (await reader.connected()).drain();
      for (const messages of at < 3 ? [kept] : [kept, last]) {
        const { value } = await messages.next();
        assert.deepEqual([new TextDecoder().decode(value?.payload), value?.position?.offset, value?.lagged, value?.reconnected], [`${at}`, at, 0, false]);
        if (at === 20 && value?.position) {
          const after = await topics.subscribe("kept.a", { from: { ...value.position, offset: 17 } });
          assert.equal(new TextDecoder().decode((await after.next()).value?.payload), "18");
          await after.return?.();
        }
      }
    }
    reader.close();
    writer.close();
    await server.stop();
  });

  test(`${transport}: a subscription says that messages may be missing after a restart`, async () => {
    let server = await start();
    const channel = connect(server);
    const topics = new Topics(channel);
    const subscriptions = [await topics.subscribe("plain"), await topics.subscribe("kept.a", { from: "now" })];
    for (const topic of ["plain", "kept.a"]) await topics.publish(topic, "1");
    for (const messages of subscriptions) assert.equal((await messages.next()).value?.reconnected, false);
    await server.stop();
    server = await start(server.address);
    for (const [at, topic] of ["plain", "kept.a"].entries()) {
      const next = subscriptions[at]?.next();
      let isThere = false;
      void next?.then(() => (isThere = true));
      // Publishes repeatedly, because the subscription may be restored later than the publisher's connection.
      while (!isThere) await topics.publish(topic, "2").then(() => topics.sync()).catch(() => {});
      assert.equal((await next)?.value?.reconnected, true, topic);
    }
    channel.close();
    await server.stop();
  });

  /** Regression test: `sync` succeeded on the next connection, although earlier messages may have been lost. */
  test(`${transport}: sync reports unconfirmed messages of a lost connection`, async () => {
    let server = await start();
    const channel = connect(server);
    const topics = new Topics(channel);
    await topics.publish("plain", "confirmed");
    await topics.sync();
    for (const isUnconfirmed of [false, true]) {
      if (isUnconfirmed) await topics.publish("plain", "unconfirmed");
      const link = await channel.connected();
      await server.stop();
      server = await start(server.address);
      await until("the connection is lost", () => !link.isUp);
      if (isUnconfirmed) assert.equal((await failed(topics.sync())).code, Code.DATA_LOSS);
      await topics.sync();
    }
    channel.close();
    await server.stop();
  });

  test(`${transport}: a page sees the subscribers of a topic`, async () => {
    const server = await start();
    const [watcher, guest] = [connect(server), connect(server)];
    const presence = await new Topics(watcher).subscribe("$presence.rooms.lobby");
    const next = async (): Promise<unknown> => JSON.parse(new TextDecoder().decode((await presence.next()).value?.payload));
    assert.deepEqual(await next(), { present: {}, omitted: 0 });
    const lobby = await new Topics(guest).subscribe("rooms.lobby");
    assert.deepEqual(await next(), { joined: "page", connections: 1 });
    await lobby.return?.();
    assert.deepEqual(await next(), { left: "page", connections: 0 });
    (await watcher.connected()).drain();
    assert.deepEqual(await next(), { present: {}, omitted: 0 });
    watcher.close();
    guest.close();
    await server.stop();
  });
}
