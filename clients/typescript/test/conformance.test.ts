/** Sends the cases of `frpc conformance` that concern clients, whose rules are in docs/wire.md. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { Code, Status } from "frisbee-rpc";
import { connect } from "frisbee-rpc/node";
import { frame, idOf, operationOf, splitter } from "./frame.js";
import { InteropClient } from "./generated/interop.js";
import { listening } from "./ports.js";

const TABLE = "../../crates/frpc-cli/src/conformance/malformed.txt";
const HELLO = frame(0, 3, [...Buffer.from("fris\x01"), 4, 3, 0x80, 0x80, 0x10]);
const ADD = 18;
const REPLY = [8, 0, 13, 6, 13, 4];

/** Converts the notation of the table to bytes. */
function content(text: string): number[] {
  const levels: number[][] = [[]];
  for (const token of text.match(/"[^"]*"|\S+/g) ?? []) {
    if (token === "(") {
      levels.push([]);
      continue;
    }
    let bytes: number[];
    if (token === ")") {
      const inner = levels.pop()!;
      const length: number[] = [];
      let rest = inner.length;
      for (; rest > 127; rest >>= 7) length.push((rest & 127) | 128);
      bytes = [...length, rest, ...inner];
    } else if (token.startsWith('"')) bytes = [...Buffer.from(token.slice(1, -1))];
    else {
      const [digits, count = "1"] = token.split("*").reverse() as [string, string?];
      bytes = Array.from({ length: Number(count) }, () => [...Buffer.from(digits, "hex")]).flat();
    }
    levels.at(-1)!.push(...bytes);
  }
  return levels[0]!;
}

/** Returns the bytes of a case. `call` is the id of the client's call. */
const bytesOf = (packets: string, call: number): Buffer =>
  Buffer.concat(packets.split(";").map((packet) => {
    const [, place, body] = /^(\S+) ?(.*)$/.exec(packet.trim()) as unknown as [string, string, string];
    if (place === "raw") return Buffer.from(content(body));
    const [operation, id] = place.split("/") as [string, string];
    return frame(id === "call" ? call : Number(id), Number(operation), content(body));
  }));

/** Returns the reaction of a client that makes a call while the server sends the packets of a case. */
async function reaction(sender: string, expected: string, packets: string): Promise<string> {
  const sockets: Socket[] = [];
  let isClosed = (): void => {};
  const closed = new Promise<"close">((resolve) => (isClosed = () => resolve("close")));
  const server = createServer((socket) => {
    sockets.push(socket);
    if (sender !== "base") socket.once("data", () => socket.write(sender === "native" ? HELLO : bytesOf(packets, 0)));
    socket.on("error", () => {}).on("close", isClosed).on("data", splitter((packet) => {
      if (operationOf(packet) === 0) socket.write(frame(0, 1));
      if (operationOf(packet) !== ADD) return;
      const id = idOf(packet);
      if (sender !== "hello") socket.write(bytesOf(packets, id));
      if (!["accepted", "close"].includes(expected)) socket.write(frame(id, ADD, REPLY));
    }));
  });
  const port = await listening(server);
  const channel = connect({ host: "127.0.0.1", port }, sender === "base" ? { compat: "current" } : {});
  const answered = new InteropClient(channel).add({ a: 1n, b: 2n }, { timeout: 5000 }).then(
    () => (expected === "accepted" ? "accepted" : "ignored"),
    (error: Status) => (error.code === Code.UNAVAILABLE ? "close" : (Object.keys(Code).find((name) => Code[name as keyof typeof Code] === error.code) ?? "")),
  );
  const found = await Promise.race([answered, closed]);
  channel.close();
  sockets.forEach((socket) => socket.destroy());
  server.close();
  return found;
}

test("client reacts to malformed packets by the rules", async () => {
  const wrong: string[] = [];
  let count = 0;
  for (const line of readFileSync(TABLE, "utf8").split("\n")) {
    const [rule, receiver, sender, expected, packets] = line.split(" | ") as [string, string, string, string, string];
    // Cases about fragments do not apply to a client that announces no channels for them.
    if (line.startsWith("#") || !["client", "both"].includes(receiver) || rule.startsWith("fragment")) continue;
    count++;
    const found = await reaction(sender, expected, packets);
    if (found.toLowerCase() !== expected.toLowerCase()) wrong.push(`${found} instead of ${line}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(count > 150, `${count}`);
});
