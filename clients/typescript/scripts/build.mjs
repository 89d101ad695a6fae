// Builds `dist`: the entry point for browsers, and the one for Node, which imports it. Both are built as ES modules and
// as CommonJS, minified, with source maps and declarations.
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
 * Bundles an entry point. Property names are not shortened, which costs 3 % of the compressed size. A shortened
 * property that is also accessed by its name as text, as in `STARTS[from]`, would break the package but not its
 * sources.
 */
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
  // The map includes the sources, because the package does not contain them. Short lines help, because a stack trace
  // names the line of an error.
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
