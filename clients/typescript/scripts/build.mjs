// Builds `dist`: a module for browsers, and that for Node, which imports it; minified, with source maps and declarations,
// as ES modules and as CommonJS.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { minified } from "./minified.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = `${root}dist`;
rmSync(dist, { recursive: true, force: true });
for (const format of ["esm", "cjs"]) for (const entry of ["index", "node"]) await bundle(entry, format);

/**
 * Puts an entry together. Properties keep their names, which costs 3 % compressed: a short name in place of one that is also
 * read by a text, as in `STARTS[from]`, breaks the package and not its sources. */
async function bundle(entry, format) {
  const name = `${entry}.${format === "esm" ? "js" : "cjs"}`;
  const path = `${dist}/${name}`;
  await build({
    entryPoints: [`${root}src/${entry}.ts`],
    outfile: path,
    bundle: true,
    minify: true,
    platform: "neutral",
    external: ["node:*", "./index.js"],
    format,
    target: "es2022",
    sourcemap: true,
    logLevel: "warning",
  });
  const program = format === "esm" ? readFileSync(path, "utf8") : readFileSync(path, "utf8").replaceAll('require("./index.js")', 'require("./index.cjs")');
  // The map contains the sources, which are not in the package. A trace shows the line of an error, so lines are short.
  const sourceMap = { filename: name, url: `${name}.map`, includeSources: true, content: readFileSync(`${path}.map`, "utf8") };
  const { code, map } = await minified(program, { sourceMap, module: format === "esm", format: { max_line_len: 160 } });
  writeFileSync(path, code);
  writeFileSync(`${path}.map`, map);
}
const tsc = `${root}node_modules/typescript/bin/tsc`;
execFileSync("node", [tsc, "-p", `${root}tsconfig.build.json`], { stdio: "inherit" });
for (const name of readdirSync(dist).filter((name) => name.endsWith(".d.ts"))) {
  const text = readFileSync(`${dist}/${name}`, "utf8") || "export {};\n";
  writeFileSync(`${dist}/${name}`, text);
  writeFileSync(`${dist}/${name.replace(/\.d\.ts$/, ".d.cts")}`, text.replace(/(from "\.\/\w+)\.js"/g, '$1.cjs"'));
}
