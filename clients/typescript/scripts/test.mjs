// Builds the tests and the server that they call, and runs them: `npm test [-- NAME…]`.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const out = `${root}build/test`;
const wanted = process.argv.slice(2);

execFileSync("node", [`${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", root], { stdio: "inherit" });
if (!process.env.FRISBEE_DESK) execFileSync("cargo", ["build", "--quiet", "--locked", "-p", "typescript-tests", "-p", "frpc-languages", "--bins"], { cwd: root, stdio: "inherit" });

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const tests = readdirSync(`${root}test`).filter((name) => name.endsWith(".test.ts") && (wanted.length === 0 || wanted.some((part) => name.includes(part))));
const common = { bundle: true, format: "esm", target: "es2022", sourcemap: "inline", logLevel: "warning", tsconfig: `${root}tsconfig.json` };
await build({
  ...common,
  entryPoints: tests.map((name) => `${root}test/${name}`),
  outdir: out,
  outExtension: { ".js": ".mjs" },
  platform: "node",
  external: ["ws", "esbuild", "typescript"],
});
// For places without Node's modules.
await build({
  ...common,
  entryPoints: [`${root}test/guest/guest.ts`],
  outfile: `${out}/guest/guest.mjs`,
  platform: "neutral",
  alias: { "node:assert/strict": `${root}test/guest/assert.ts`, "node:test": `${root}test/guest/registry.ts` },
});
const files = tests.map((name) => `${out}/${name.replace(/\.ts$/, ".mjs")}`);
// A hundred outages of a page take longer.
const timeout = process.env.FRISBEE_OFFLINE ? 1_800_000 : 240_000;
process.exitCode = spawnSync("node", ["--enable-source-maps", "--test", `--test-timeout=${timeout}`, ...files], { cwd: root, stdio: "inherit" }).status ?? 1;
