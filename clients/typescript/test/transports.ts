/** Where the tests of `matrix` run: a transport, and the way to start servers from there. */

import assert from "node:assert/strict";
import { Status, type Channel, type ChannelOptions } from "frisbee-rpc";
import type { DeskClient } from "./generated/desk.js";

/** A server that runs. */
export interface Desk {
  readonly port: number;
  readonly address: string;
  stop(): Promise<void>;
}

export interface TestTransport {
  readonly name: string;
  connect(desk: Desk, options?: ChannelOptions): Channel;
  /** Starts a server, at an address or at a free one. */
  start(address?: string, ...flags: string[]): Promise<Desk>;
}

/** How many chunks of 10 000 bytes a window of 256 KiB has credit for, with what each costs besides and one overdrawn. */
export const WINDOW_CHUNKS = Math.ceil((256 << 10) / (10_000 + 7 + 64));

/** Resolves to the status of a call that fails. */
export const failed = (call: Promise<unknown>): Promise<Status> =>
  call.then(
    () => assert.fail("it was answered"),
    (error: unknown) => (assert.ok(error instanceof Status, String(error)), error),
  );

/** Asks until it is so. */
export async function until(what: string, is: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await is())) {
    if (performance.now() > end) throw new Error(`it does not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Lets both ends do all that they can do by now: calls go there and back, behind whatever else is under way. */
export async function fence(client: DeskClient): Promise<void> {
  for (let round = 0; round < 100; round++) await client.state({});
}
