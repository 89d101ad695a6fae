/** Tests of peers with different versions of a schema. The server translates between them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Code } from "frisbee-rpc";
import * as first from "../generated/versions.first.js";
import * as moved from "../generated/versions.moved.js";
import * as second from "../generated/versions.second.js";
import * as stranger from "../generated/versions.stranger.js";
import { failed, type TestTransport } from "../transports.js";

/** Defines the tests for a transport. */
export function layouts({ name: transport, connect, start }: TestTransport): void {
  test(`${transport}: a client from last week speaks to a later server, and a later client to one from last week`, async () => {
    const late = await start(undefined, "--layout", "second");
    const early = connect(late);
    const parrot = new first.ParrotClient(early);
    assert.deepEqual(await parrot.say({ word: "a", times: 2 }), { words: "a a" });
    assert.deepEqual((await parrot.chat([{ word: "b", times: 1 }]).next()).value, { words: "b" });
    early.close();
    await late.stop();

    const before = await start(undefined, "--layout", "first");
    const channel = connect(before);
    const later = new second.ParrotClient(channel);
    const ask = { word: "a", times: 2, between: "x", ending: { case: "question", value: true } } as const;
    assert.deepEqual(await later.say(ask), { words: "a a", length: 0n });
    assert.deepEqual((await later.chat([ask]).next()).value, { words: "a a", length: 0n });
    channel.close();
    await before.stop();
  });

  test(`${transport}: a service with the operations of another needs a channel of its own`, async () => {
    const server = await start(undefined, "--layout", "second");
    const channel = connect(server);
    await new second.ParrotClient(channel).say({});
    const status = await failed(new first.ParrotClient(channel).say({ word: "a", times: 1 }));
    assert.deepEqual([status.code, status.mayHaveRun], [Code.FAILED_PRECONDITION, false]);
    channel.close();
    await server.stop();
  });

  test(`${transport}: fields are found in any order, and a service that is not there is refused unsent`, async () => {
    const server = await start(undefined, "--layout", "moved");
    for (const client of [first.ParrotClient, second.ParrotClient, moved.ParrotClient]) {
      const channel = connect(server);
      assert.equal((await new client(channel).say({ word: "a", times: 2 })).words, "a a");
      channel.close();
    }
    const channel = connect(server);
    const status = await failed(new stranger.CounterClient(channel).count({}));
    assert.deepEqual([status.code, status.mayHaveRun], [Code.UNIMPLEMENTED, false]);
    channel.close();
    await server.stop();
  });
}
