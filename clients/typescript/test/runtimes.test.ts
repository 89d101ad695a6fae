/** The matrix in Deno and Bun, where they are installed: `npm install --prefix runtimes` installs Deno. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { folder, started } from "./desk.js";
import { GUEST, startHost } from "./guest/host.js";

/** Where npm puts Deno: in a package for the platform. */
const DENO = "runtimes/node_modules/@deno";

const RUNTIMES = [
  { name: "Deno", programs: ["deno", ...(existsSync(DENO) ? readdirSync(DENO).map((platform) => `${DENO}/${platform}/deno`) : [])], flags: ["run", "--no-lock", "--no-config", "--allow-net", "--allow-env"] },
  { name: "Bun", programs: ["bun"], flags: ["run"] },
] as const;

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
