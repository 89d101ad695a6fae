/** Calls over TCP, Unix sockets and TLS. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Code } from "frisbee-rpc";
import { connect } from "frisbee-rpc/node";
import { desk, folder } from "./desk.js";
import { DeskClient } from "./generated/desk.js";
import { calls } from "./matrix/calls.js";
import { layouts } from "./matrix/layouts.js";
import { topics } from "./matrix/topics.js";
import { failed, type TestTransport } from "./transports.js";

const here = folder();
let next = 0;
const host = "127.0.0.1";
const ca = (): Buffer => readFileSync(`${here}/certificate.pem`);

const TRANSPORTS: readonly TestTransport[] = [
  { name: "TCP", connect: ({ port }, options) => connect({ host, port }, options), start: desk },
  {
    name: "Unix",
    connect: ({ address }, options) => connect({ path: address.replace("unix:", "") }, options),
    start: (address = `unix:${here}/${next++}`, ...flags) => desk(address, ...flags),
  },
  {
    name: "TLS",
    connect: ({ port }, options) => connect({ host, port }, { ...options, tls: { ca: ca() } }),
    start: (address, ...flags) => desk(address, "--tls", here, ...flags),
  },
];
for (const transport of TRANSPORTS) {
  calls(transport);
  layouts(transport);
  topics(transport);
}

test("a server whose certificate is not trusted gets no call", async () => {
  const server = await desk(undefined, "--tls", here);
  const channel = connect({ host, port: server.port }, { tls: {}, reconnectTimeout: 200 });
  const status = await failed(new DeskClient(channel).add({}));
  assert.deepEqual([status.code, status.mayHaveRun], [Code.UNAVAILABLE, false]);
  assert.match(status.message, /self-signed/);
  channel.close();
  await server.stop();
});
