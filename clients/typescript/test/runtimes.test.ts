/** Runs the matrix in other runtimes with a bundle of the package. `npm install --prefix runtimes` installs them. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { folder, started } from "./desk.js";
import { GUEST, startHost } from "./guest/host.js";

const INSTALLED = "runtimes/node_modules/";

/** Finds a program in npm packages whose names start with a prefix. A runtime has one package per platform. */
function installed(prefix: string, program: string): string[] {
  const end = prefix.lastIndexOf("/") + 1;
  try {
    const names = readdirSync(INSTALLED + prefix.slice(0, end)).filter((name) => name.startsWith(prefix.slice(end)));
    return names.map((name) => `${INSTALLED}${prefix.slice(0, end)}${name}/${program}`);
  } catch {
    return [];
  }
}

const RUNTIMES = [
  { name: "Deno", programs: ["deno", ...installed("@deno/", "deno")], flags: ["run", "--no-lock", "--no-config", "--allow-net", "--allow-env"] },
  { name: "Bun", programs: ["bun", ...installed("@oven/bun-", "bin/bun")], flags: ["run"] },
  // Node 20 is missing because it has no global WebSocket.
  { name: "Node 22", programs: installed("node-22", "bin/node"), flags: [] },
  { name: "Node 24", programs: installed("node-24", "bin/node"), flags: [] },
];

const { origin } = await startHost(folder());
for (const { name, programs, flags } of RUNTIMES) {
  test(`${name} passes the matrix`, async (context) => {
    for (const program of programs) {
      const child = spawn(program, [...flags, GUEST, origin], { stdio: ["ignore", "pipe", "inherit"] });
      if (!(await started(child))) continue;
      let count = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        const result = JSON.parse(line) as { name: string; failure: string };
        await context.test(`${name}: ${result.name}`, () => assert.equal(result.failure, ""));
        count++;
      }
      assert.ok(count > 20, `${count}`);
      return;
    }
    context.skip(`${name} is not installed`);
  });
}
