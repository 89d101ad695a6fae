/**
 * Runs the matrix in a real Chromium, and tests specific to browsers. Skipped if Chromium is missing, unless it is
 * required.
 */

import assert from "node:assert/strict";
import { X509Certificate, createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { desk, folder } from "./desk.js";
import { chromium } from "./guest/chromium.js";
import { startHost } from "./guest/host.js";

const here = folder();
const { origin, start } = await startHost(here);
// The first server creates the certificate.
await (await desk(undefined, "--tls", here)).stop();
const key = new X509Certificate(readFileSync(`${here}/certificate.pem`)).publicKey.export({ type: "spki", format: "der" });
const open = await chromium(`${here}/profile`, [
  `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
  "--host-resolver-rules=MAP rebound.example 127.0.0.1",
  // Sets the grace period after which Chromium stops the timers of a background page to one second instead of five
  // minutes.
  "--enable-features=IntensiveWakeUpThrottling:grace_period_seconds/1",
]);

if (!open) {
  console.log("skipped: the tests in a browser, since Chromium is not installed");
  test("Chromium is there if it is required", () => assert.notEqual(process.env["FRISBEE_REQUIRE_CHROMIUM"], "1"));
} else {
  const page = await open(`${origin}/`);
  for (const name of await page.evaluate<string[]>("names()")) {
    test(`Chromium: ${name}`, async () => assert.equal(await page.evaluate(`run(${JSON.stringify(name)})`), ""));
  }

  test("a tab in the background keeps its connection, since it answers the server", async () => {
    // The server sends a PING after 0.5 s without received bytes and closes the connection after 3 s. During this time
    // the timers of the page are stopped.
    const server = await start("--impatient");
    const front = await open(`${origin}/`);
    await front.toFront();
    assert.equal(await page.evaluate(`stays("ws://127.0.0.1:${server.port}/", 6000)`), "hidden");
    await server.stop();
  });

  test("a page of another origin, and one that knows the server by another name, are not let in", async () => {
    const server = await start();
    const otherHost = await startHost(here);
    const otherPage = await open(`${otherHost.origin}/`);
    const refused = /no connection to the server: the WebSocket was closed \(1006/;
    assert.match(await otherPage.evaluate(`attempt("ws://127.0.0.1:${server.port}/")`), refused);
    assert.match(await page.evaluate(`attempt("ws://rebound.example:${server.port}/")`), refused);
    assert.equal(await page.evaluate(`attempt("ws://127.0.0.1:${server.port}/")`), "answered");
    await server.stop();
  });

  test("fetch calls Connect from a page that is let in, and from no other", async () => {
    const server = await start();
    const otherHost = await startHost(here);
    const otherPage = await open(`${otherHost.origin}/`);
    const call = (host: string): string =>
      `fetch("http://${host}:${server.port}/desk.Desk/Add", { method: "POST", headers: { "content-type": "application/json" }, body: '{"a": 3, "b": 4}' })` +
      `.then((response) => response.text(), String)`;
    const refused = "TypeError: Failed to fetch";
    assert.equal(await page.evaluate(call("127.0.0.1")), '{"total":"7","count":2}');
    assert.equal(await otherPage.evaluate(call("127.0.0.1")), refused);
    assert.equal(await page.evaluate(call("rebound.example")), refused);
    await server.stop();
  });
}
