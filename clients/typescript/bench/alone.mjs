// Measures the client's CPU time per call without sockets: `node bench/alone.mjs`. The server is an object in memory
// that sends the same reply to each request.
//
// To compare with another checkout, pass the folder of its client: `node bench/alone.mjs ../other/clients/typescript`.
// Runs alternate between the two, each in its own process, and medians are printed.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL("..", import.meta.url));
const ROUNDS = Number(process.env.ROUNDS ?? 11);
/** Name of a load, number of concurrent callers, and number of consecutive calls per caller. */
const LOADS = [["one after the other", 1, 100_000], ["pipelined", 1000, 300]];
/** The messages: one with a single number, and one with a field of every kind. */
const MESSAGES = ["number", "every kind"];

if (process.argv[2] === "run") await run(...process.argv.slice(3));
else await compare(process.argv.slice(2));

async function compare(others) {
  const folders = [root, ...others];
  const bundles = await Promise.all(folders.map(async (folder, at) => {
    const outfile = `${root}build/alone-${at}.mjs`;
    await build({
      stdin: { contents: 'export * from "./src/index.ts"; export * from "./test/generated/desk.ts";', resolveDir: folder },
      bundle: true, platform: "node", format: "esm", target: "es2022", outfile, tsconfig: `${folder}/tsconfig.json`, logLevel: "error",
    });
    return outfile;
  }));
  const found = new Map();
  for (let round = 0; round < ROUNDS; round++) {
    for (const message of MESSAGES) {
      for (const [load, callers, calls] of LOADS) {
        for (const bundle of bundles) {
          const key = `${load}, ${message}: ${bundle}`;
          const cpu = Number(execFileSync("node", [here, "run", bundle, message, callers, message === MESSAGES[0] ? calls : calls / 5], { encoding: "utf8" }));
          found.set(key, [...(found.get(key) ?? []), cpu]);
        }
      }
    }
  }
  const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
  for (const message of MESSAGES) {
    for (const [load] of LOADS) {
      const medians = bundles.map((bundle) => median(found.get(`${load}, ${message}: ${bundle}`)));
      console.log(`${load}, ${message}: ${medians.map((cpu) => `${cpu.toFixed(2)} µs`).join(" against ")}${medians[1] ? `, ${(medians[0] / medians[1]).toFixed(2)} of it` : ""}`);
    }
  }
}

/** Prints the CPU time of a call in microseconds. */
async function run(bundle, message, callers, calls) {
  const { Channel, DeskClient, encode, All, Time } = await import(bundle);
  const value = message === MESSAGES[0] ? undefined : {
    flag: true, i: -7, u: 300, l: -40_000_000_000n, w: 5n, f: 0.5, d: 1.25, s: "a text of some words", y: new Uint8Array(32), color: 7,
    pair: { a: 1n, b: 2n }, names: ["one", "two", "three"], pairs: [{ a: 3n }, { b: 4n }], ages: new Map([["Ada", 36], ["Alan", 41]]),
    byNumber: new Map([[7n, { a: 7n }]]), maybe: 0, word: "word", choice: { case: "text", value: "chosen" }, inner: { i: 1 }, tint: 7, colors: [7, -3],
  };
  const body = value ? encode(All, value) : encode(Time, { millis: 5 });
  const client = new DeskClient(new Channel(server(body)));
  const call = value ? () => client.echo(value) : (at) => client.get({ millis: at });
  const load = (calls) => Promise.all(Array.from({ length: Number(callers) }, async () => {
    for (let at = 0; at < calls; at++) await call(at);
  }));
  await load(Math.ceil(calls / 4));
  const before = process.cpuUsage();
  await load(Number(calls));
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / callers / calls);
  process.exit();
}

/** Returns a dialler of a server that collects the requests of one write and answers them together in a later read. */
function server(body) {
  const HELLO = Buffer.from("000f000000030000000566726973" + "01", "hex");
  const reply = Buffer.concat([Buffer.from("000f000000000000", "hex"), Buffer.from([body.length >> 8, body.length]), body]);
  return (events) => {
    setImmediate(() => events.open());
    return {
      send(bytes) {
        const half = (at) => (bytes[at] << 8) | bytes[at + 1];
        const requests = [];
        for (let at = 0; at < bytes.length; at += 10 + half(at + 6) * 0x1_0000 + half(at + 8)) {
          if (half(at + 4) === 3) setImmediate(() => events.data(HELLO));
          if (half(at + 4) >= 10) requests.push(bytes[at + 2], bytes[at + 3], bytes[at + 5]);
        }
        const replies = new Uint8Array((requests.length / 3) * reply.length);
        for (let from = 0, to = 0; from < requests.length; from += 3, to += reply.length) {
          replies.set(reply, to);
          replies[to + 2] = requests[from];
          replies[to + 3] = requests[from + 1];
          replies[to + 5] = requests[from + 2];
        }
        if (replies.length > 0) setImmediate(() => events.data(replies));
      },
      close() {},
      buffered: () => 0,
    };
  };
}
