/**
 * Tests the console in a real Chromium: what it displays, how it reacts to input, and that other pages cannot access
 * it.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer, request as ask, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { after, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { connect } from "frisbee-rpc/node";
import { desk, remove } from "./desk.js";
import { DeskClient } from "./generated/desk.js";
import { chromium, type Page } from "./guest/chromium.js";
import { listening } from "./ports.js";
import { failed, until } from "./transports.js";

const profile = mkdtempSync(`${tmpdir()}/console-`);
const open = await chromium(profile, ["--host-resolver-rules=MAP rebound.example 127.0.0.1"]);
// The browser has been killed, but its child processes may still write to the folder.
after(() => remove(profile));

/** Functions in the page that simulate a user. */
const HANDS = `
  const all = (what, root = document) => [...root.querySelectorAll(what)];
  const shown = (what) => document.querySelector(what)?.textContent ?? "";
  const button = (text) => all("button").find((one) => one.textContent.startsWith(text));
  const type = (input, text) => { input.value = text; input.dispatchEvent(new Event("input", { bubbles: true })); input.dispatchEvent(new Event("change", { bubbles: true })); };
  const field = (name) => document.getElementById(all("main label").find((one) => one.textContent === name).htmlFor);
  const log = () => all(".log li").map((one) => one.querySelector("pre").textContent);
`;

/** Evaluates an expression that can use these functions. */
const see = <T>(page: Page, expression: string): Promise<T> => page.evaluate(`(() => { ${HANDS} return (${expression}); })()`);
const act = (page: Page, statements: string): Promise<void> => page.evaluate(`(() => { ${HANDS} ${statements} })()`);

