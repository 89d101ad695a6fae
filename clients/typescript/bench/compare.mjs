// Compares frpc with other libraries, by calls per second and the client's CPU time per call: `npm ci && npm run
// bench`. Runs alternate between the candidates, and the table shows medians. `FRISBEE_DESK` names the program of the
// frpc server, which should be an optimized build. `NAMES=frpc,trpc` selects candidates.
//
// The table has no CPU time for Chromium, because it runs many processes. Without Chromium, its row is omitted.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { browser } from "./browser.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const root = `${here}../`;
const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** Number of concurrent callers, and number of consecutive calls per caller. */
const LOADS = [{ callers: 1, calls: Number(process.env.CALLS ?? 4000) }, { callers: 1000, calls: 100 }];
const ALL = ["frpc", "frpc-websocket", "frpc-chromium", "grpc-js", "connect-http2", "connect", "socket.io", "trpc"];
const NAMES = process.env.NAMES?.split(",") ?? ALL;
/** Divisors for the number of calls of slow candidates. */
const FEWER = { connect: 5, "connect-http2": 5, "grpc-js": 2 };

await build({
  stdin: { contents: 'export { connect } from "./src/node.ts"; export { connect as connectWeb } from "./src/index.ts"; export * from "./test/generated/desk.ts";', resolveDir: root },
  bundle: true, platform: "node", format: "esm", target: "es2022", outfile: `${root}build/bench.mjs`, tsconfig: `${root}tsconfig.json`, logLevel: "error",
});

const pages = await browser();

/** Runs one measurement. Returns `undefined` if Chromium is not available. */
async function measure(name, port, callers, calls) {
  if (name === "frpc-chromium") return pages.measure(port, callers, calls).catch((error) => void console.error(`skipped: ${error.message}`));
  return JSON.parse(execFileSync("node", [`${here}client.mjs`, name, port, callers, calls], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
}

async function serve(name) {
  const [program, ...words] = name.startsWith("frpc")
    ? [process.env.FRISBEE_DESK ?? `${root}../../target/release/desk`, "127.0.0.1:0", "--origin", pages.origin]
    : ["node", `${here}server.mjs`, name];
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  return { port: Number(String(line).trim().split(":").pop()), stop: () => child.stdin.end() };
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const found = new Map();
for (let round = 0; round < ROUNDS; round++) {
  for (const name of NAMES) {
    const { port, stop } = await serve(name);
    for (const { callers, calls } of LOADS) {
      const count = Math.ceil(calls / (FEWER[name] ?? 1));
      const result = await measure(name, port, callers, count);
      if (!result) continue;
      const key = `${name} ${callers}`;
      console.error(`${key}: ${JSON.stringify(result)}`);
      found.set(key, [...(found.get(key) ?? []), result]);
    }
    stop();
  }
}
console.log("| client | calls/s, one at a time | CPU of a call, µs | calls/s, a thousand at once | CPU of a call, µs |\n|---|---|---|---|---|");
for (const name of NAMES) {
  const cells = LOADS.flatMap(({ callers }) => {
    const runs = found.get(`${name} ${callers}`) ?? [];
    const cpus = runs.flatMap(({ cpu }) => cpu ?? []);
    return [median(runs.map(({ rate }) => rate)), cpus.length ? median(cpus).toFixed(1) : "–"];
  });
  if (cells[0] !== undefined) console.log(`| ${name} | ${cells.join(" | ")} |`);
}
pages.close();
