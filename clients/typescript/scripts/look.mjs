// Opens the console in Chromium. `npm run look` measures its first paint, and that of a page with one line of text for
// comparison. LOADS sets the number of loads. `npm run look -- --pictures` takes the screenshots of docs/ instead. `npm
// run look -- --market http://localhost:8081/` takes those of the example `exchange`, which must be running at this
// address. `FRISBEE_DESK` names the test server's program; the default is the debug build.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));
const LOADS = Number(process.env.LOADS ?? 15);

mkdirSync(`${root}build`, { recursive: true });
await build({
  stdin: {
    contents: `export { chromium } from "./test/guest/chromium.ts"; export { desk, remove } from "./test/desk.ts"; export { finish } from "./scripts/after.mjs";
      export { connect } from "frisbee-rpc/node"; export { DeskClient } from "./test/generated/desk.ts";`,
    resolveDir: root,
  },
  bundle: true, platform: "node", format: "esm", target: "es2022", outfile: `${root}build/look.mjs`, external: ["ws"],
  tsconfig: `${root}tsconfig.json`, alias: { "node:test": `${root}scripts/after.mjs` }, logLevel: "error",
});
const { chromium, desk, remove, finish, connect, DeskClient } = await import(pathToFileURL(`${root}build/look.mjs`));

process.chdir(root);
const profile = mkdtempSync(`${tmpdir()}/look-`);
const open = await chromium(profile, []);
if (!open) throw new Error("Chromium is not installed");
const market = process.argv.indexOf("--market") + 1;
const server = await desk(undefined, "--console");
const url = `http://127.0.0.1:${server.port}/console/`;
try {
  await (market > 0 ? traded(process.argv[market]) : process.argv.includes("--pictures") ? pictures() : paints());
} finally {
  await server.stop();
  await finish();
  remove(profile);
}

/** Prints the time from the start of loading to the first paint of each page, in milliseconds. */
async function paints() {
  const plain = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html><title>plain</title>one line"));
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  const pages = { "the console": url, "a page of one line": `http://127.0.0.1:${plain.address().port}/` };
  const times = Object.fromEntries(Object.keys(pages).map((name) => [name, []]));
  for (let load = 0; load < LOADS; load++) {
    for (const [name, address] of Object.entries(pages)) {
      const page = await open(address);
      await page.toFront();
      times[name].push(await page.evaluate(`new Promise((done) => new PerformanceObserver((list) => done(list.getEntries()[0].startTime)).observe({ type: "paint", buffered: true }))`));
      await page.close();
    }
  }
  for (const [name, all] of Object.entries(times)) {
    all.sort((a, b) => a - b);
    const [least, median, most] = [0, 0.5, 1].map((part) => Math.round(all[Math.floor((all.length - 1) * part)]));
    console.log(`${name}: first paint after ${least} to ${most} ms, median ${median}, in ${LOADS} loads`);
  }
  plain.closeAllConnections();
  plain.close();
}

/** Takes the screenshots for docs/ while another client makes calls. */
async function pictures() {
  const channel = connect({ host: "127.0.0.1", port: server.port });
  const client = new DeskClient(channel);
  const load = setInterval(() => {
    const millis = Math.round(3 + 5 * Math.random() ** 3 * 8);
    void client.wait({ millis }).catch(() => {});
    for (let call = 0; call < 3 + 6 * Math.random(); call++) void client.add({ a: 1n, b: 2n }).catch(() => {});
    if (Math.random() < 0.1) void client.fail({ code: 5, text: "no such desk" }).catch(() => {});
  }, 60);
  const chat = client.chat((async function* () {
    for (let at = 0; at < 600; at++) {
      yield { value: `${at}` };
      await pause(100);
    }
  })());
  void (async () => {
    for await (const _ of chat);
  })().catch(() => {});
  const page = await open(url);
  const act = (statements) => page.evaluate(`(() => {
    const button = (text) => [...document.querySelectorAll("button")].find((one) => one.textContent.startsWith(text));
    const field = (name) => document.getElementById([...document.querySelectorAll("main label")].find((one) => one.textContent === name).htmlFor);
    const type = (input, text) => { input.value = text; for (const kind of ["input", "change"]) input.dispatchEvent(new Event(kind, { bubbles: true })); };
    ${statements}
  })()`);
  const picture = async (name, scheme, width, height) => {
    await page.look(scheme, width, height);
    await pause(1500);
    const png = await page.picture();
    writeFileSync(`${docs}console-${name}.png`, png);
    console.log(`console-${name}.png: ${width} by ${height}, ${png.length} bytes`);
  };
  await pause(2000);
  await act(`location.hash = "#/desk.Desk/Echo"`);
  await pause(1000);
  await act(`button("Example").click(); button("Call").click();`);
  await picture("form", "light", 1200, 720);
  await picture("narrow", "dark", 390, 780);
  await page.look("light", 1200, 720);
  await act(`location.hash = "#/desk.Desk/Chat"`);
  await pause(1000);
  for (const text of ["Is anybody there?", "Good evening", "Two messages are on their way"]) {
    await act(`type(field("value"), ${JSON.stringify(text)}); document.querySelector(".actions .primary").click();`);
    await pause(400);
  }
  await picture("stream", "dark", 1200, 640);
  await act(`location.hash = "#/"`);
  await pause(60_000);
  await act(`document.querySelector(".server").scrollIntoView()`);
  await picture("server", "light", 1200, 580);
  await act(`document.querySelector("h1").scrollIntoView()`);
  await picture("overview", "dark", 1200, 560);
  if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
  clearInterval(load);
  channel.close();
}

/** Takes the screenshots of the market while the page trades. */
async function traded(address) {
  const page = await open(address);
  await page.toFront();
  await page.look("light", 1200, 720);
  for (let order = 0; order < 4; order++) {
    await pause(5000);
    await page.evaluate(`document.querySelector('#ticket button[value="${order % 2 ? "sell" : "buy"}"]').click()`);
  }
  await page.evaluate(`document.querySelector("#inquire button").click()`);
  await pause(4000);
  for (const [name, scheme, width, height] of [["page", "light", 960, 480], ["page-narrow", "dark", 390, 780]]) {
    await page.look(scheme, width, height);
    await pause(1500);
    const png = await page.picture();
    writeFileSync(fileURLToPath(new URL(`../../../examples/exchange/${name}.png`, import.meta.url)), png);
    console.log(`${name}.png: ${width} by ${height}, ${png.length} bytes`);
  }
  if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
