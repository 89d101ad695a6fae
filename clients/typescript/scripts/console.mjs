// Builds the console into the gateway, which serves it: `npm run console`. With `--check`, writes nothing and fails if
// the committed files differ from what the sources produce. Also enforces the size limit of the console.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** Maximum size of the page in bytes, compressed. */
const LIMIT = 60_000;

const root = fileURLToPath(new URL("..", import.meta.url));
const out = fileURLToPath(new URL("../../../crates/frpc-gateway/console/", import.meta.url));
const isCheck = process.argv.includes("--check");

const common = { bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none", lineLimit: 160, logLevel: "warning" };
const [script, style] = await Promise.all([
  build({ ...common, entryPoints: [`${root}console/main.ts`], format: "iife", target: "es2022", tsconfig: `${root}tsconfig.json` }),
  build({ ...common, entryPoints: [`${root}console/console.css`], target: ["chrome110", "firefox110", "safari16"] }),
]);
const built = { "console.js": script.outputFiles[0].text, "console.css": style.outputFiles[0].text };
// These files are written by hand and not built.
let total = 0;
for (const name of ["index.html", "icon.svg"]) total += gzipSync(readFileSync(out + name), { level: 9 }).length;
let isStale = false;
for (const [name, text] of Object.entries(built)) {
  total += gzipSync(text, { level: 9 }).length;
  if (!isCheck) writeFileSync(out + name, text);
  else if (readFileSync(out + name, "utf8") !== text) {
    isStale = true;
    console.log(`${name} is out of date: run "npm run console" and commit the file`);
  }
}
console.log(`the console: ${total} bytes compressed, of at most ${LIMIT}${total > LIMIT ? ": TOO LARGE" : ""}`);
process.exitCode = isStale || total > LIMIT ? 1 : 0;
