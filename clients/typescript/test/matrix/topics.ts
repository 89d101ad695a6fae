/** Topics of a broker beside services. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, Topics } from "frisbee-rpc";
import { failed, type Place } from "../place.js";

/** Defines the test for a transport. */
export function topics({ name: transport, connect, start }: Place): void {
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
    const next = failed(all.next());
    await server.stop();
    assert.equal((await next).code, Code.UNAVAILABLE);
    channel.close();
  });
}
