// Builds `dist`: a module for browsers, on which that for Node stands; minified, with source maps and declarations.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { INTERNAL } from "./internal.mjs";
import { minified } from "./minified.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = `${root}dist`;
rmSync(dist, { recursive: true, force: true });
const { mangleCache } = await bundle("index", {});
await bundle("node", mangleCache);

/** Puts an entry together, with the short names that another has. */
async function bundle(entry, mangleCache) {
  const path = `${dist}/${entry}.js`;
  const result = await build({
    entryPoints: [`${root}src/${entry}.ts`],
    outdir: dist,
    bundle: true,
    minify: true,
    platform: "neutral",
    external: ["node:*", "./index.js"],
    format: "esm",
    target: "es2022",
    sourcemap: true,
    mangleProps: INTERNAL,
    mangleCache,
    logLevel: "warning",
  });
  const { code, map } = await minified(readFileSync(path, "utf8"), { filename: `${entry}.js`, url: `${entry}.js.map`, content: readFileSync(`${path}.map`, "utf8") });
  writeFileSync(path, code);
  writeFileSync(`${path}.map`, map);
  return result;
}
const tsc = `${root}node_modules/typescript/bin/tsc`;
execFileSync("node", [tsc, "-p", `${root}tsconfig.build.json`], { stdio: "inherit" });
for (const name of readdirSync(dist)) if (name.endsWith(".d.ts") && readFileSync(`${dist}/${name}`).length === 0) writeFileSync(`${dist}/${name}`, "export {};\n");
