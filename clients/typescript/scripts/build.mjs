// Builds `dist`: one module for each entry with what they share, and the declarations.
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { INTERNAL } from "./internal.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
await build({
  entryPoints: [`${root}src/index.ts`, `${root}src/node.ts`],
  outdir: `${root}dist`,
  bundle: true,
  splitting: true,
  platform: "neutral",
  external: ["node:*"],
  format: "esm",
  target: "es2022",
  mangleProps: INTERNAL,
  mangleCache: {},
  logLevel: "warning",
});
const tsc = `${root}node_modules/typescript/bin/tsc`;
execFileSync("node", [tsc, "-p", `${root}tsconfig.build.json`], { stdio: "inherit" });
for (const name of readdirSync(`${root}dist`)) if (name.endsWith(".d.ts") && readFileSync(`${root}dist/${name}`).length === 0) writeFileSync(`${root}dist/${name}`, "export {};\n");
