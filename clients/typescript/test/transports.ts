/** Environment of the tests in `matrix`: a transport, and functions that start servers. */

import assert from "node:assert/strict";
import { Status, type Channel, type ChannelOptions } from "frisbee-rpc";
import type { DeskClient } from "./generated/desk.js";

/** A running server. */
export interface Desk {
  readonly port: number;
  readonly address: string;
  stop(): Promise<void>;
}

export interface TestTransport {
  readonly name: string;
  connect(desk: Desk, options?: ChannelOptions): Channel;
  /** Starts a server at an address or on a free port. */
  start(address?: string, ...flags: string[]): Promise<Desk>;
}

/**
 * Number of chunks of 10 000 bytes that a window of 256 KiB permits. Each chunk is charged the cost per message, and
 * the last one may exceed the window.
 */
export const WINDOW_CHUNKS = Math.ceil((256 << 10) / (10_000 + 7 + 64));

/** Resolves to the status of a call that fails. */
export const failed = (call: Promise<unknown>): Promise<Status> =>
  call.then(
    () => assert.fail("it was answered"),
    (error: unknown) => (assert.ok(error instanceof Status, String(error)), error),
  );

/** Waits until a condition holds. */
export async function until(what: string, is: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await is())) {
    if (performance.now() > end) throw new Error(`it does not come: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Waits until both ends have processed all packets in flight, by making calls that follow them. */
export async function fence(client: DeskClient): Promise<void> {
  for (let round = 0; round < 100; round++) await client.state({});
}
