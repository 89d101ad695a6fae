/**
 * Follows the steps of a new user: installs the packed package, generates code from a schema with one command, and uses
 * the code in a page.
 */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { after, test } from "node:test";
import { build } from "esbuild";
import { desk, folder } from "./desk.js";
import { chromium } from "./guest/chromium.js";

const GENERATOR = `${process.cwd()}/${process.env["CARGO_TARGET_DIR"] ?? "../../target"}/debug/protoc-gen-frpc`;

/** The files that a user writes. */
const APPLICATION = `
import { connect, Status, Topics } from "frisbee-rpc";
import { DeskClient } from "./generated/desk.js";

// Fields and options accept undefined, even with the compiler option exactOptionalPropertyTypes.
const unset: { a?: bigint | undefined } = { a: undefined };

export async function use(url: string): Promise<string> {
  const channel = connect(url, { metadata: { authorization: "Bearer token" } });
  const desk = new DeskClient(channel);
  const topics = new Topics(channel);
  const created = await topics.subscribe("orders.*.created", { group: undefined, from: undefined });
  const { total } = await desk.add({ a: 40n, b: 2n }, { timeout: 5000 });
  await desk.add(unset);
  let count = 0;
  for await (const { value } of desk.count({ from: 1n, count: 3 })) count += Number(value);
  await topics.publish("orders.7.created", "an order");
  const { value } = await created.next();
  const refused: unknown = await desk.fail({ code: 5, text: "gone" }).catch((error: unknown) => error);
  channel.close();
  return \`\${total} \${count} \${value?.topic} \${refused instanceof Status ? refused.message : "?"}\`;
}
`;
const EXPECTED = "42 6 orders.7.created gone";

const root = process.cwd();
const here = folder();
const tsc = `${root}/node_modules/typescript/bin/tsc`;
const run = (program: string, ...words: string[]): string => execFileSync(program, words, { cwd: here, encoding: "utf8" });

/** Installs the packed package and generates code with an import extension. */
function install(extension: string): void {
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", here], { cwd: root, encoding: "utf8" }).trim();
  writeFileSync(`${here}/package.json`, '{ "private": true, "type": "module" }');
  run("npm", "install", "--silent", "--offline", `./${packed}`);
  mkdirSync(`${here}/proto`, { recursive: true });
  copyFileSync(`${root}/../../tests/typescript/proto/desk.proto`, `${here}/proto/desk.proto`);
  run(GENERATOR, "generate", `lang=ts,ts_import_extension=${extension}`, "src/generated", "proto/desk.proto");
}
install("js");

/** Checks the types of a program in a separate folder. */
function check(name: string, type: string, compilerOptions: object, program: string): void {
  const folder = `${here}/${name}`;
  mkdirSync(folder);
  writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true, type }));
  writeFileSync(`${folder}/program.ts`, program);
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify({ compilerOptions: { strict: true, target: "ES2022", lib: ["ES2022", "DOM"], types: [], exactOptionalPropertyTypes: true, ...compilerOptions } }));
  run("node", tsc, "-p", folder);
}

test("package is imported and required, with its types, by every resolution", () => {
  const program = 'import { connect, Status, type CallOptions } from "frisbee-rpc";\nexport const options: CallOptions = { timeout: undefined, onMetadata: undefined };\nexport const use = (): boolean => connect("ws://localhost/") instanceof Status;\n';
  check("node10", "commonjs", { module: "CommonJS", moduleResolution: "node10", ignoreDeprecations: "5.0" }, program);
  check("node16", "commonjs", { module: "node16", moduleResolution: "node16" }, program);
  check("esm", "module", { module: "node16", moduleResolution: "node16" }, program);
  // Uses functions of both entry points, loaded with `require` and with `import`.
  const used = 'console.log(new Status(5, "gone").code, typeof connect, ...encode(message("a.B", "y:y"), { y: new Uint8Array([7]) }))';
  const printed = "5 function 8 0 4 10 1 7\n";
  assert.equal(run("node", "--input-type=commonjs", "-e", `const { Status, encode, message } = require("frisbee-rpc"), { connect } = require("frisbee-rpc/node"); ${used}`), printed);
  assert.equal(run("node", "--input-type=module", "-e", `import { Status, encode, message } from "frisbee-rpc"; import { connect } from "frisbee-rpc/node"; ${used}`), printed);
});

test("uncaught error prints a short line of the package", () => {
  const { stderr } = spawnSync("node", ["--input-type=module", "-e", 'import { decode, message } from "frisbee-rpc"; decode(message("a.B", ""), new Uint8Array([1]));'], { cwd: here, encoding: "utf8" });
  assert.ok(stderr.includes("Malformed") && stderr.length < 2000, stderr);
  const map = JSON.parse(readFileSync(`${here}/node_modules/frisbee-rpc/dist/index.js.map`, "utf8")) as { sources: string[]; sourcesContent?: string[] };
  assert.ok(map.sources.length > 5 && map.sourcesContent?.every((source) => source.length > 0), "the map contains its sources");
});

test("generated code has only types that can be stripped", () => {
  const program = 'import { DeskClient } from "../src/generated/desk.ts";\nexport const name: string = DeskClient.name;\nconsole.log(name);\n';
  run(GENERATOR, "generate", "lang=ts,ts_import_extension=ts", "src/generated", "proto/desk.proto");
  check("stripped", "module", { module: "nodenext", moduleResolution: "nodenext", allowImportingTsExtensions: true, noEmit: true, erasableSyntaxOnly: true, verbatimModuleSyntax: true }, program);
  if (process.allowedNodeEnvironmentFlags.has("--experimental-strip-types")) assert.equal(run("node", "--experimental-strip-types", "--no-warnings", "stripped/program.ts"), "DeskClient\n");
});

test("a new user gets a page that calls, streams and subscribes from an empty folder", async (context) => {
  writeFileSync(`${here}/src/application.ts`, APPLICATION);

  const { compilerOptions } = JSON.parse(readFileSync(`${root}/tsconfig.json`, "utf8")) as { compilerOptions: object };
  writeFileSync(`${here}/tsconfig.json`, JSON.stringify({
    compilerOptions: { ...compilerOptions, types: [], paths: {}, skipLibCheck: false, lib: ["ES2022", "DOM", "DOM.Iterable"] }, include: ["src"],
  }));
  run("node", tsc, "-p", here);

  const options = { stdin: { contents: 'import { use } from "./src/application.js"; globalThis.use = use;', resolveDir: here }, bundle: true, format: "esm", write: false, minify: true } as const;
  const { outputFiles: [page] } = await build(options);
  const http = createServer((request, response) => {
    // The strictest content security policy: it permits no evaluation of text and no external resources.
    response.setHeader("content-security-policy", "default-src 'none'; script-src 'self'; connect-src ws:");
    response.setHeader("content-type", request.url === "/" ? "text/html" : "text/javascript");
    response.end(request.url === "/" ? '<!doctype html><title>page</title><script type="module" src="page.js"></script>' : page?.text);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  after(() => {
    http.closeAllConnections();
    http.close();
  });
  const origin = `http://127.0.0.1:${(http.address() as { port: number }).port}`;
  const server = await desk(undefined, "--origin", origin);
  try {
    const open = await chromium(`${here}/profile`, []);
    if (!open) {
      assert.notEqual(process.env["FRISBEE_REQUIRE_CHROMIUM"], "1");
      return context.skip("Chromium is not installed");
    }
    const opened = await open(`${origin}/`);
    assert.equal(await opened.evaluate(`use("ws://127.0.0.1:${server.port}/")`), EXPECTED);
  } finally {
    await server.stop();
  }
});
