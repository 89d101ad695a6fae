/** Starts the server of the tests as a separate program. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { after } from "node:test";
import type { Desk } from "./transports.js";

const PROGRAM = process.env["FRISBEE_DESK"] ?? `${process.env["CARGO_TARGET_DIR"] ?? "../../target"}/debug/desk`;

/** Creates a folder for one test program, which is removed afterwards. */
export function folder(): string {
  const path = mkdtempSync(`${tmpdir()}/desk-`);
  after(() => remove(path));
  return path;
}

/** Removes a folder. Retries, because a killed browser may write to it for a moment. */
export function remove(path: string): void {
  for (let left = 50; ; left--) {
    try {
      return rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if (left === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    }
  }
}

/** Resolves to whether the program could be started. */
export const started = (child: ChildProcess): Promise<boolean> =>
  new Promise((resolve) => child.once("spawn", () => resolve(true)).once("error", () => resolve(false)));

/** Starts the server at an address or on a free port. */
export async function desk(address = "127.0.0.1:0", ...flags: string[]): Promise<Desk> {
  const child: ChildProcess = spawn(PROGRAM, [address, ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  if (!child.stdout) throw new Error("it has an output");
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, "line")) as [string];
  return {
    address: line,
    port: Number(line.split(":").pop()),
    stop: async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