if (!open) {
  console.log("skipped: the tests of the console, since Chromium is not installed");
  test("Chromium is there if it is required", () => assert.notEqual(process.env["FRISBEE_REQUIRE_CHROMIUM"], "1"));
} else {
  const server = await desk(undefined, "--console");
  after(() => server.stop());
  const at = (port: number, host = "127.0.0.1"): string => `http://${host}:${port}/console/`;

  /** Opens the console and waits until it has the schema. */
  const console_ = async (port = server.port): Promise<Page> => {
    const page = await open(at(port));
    await until("the list of services", () => see(page, `all("nav a").length > 10`));
    return page;
  };
  /** Opens a method and waits for its form. */
  const go = async (page: Page, path: string): Promise<void> => {
    await act(page, `location.hash = "#/${path}";`);
    await until(path, () => see(page, `shown("h1") === "${path}" && button("Example") !== undefined`));
  };
  const ended = (page: Page, badge: string): Promise<void> => until(badge, () => see(page, `shown(".response .badge") === "${badge}"`));

  test("the console loads under its policy without a errorOf and lists services with their docs", async () => {
    const page = await console_();
    assert.deepEqual(await see(page, `all("nav summary").map((one) => one.textContent).slice(0, 1)`), ["deskDesk"]);
    await go(page, "desk.Desk/Add");
    await go(page, "desk.Desk/Echo");
    assert.equal(await see(page, `shown(".title .docs")`), "Returns its argument.");
    assert.deepEqual(page.errors, []);
    const response = await fetch(at(server.port));
    const policy = response.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|\*|data:/);
    await assert.rejects(page.evaluate(`document.body.innerHTML = "<b>x</b>"`), /TrustedHTML/);
  });

  test("a form of every kind of field makes the request that the server returns", async () => {
    const page = await console_();
    await go(page, "desk.Desk/Echo");
    await act(page, `
      type(field("l"), "-9223372036854775808");
      type(field("w"), "18446744073709551615");
      type(field("s"), "Grüße <b>");
      type(field("choice"), "both");
      type(field("d"), "NaN");
      button("Call").click();`);
    await ended(page, "OK");
    const reply = JSON.parse((await see<string[]>(page, "log()"))[0] ?? "") as Record<string, unknown>;
    assert.deepEqual(reply, {
      flag: true, i: 1, u: 1, l: "-9223372036854775808", w: "18446744073709551615", f: 1.5, d: "NaN", s: "Grüße <b>",
      y: "Ynl0ZXM=", color: "COLOR_RED", pair: { a: "1", b: "1" }, names: ["names"], pairs: [{ a: "1", b: "1" }],
      ages: { key: 1 }, byNumber: { 1: { a: "1", b: "1" } }, maybe: 1, word: "word", both: { a: "0", b: "0" },
      tint: "COLOR_RED", colors: ["COLOR_RED"],
    });
    assert.equal(await see(page, `shown(".histories .badge")`), "OK");
    assert.deepEqual(page.errors, []);
  });

  test("protobuf's own types have the forms that people write them in", async () => {
    const page = await console_();
    await go(page, "forms.Forms/Echo");
    const json = {
      at: "2030-01-31T12:00:00.000000001Z", span: "-1.500s", mask: "name,homeAddress.city", free: { a: [1, null, { b: "c" }], d: true },
      anyValue: 1.5, list: ["x", {}], wide: "9007199254740993", data: "AP8=", ats: ["1969-12-31T23:59:59.500Z", "0001-01-01T00:00:00Z"],
      byFlag: { true: "yes" }, forAWhile: "3s", shape: { inner: { last: "-9223372036854775808" }, sides: ["RIGHT", "LEFT"], last: "1" },
    };
    await act(page, `button("JSON").click(); type(document.querySelector("textarea.code"), ${JSON.stringify(JSON.stringify(json))}); button("Form").click(); button("Call").click();`);
    await ended(page, "OK");
    assert.deepEqual(JSON.parse((await see<string[]>(page, "log()"))[0] ?? ""), json);
    await act(page, `button("Example").click(); button("Call").click();`);
    await until("the example", () => see(page, `log()[0]?.includes('"mask": "name"')`));
    await ended(page, "OK");
    assert.deepEqual(page.errors, []);
  });

  test("the overview shows the connections of the server and the calls of all its clients", async () => {
    const page = await console_();
    const channel = connect({ port: server.port, host: "127.0.0.1" });
    const client = new DeskClient(channel);
    await client.add({});
    await failed(client.fail({ code: 5 }));
    const row = (method: string): Promise<string[] | undefined> =>
      see(page, `(() => { const row = all(".server tr").find((one) => one.cells[0].textContent.endsWith("${method}")); return row && [...row.cells].map((cell) => cell.textContent); })()`);
    await until("the calls of another client", async () => Number((await row("Add"))?.[2]) >= 1 && Number((await row("Fail"))?.[3]) >= 1);
    await until("both connections", () => see(page, `all(".server table")[1].tBodies[0].rows.length >= 2`));
    assert.match(await see(page, `shown(".server .facts")`), /desk.*open.*of at most/s);
    // Plots of all calls, of connections and streams, and of bytes.
    assert.equal(await see(page, `all(".server .plots polyline").length`), 6);
    await client.add({});
    const drawn = (name: string): Promise<number> => see(page, `all(".server td svg").find((one) => one.getAttribute("aria-label").startsWith("${name}"))?.querySelector("polyline").points.length ?? 0`);
    await until("the calls of a method over time", async () => (await drawn("Calls and errors of desk.Desk/Add")) >= 2);
    await until("its latencies over time", async () => (await drawn("Average latencies of desk.Desk/Add")) >= 1);
    assert.deepEqual(page.errors, []);
    channel.close();
  });

  test("raw JSON is called, moves into the form, and says where it does not fit", async () => {
    const page = await console_();
    await go(page, "desk.Desk/Add");
    await act(page, `button("JSON").click(); type(document.querySelector("textarea.code"), '{"a": "40", "b": 2}'); button("Call").click();`);
    await ended(page, "OK");
    assert.equal(await see(page, "JSON.parse(log()[0]).total"), "42");
    await act(page, `button("Form").click();`);
    assert.equal(await see(page, `field("a").value`), "40");
    for (const [json, problem] of [['{"a": 1.5}', "a: 1.5 is not an integer"], ['{"c": 1}', "c: desk.Pair has no such field; it has: a, b"], ['{"a": 9007199254740993}', "a: an integer of this size is written as text, in quotes"]]) {
      await act(page, `button("JSON").click(); type(document.querySelector("textarea.code"), ${JSON.stringify(json)}); button("Call").click();`);
      assert.equal(await see(page, `shown(".problem")`), problem);
    }
  });

  test("streams of every kind send, receive, end and are cancelled", async () => {
    const page = await console_();
    await go(page, "desk.Desk/Chat");
    for (const text of ["one", "two"]) {
      await act(page, `type(field("value"), "${text}"); document.querySelector(".actions .primary").click();`);
      await until(text, () => see(page, `log().includes('{ "value": "re:${text}" }')`));
    }
    assert.equal(await see(page, `shown(".response .badge")`), "in progress");
    await act(page, `button("End").click();`);
    await ended(page, "OK");
    await act(page, `button("Open").click(); button("Cancel").click();`);
    await ended(page, "CANCELLED 1");
    await go(page, "desk.Desk/Count");
    await act(page, `type(field("from"), "5"); type(field("count"), "3"); button("Call").click();`);
    await ended(page, "OK");
    assert.deepEqual(await see(page, "log().slice(-3)"), ['{ "value": "5" }', '{ "value": "6" }', '{ "value": "7" }']);
    await go(page, "desk.Desk/Total");
    await act(page, `type(field("value"), "20"); button("Open and send").click(); button("Send").click(); button("End").click();`);
    await ended(page, "OK");
    assert.deepEqual(await see(page, "log().slice(-1)"), ['{ "total": "40", "count": 2 }']);
    assert.deepEqual(page.errors, []);
  });

  test("an error shows its code, text and details, and a deadline and metadata go with the call", async () => {
    const page = await console_();
    await go(page, "desk.Desk/Fail");
    await act(page, `type(field("code"), "5"); type(field("text"), "no <i>such</i> thing"); button("Call").click();`);
    await ended(page, "NOT_FOUND 5");
    assert.match(await see(page, `shown(".failure")`), /^no <i>such<\/i> thingDetails, 5 bytesbytes$/);
    await go(page, "desk.Desk/Wait");
    await act(page, `type(field("millis"), "60000"); type(field("deadline"), "50"); button("Call").click();`);
    await ended(page, "DEADLINE_EXCEEDED 4");
    await go(page, "desk.Desk/Blob");
    await act(page, `
      button("Add").click();
      const [key, value] = all(".metadata input");
      type(key, "sent"); type(value, "t-1");
      button("Call").click();`);
    await ended(page, "OK");
    assert.match(await see(page, `shown(".response .pairs")`), /^gott-1$/);
  });

  test("a call is copied as a command that a shell takes, and as code", async () => {
    const page = await console_();
    await go(page, "desk.Desk/Add");
    await act(page, `type(field("a"), "3"); type(field("b"), "4"); type(field("deadline"), "2000"); button("Copy as").click();`);
    const copied = async (name: string): Promise<string> => {
      await act(page, `button(${JSON.stringify(name)}).click();`);
      return see(page, `shown(".commands pre")`);
    };
    const curl = await copied("curl");
    assert.equal(execFileSync("sh", ["-c", `${curl} 2>/dev/null`], { encoding: "utf8" }), '{"total":"7","count":2}');
    assert.match(await copied("frpc"), /^frpc call --server 127\.0\.0\.1:\d+ \\\n {2}desk\.Desk\/Add \\\n {2}'\{"a":"3","b":"4"\}' \\\n {2}--deadline 2000ms$/);
    assert.match(await copied("Rust"), /Pair \{ a: 3, b: 4 \}/);
    assert.match(await copied("TypeScript"), /client\.add\(\{ a: 3n, b: 4n \}, \{ timeout: 2000 \}\)/);
    // Stream messages are sent in envelopes. The shell must not interpret the quotes in them.
    await go(page, "desk.Desk/Echo");
    await act(page, `type(field("s"), "it's $(touch x) \\\\"); button("Copy as").click();`);
    assert.equal((JSON.parse(execFileSync("sh", ["-c", `${await copied("curl")} 2>/dev/null`], { encoding: "utf8" })) as { s: string }).s, "it's $(touch x) \\");
    await go(page, "desk.Desk/Total");
    await act(page, `type(field("value"), "21"); button("Copy as").click();`);
    assert.match(execFileSync("sh", ["-c", `${await copied("curl")} 2>/dev/null`], { encoding: "latin1" }), /\{"total":"21","count":1\}/);
  });

  test("topics are watched and published to", async () => {
    const page = await console_();
    await until("the broker", () => see(page, `!document.getElementById("to-topics").hidden`));
    await act(page, `location.hash = "#/topics";`);
    await until("the form", () => see(page, `shown("h1") === "Topics"`));
    await act(page, `type(field("Pattern"), "orders.*"); all(".inline button")[0].click();`);
    await until("the watch", () => see(page, `shown(".watches code") === "orders.*"`));
    await act(page, `type(field("Topic"), "orders.7"); type(field("Payload"), "<b>paid</b>"); all(".inline button")[1].click();`);
    await until("the message", () => see(page, `shown(".log") .includes("orders.7")`));
    assert.deepEqual(await see(page, "log()"), ["<b>paid</b>"]);
  });

  test("the keyboard finds a method, calls it and gives it up, and focus can be seen", async () => {
    const page = await console_();
    await page.toFront();
    await page.press("/");
    for (const letter of "wait") await page.press(letter);
    await until("the filter", () => see(page, `all("#services a").length === 1`));
    for (let tab = 0; tab < 9 && !(await see(page, `document.activeElement.hash === "#/desk.Desk/Wait"`)); tab++) await page.press("Tab");
    assert.notEqual(await see(page, `getComputedStyle(document.activeElement).outlineStyle`), "none");
    await page.press("Enter");
    await until("the method", () => see(page, `shown("h1") === "desk.Desk/Wait"`));
    await act(page, `type(field("millis"), "60000"); field("millis").focus();`);
    await page.press("Enter", true);
    await until("the call", () => see(page, `shown(".response .badge") === "in progress"`));
    await page.press("Escape");
    await ended(page, "CANCELLED 1");
  });

  test("the page fits narrow and wide windows, in light and dark", async () => {
    const page = await console_();
    await go(page, "desk.Desk/Echo");
    const backs = new Set<string>();
    for (const scheme of ["light", "dark"] as const) {
      for (const width of [360, 768, 1280, 1920]) {
        await page.look(scheme, width);
        assert.ok(await see(page, `document.documentElement.scrollWidth <= innerWidth && document.querySelector("main").scrollWidth <= innerWidth`), `${scheme}, ${width}`);
      }
      backs.add(await see(page, `getComputedStyle(document.documentElement).backgroundColor`));
    }
    assert.equal(backs.size, 2);
  });

  test("a schema whose names and comments are markup is shown as text", async () => {
    // The server's reflection reply is modified here. Each replacement has the length of the original.
    const replacements: readonly (readonly [string, string])[] = [
      ["desk.Desk", "<b>d</b>k"],
      ["Returns its argument.", "<img src=x onerror=x>"],
      ["names", "<a/b>"],
      ["COLOR_RED", "<s>r</s>d"],
    ];
    const tampering = createServer((request, response) => {
      const passed = ask({ port: server.port, path: request.url, headers: request.headers }, (answer: IncomingMessage) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      passed.end();
    });
    const sockets = new WebSocketServer({ server: tampering, handleProtocols: () => "frisbee.1" });
    sockets.on("connection", (socket) => {
      const inner = new WebSocket(`ws://127.0.0.1:${server.port}/`, "frisbee.1");
      const early: Buffer[] = [];
      inner.on("open", () => early.forEach((data) => inner.send(data)));
      socket.on("message", (data) => (inner.readyState === WebSocket.OPEN ? inner.send(data as Buffer) : early.push(data as Buffer)));
      inner.on("message", (data) => {
        let text = (data as Buffer).toString("latin1");
        for (const [original, replacement] of replacements) text = text.replaceAll(original, replacement);
        socket.send(Buffer.from(text, "latin1"));
      });
      inner.on("close", () => socket.close());
      socket.on("close", () => inner.close());
    });
    const port = await listening(tampering);
    const page = await console_(port);
    await act(page, `all("nav a").find((one) => one.textContent.startsWith("Echo")).click();`);
    await until("the form", () => see(page, `button("Example") !== undefined`));
    assert.equal(await see(page, `shown("h1")`), "<b>d</b>k/Echo");
    assert.equal(await see(page, `shown(".title .docs")`), "<img src=x onerror=x>");
    assert.ok(await see(page, `all("label, .name").some((one) => one.textContent === "<a/b>")`));
    await act(page, `button("Copy as").click();`);
    for (const name of ["curl", "frpc", "Rust", "TypeScript"]) {
      await act(page, `button("${name}").click();`);
      const text = await see<string>(page, `shown(".commands pre")`);
      // Shell commands quote the name. Code replaces such characters instead.
      assert.doesNotMatch(text, name === "Rust" || name === "TypeScript" ? /<b>d<\/b>k(?!")/ : /^[^']*<b>/, name);
    }
    assert.equal(await see(page, `all("main b, main img, main s, nav b, nav img").length`), 0);
    assert.deepEqual(page.errors, []);
    sockets.close();
    tampering.closeAllConnections();
    tampering.close();
  });

  test("neither the page nor its socket is for other origins, and a rebound name gets nothing", async () => {
    const rebound = await open(at(server.port, "rebound.example"));
    assert.match(await rebound.evaluate("document.body.textContent"), /host not allowed/);
    const otherServer = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>otherServer</title>");
    });
    const port = await listening(otherServer);
    const page = await open(`http://127.0.0.1:${port}/`);
    const socket = (host: string): string => `new Promise((done) => {
      const socket = new WebSocket("ws://${host}:${server.port}/", "frisbee.1");
      socket.onopen = () => done("open");
      socket.onclose = () => done("closed");
    })`;
    assert.equal(await page.evaluate(socket("127.0.0.1")), "closed");
    assert.equal(await page.evaluate(socket("localhost")), "closed");
    assert.equal(await rebound.evaluate(socket("rebound.example")), "closed");
    const read = `fetch("${at(server.port)}").then((response) => response.text(), String)`;
    assert.equal(await page.evaluate(read), "TypeError: Failed to fetch");
    const framed = `new Promise((done) => {
      const frame = document.createElement("iframe");
      frame.src = "${at(server.port)}";
      frame.onload = () => { try { done(frame.contentDocument ? "read" : "opaque"); } catch { done("opaque"); } };
      document.body.append(frame);
    })`;
    assert.equal(await page.evaluate(framed), "opaque");
    const own = await console_();
    assert.equal(await own.evaluate(socket("127.0.0.1")), "open", "the page itself is let in");
    otherServer.closeAllConnections();
    otherServer.close();
  });

  test("a server that starts again is found, and its schema with it", async () => {
    const first = await desk(undefined, "--console");
    const page = await console_(first.port);
    await first.stop();
    await until("the loss", () => see(page, `shown("#state") === "connection lost" || shown("#state") === "connecting"`));
    const second = await desk(first.address, "--console");
    await until("the connection", () => see(page, `shown("#state") === "connected"`));
    await go(page, "desk.Desk/Add");
    await act(page, `button("Call").click();`);
    await ended(page, "OK");
    await second.stop();
  });
}
