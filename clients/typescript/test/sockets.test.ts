/** Calls over TCP and Unix sockets. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { connect } from "frisbee-rpc/node";
import { after } from "node:test";
import { desk } from "./desk.js";
import { suite } from "./suite.js";

suite("TCP", ({ port }, options) => connect({ port }, options));

const folder = mkdtempSync(`${tmpdir()}/desk-`);
let next = 0;
after(() => rmSync(folder, { recursive: true }));
suite("Unix", ({ address }, options) => connect({ path: address.replace("unix:", "") }, options), () => desk(`unix:${folder}/${next++}`));
