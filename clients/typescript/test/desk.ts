/** The server of the tests, as a program of its own. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const PROGRAM = process.env["FRISBEE_DESK"] ?? `${process.env["CARGO_TARGET_DIR"] ?? "../../target"}/debug/desk`;

export interface Desk {
  readonly port: number;
  readonly address: string;
  stop(): Promise<void>;
}

/** Starts the server, at an address or at a free port, with a layout of its own. */
export async function desk(address = "127.0.0.1:0", layout?: string): Promise<Desk> {
  const child: ChildProcess = spawn(PROGRAM, [address, ...(layout ? [layout] : [])], { stdio: ["pipe", "pipe", "inherit"] });
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

/** Asks until it is so. */
export async function until(what: string, is: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await is())) {
    if (performance.now() > end) throw new Error(`it does not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
