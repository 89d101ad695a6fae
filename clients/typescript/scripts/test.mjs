// Tests the packed package: `npm test [-- NAME…]`. Packs the package, installs it in an empty folder, builds the tests
// and the server that they call, and runs the tests. With `--sources`, the tests import the sources instead, for
// coverage.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { nodes } from "./runtimes.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const app = `${root}build/app`;
const isOfSources = process.argv.includes("--sources");
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
/**
 * Tests that run only once, with ES modules and the default Node. They test other programs or the package as a whole,
 * or take long.
 */
const ONCE = /^(chromium|console|copied|fuzz|new-user|offline|runtimes)\./;

execFileSync("node", [`${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", root], { stdio: "inherit" });
if (!process.env.FRISBEE_DESK) execFileSync("cargo", ["build", "--quiet", "--locked", "-p", "typescript-tests", "-p", "frpc-languages", "--bins"], { cwd: root, stdio: "inherit" });

rmSync(app, { recursive: true, force: true });
mkdirSync(app, { recursive: true });
writeFileSync(`${app}/package.json`, '{ "private": true, "type": "module" }');
const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", app], { cwd: root, encoding: "utf8" }).trim();
execFileSync("npm", ["install", "--silent", "--offline", `./${packed}`], { cwd: app, stdio: "inherit" });

const tests = readdirSync(`${root}test`).filter((name) => name.endsWith(".test.ts") && (wanted.length === 0 || wanted.some((part) => name.includes(part))));
const { compilerOptions } = JSON.parse(readFileSync(`${root}tsconfig.json`, "utf8"));
const common = {
  bundle: true, format: "esm", target: "es2022", sourcemap: "inline", logLevel: "warning", outExtension: { ".js": ".mjs" },
  ...(isOfSources ? { tsconfig: `${root}tsconfig.json` } : { tsconfigRaw: { compilerOptions: { ...compilerOptions, paths: {} } } }),
};
const PACKAGE = /^frisbee-rpc(\/|$)/;
/**
 * Bundles the installed package. Resolved from the folder of the tests, its name would refer to the `dist` next to the
 * sources.
 */
const installed = {
  name: "installed",
  setup({ onResolve, resolve }) {
    onResolve({ filter: PACKAGE }, ({ path, kind, resolveDir }) => (resolveDir === app ? undefined : resolve(path, { kind, resolveDir: app })));
  },
};
/** Loads the package with `require`. */
const requiring = {
  name: "requiring",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: PACKAGE }, ({ path, namespace }) => (namespace === "required" ? { path, external: true } : { path, namespace: "required" }));
    onLoad({ filter: PACKAGE, namespace: "required" }, ({ path }) => ({ contents: `module.exports = require("${path}")` }));
  },
};

/** Builds tests for Node in a folder, and returns the paths of their programs. */
async function built(folder, names, options) {
  const external = ["ws", "esbuild", "typescript"];
  await build({ ...common, entryPoints: names.map((name) => `${root}test/${name}`), outdir: `${app}/${folder}`, platform: "node", external, ...options });
  return names.map((name) => `${app}/${folder}/${name.replace(/\.ts$/, ".mjs")}`);
}

let status = 0;
function run(node, files) {
  // Time of a file. Compilers take minutes on a busy machine, and the test of a page with many outages takes longer.
  const timeout = process.env.FRISBEE_OFFLINE ? 1_800_000 : 900_000;
  status ||= spawnSync(node, ["--enable-source-maps", "--test", `--test-timeout=${timeout}`, ...files], { cwd: root, stdio: "inherit" }).status ?? 1;
}

// Bundles the package and the matrix for runtimes without Node's modules.
await build({
  ...common,
  entryPoints: [`${root}test/guest/guest.ts`],
  outdir: `${app}/esm/guest`,
  platform: "neutral",
  plugins: isOfSources ? [] : [installed],
  alias: { "node:assert/strict": `${root}test/guest/assert.ts`, "node:test": `${root}test/guest/registry.ts` },
});
run("node", await built("esm", tests, isOfSources ? {} : { external: ["ws", "esbuild", "typescript", "frisbee-rpc"] }));
const again = tests.filter((name) => !ONCE.test(name));
if (!isOfSources && again.length > 0) {
  const files = await built("cjs", again, {
    plugins: [requiring],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  for (const node of ["node", ...nodes()]) run(node, files);
}
process.exitCode = status;
