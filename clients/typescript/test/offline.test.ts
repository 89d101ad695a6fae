/**
 * A page repeatedly goes offline while messages are published. Every loss must be reported, and no message may arrive
 * twice. `FRISBEE_OFFLINE=100` sets the number of outages, with 10 000 messages each; the default is smaller. Skipped
 * if Chromium is missing, unless the environment requires it.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as dial, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Topics } from "frisbee-rpc";
import { connect } from "frisbee-rpc/node";
import { folder } from "./desk.js";
import { chromium } from "./guest/chromium.js";
import type { Followed } from "./guest/guest.js";
import { startHost } from "./guest/host.js";
import { until } from "./transports.js";

const big = Number(process.env["FRISBEE_OFFLINE"] ?? 0);
const OUTAGES = big || 5;
const PER_OUTAGE = big ? 10_000 : 4_000;
/** Number of messages between two confirmations by the broker. */
const BATCH = 250;

const here = folder();
const { origin, start } = await startHost(here);
const open = await chromium(`${here}/profile`, []);

/** Starts a proxy to a port. `cut` ends all connections and refuses new ones. */
async function line(port: number): Promise<{ port: number; cut: () => void; restore: () => void; close: () => void }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = dial(port, "127.0.0.1");
    for (const [one, other] of [[near, far], [far, near]] as const) {
      sockets.add(one);
      one.on("error", () => {}).on("close", () => (sockets.delete(one), other.destroy()));
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as { port: number }).port, cut, restore: () => (isCut = false), close: () => (cut(), server.close()) };
}

if (!open) {
  console.log("skipped: outages of a page, since Chromium is not installed");
  test("Chromium is there if it is required", () => assert.notEqual(process.env["FRISBEE_REQUIRE_CHROMIUM"], "1"));
} else {
  test(`Chromium: ${OUTAGES} outages lose no message silently, and none comes twice`, async (context) => {
    const server = await start();
    const way = await line(server.port);
    const channel = connect({ host: "127.0.0.1", port: server.port });
    const topics = new Topics(channel);
    const page = await open(`${origin}/`);
    const total = OUTAGES * PER_OUTAGE;
    await page.evaluate(`follow("ws://127.0.0.1:${way.port}/", ${total})`);
    const followed = (): Promise<Followed> => page.evaluate("followed()");
    const begins = performance.now();
    let published = 0;
    for (let outage = 1; outage <= OUTAGES; outage++) {
      const end = outage * PER_OUTAGE;
      // At least the last batch is published while the page is offline.
      const cutAt = end - BATCH * Math.ceil((Math.random() * PER_OUTAGE) / BATCH);
      let away: Promise<void> | undefined;
      while (published < end) {
        if (published === cutAt) {
          way.cut();
          away = page.offline(true).then(async () => {
            await sleep(Math.random() * 300);
            way.restore();
            await page.offline(false);
          });
        }
        for (let at = 0; at < BATCH; at++) await topics.publish("load.a", String(++published).padStart(32, "0"));
        await topics.sync();
      }
      await away;
      await until("the page has all messages", async () => (await followed()).last === published);
    }
    const { last, received, stated, silent, twice, unknown, connections } = await followed();
    context.diagnostic(
      `${total} messages, ${OUTAGES} outages, ${((performance.now() - begins) / 1000).toFixed(0)} s: ${received} came, ` +
        `${stated} were stated as missing, ${silent} lost silently, ${twice} came twice, ${connections} connections`,
    );
    assert.deepEqual({ last, silent, twice, unknown }, { last: total, silent: 0, twice: 0, unknown: 0 });
    assert.equal(received + stated, total);
    assert.ok(connections > OUTAGES, `${connections} connections`);
    assert.ok(received > total / 2, `${received} came`);
    channel.close();
    way.close();
    await server.stop();
  });
}
