// Calls to the server of this project, which each run starts on a free port.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { type Channel, Code, Status } from "frisbee-rpc";
import { connect } from "frisbee-rpc/node";
import { GreeterClient } from "../src/generated/greet.js";

let server: ChildProcess;
let channel: Channel;

before(async () => {
  const child = spawn("../target/debug/@name@", ["127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"] });
  server = child;
  for await (const line of createInterface({ input: child.stdout })) {
    channel = connect({ port: Number(line.split(":").at(-1)) });
    return;
  }
  throw new Error("the server ended before it was listening");
});

after(() => {
  channel?.close();
  server?.kill();
});

test("greeting has the name", async () => {
  const { text } = await new GreeterClient(channel).greet({ name: "Ada" });
  assert.equal(text, "Hello, Ada!");
});

test("empty name is invalid", async () => {
  const call = new GreeterClient(channel).greet({ name: "" });
  await assert.rejects(call, (error) => error instanceof Status && error.code === Code.INVALID_ARGUMENT);
});
