// Builds the page of the example `exchange`, which the example serves: `npm run exchange`. With `--check`, writes
// nothing and fails if the committed page differs from what the sources produce.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = fileURLToPath(new URL("../../../examples/exchange/page/", import.meta.url));

const { outputFiles: [script] } = await build({
  entryPoints: [`${folder}page.ts`],
  bundle: true,
  minify: true,
  write: false,
  charset: "utf8",
  lineLimit: 160,
  format: "esm",
  target: "es2022",
  tsconfig: `${root}tsconfig.json`,
  logLevel: "warning",
});
if (!process.argv.includes("--check")) writeFileSync(`${folder}page.js`, script.text);
else if (readFileSync(`${folder}page.js`, "utf8") !== script.text) {
  console.log('the page of the exchange is not what comes of its source: run "npm run exchange" and commit it');
  process.exitCode = 1;
}
