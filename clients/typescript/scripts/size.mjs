// Checks that what a page imports from `dist`, minified and compressed, stays within limits in bytes. Each limit is
// slightly above the current size; the goal for the whole package is 8192. Bundles are minified by terser, like `dist`,
// and by esbuild.
//
// `--parts` prints the table of the README, measured with esbuild: the size that each source file adds, and the share
// of error texts.
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { minified } from "./minified.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const CASES = [
  { name: "everything", code: 'export * from "./dist/index.js";', limits: { terser: 12_400, esbuild: 13_040 } },
  { name: "unary calls and streams", code: 'export { connect, message, service, Status } from "./dist/index.js";', limits: { terser: 9_880, esbuild: 10_370 } },
];
let isTooLarge = false;
for (const { name, code, limits } of CASES) {
  const { outputFiles: [{ text }] } = await build({
    stdin: { contents: code, resolveDir: root },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    logLevel: "error",
  });
  const { code: small } = await minified(text);
  for (const [by, program] of [["terser", small], ["esbuild", text]]) {
    const bytes = compressed(program);
    const limit = limits[by];
    isTooLarge ||= bytes > limit;
    console.log(`${name}: ${bytes} bytes minified by ${by} and compressed, of at most ${limit}${bytes > limit ? ": TOO LARGE" : ""}`);
  }
}
process.exitCode = isTooLarge ? 1 : 0;
if (process.argv.includes("--parts")) await parts();

function compressed(text) {
  return gzipSync(text, { level: 9 }).length;
}

/**
 * Prints the size that each file adds when the files are concatenated in order. A later file compresses better if an
 * earlier one contains similar text.
 */
async function parts() {
  const { outputFiles: [{ text }], metafile } = await build({
    stdin: { contents: 'export * from "./src/index.ts";', resolveDir: root },
    bundle: true, minify: true, write: false, format: "esm", target: "es2022", metafile: true, logLevel: "error",
  });
  console.log("| part | minified | compressed |\n|---|---|---|");
  let at = 0;
  let before = 0;
  const row = (name, bytes) => {
    const upTo = compressed(text.slice(0, (at += bytes)));
    console.log(`| ${name} | ${bytes} | ${upTo - before} |`);
    before = upTo;
  };
  for (const [name, { bytesInOutput }] of Object.entries(Object.values(metafile.outputs)[0].inputs)) {
    if (bytesInOutput > 0) row(`\`${name.split("/").pop()}\``, bytesInOutput);
  }
  row("exports", text.length - at);
  console.log(`| all | ${text.length} | ${before} |`);
  const bare = withoutTexts(text);
  console.log(`| of that, texts of errors | ${text.length - bare.length} | ${before - compressed(bare)} |`);
}

/** Returns the program with every text of several words emptied. */
function withoutTexts(program) {
  let bare = "";
  let at = 0;
  const visit = (node) => {
    if ((ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) && /[a-z:] [a-z]/.test(node.text)) {
      bare += program.slice(at, node.getStart() + 1);
      at = node.getEnd() - (ts.isTemplateHead(node) || ts.isTemplateMiddle(node) ? 2 : 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("all.js", program, ts.ScriptTarget.ES2022, true));
  return bare + program.slice(at);
}
