// Measures calls per second against an optimized build of the test server: `node bench/frpc.mjs`. `FRISBEE_DESK` names
// another server program.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
mkdirSync(`${root}build`, { recursive: true });
await build({
  stdin: { contents: 'export { connect } from "./src/node.ts"; export * from "./test/generated/desk.ts";', resolveDir: root },
  bundle: true, platform: "node", format: "esm", target: "es2022", outfile: `${root}build/bench.mjs`, tsconfig: `${root}tsconfig.json`, logLevel: "error",
});
const { connect, DeskClient } = await import(pathToFileURL(`${root}build/bench.mjs`));
const child = spawn(process.env.FRISBEE_DESK ?? `${root}../../target/release/desk`, ["127.0.0.1:0"], { stdio: ["pipe", "pipe", "inherit"] });
const [line] = await once(child.stdout, "data");
const channel = connect({ port: Number(String(line).trim().split(":").pop()), host: "127.0.0.1" });
const client = new DeskClient(channel);

/** Runs this number of concurrent callers, each with this number of consecutive calls. */
async function run(callers, calls) {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(Array.from({ length: callers }, async () => {
    for (let call = 0; call < calls; call++) await client.get({ millis: call });
  }));
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const count = callers * calls;
  console.log(`${callers} callers: ${Math.round(count / seconds)} calls/s, ${((seconds * 1e6) / calls).toFixed(1)} µs a turn, ${((user + system) / count).toFixed(2)} µs of CPU a call`);
}
for (let round = 0; round < 3; round++) {
  await run(1, 10_000);
  await run(1000, 300);
}
channel.close();
child.stdin.end();
