/** Controls a headless Chromium by the DevTools protocol. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after } from "node:test";
import { WebSocket } from "ws";
import { started } from "../desk.js";

/** Names of the browser's program in common distributions. */
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];

export interface Page {
  /** Evaluates an expression in the page and returns its value. If the value is a promise, waits for it. */
  evaluate<T>(expression: string): Promise<T>;
  toFront(): Promise<void>;
  /** Takes the page offline or online again. */
  offline(isOffline: boolean): Promise<void>;
  close(): Promise<void>;
  /** Errors that the page and the browser have reported. */
  readonly errors: readonly string[];
  /** Presses a key, such as `Enter` or `/`, optionally with Control. */
  press(key: string, control?: boolean): Promise<void>;
  /** Sets the dark or light color scheme and the window size. */
  look(scheme: "light" | "dark", width: number, height?: number): Promise<void>;
  /** Takes a screenshot as PNG. */
  picture(): Promise<Uint8Array>;
}

interface Answer {
  readonly id?: number;
  /** Present in events, which have no id. */
  readonly method?: string;
  readonly sessionId?: string;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
  readonly params?: { readonly entry?: { readonly level: string; readonly text: string; readonly url?: string }; readonly type?: string; readonly exceptionDetails?: unknown };
}

/** Returns the error that an event reports, if any. */
function errorOf({ method, params }: Answer): string | undefined {
  if (method === "Runtime.exceptionThrown") return JSON.stringify(params?.exceptionDetails);
  if (method === "Runtime.consoleAPICalled" && (params?.type === "error" || params?.type === "warning")) return JSON.stringify(params);
  const entry = method === "Log.entryAdded" ? params?.entry : undefined;
  return entry && (entry.level === "error" || entry.level === "warning") ? `${entry.text} ${entry.url ?? ""}` : undefined;
}

/** Starts a browser that is closed at the end of the test program. Returns `undefined` if no browser is installed. */
export async function chromium(profile: string, flags: readonly string[]): Promise<((url: string) => Promise<Page>) | undefined> {
  for (const program of process.env["FRISBEE_CHROMIUM"] ? [process.env["FRISBEE_CHROMIUM"]] : PROGRAMS) {
    const child = spawn(
      program,
      ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-port=0", `--user-data-dir=${profile}`, ...flags, "about:blank"],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    if (!(await started(child))) continue;
    after(async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    });
    for await (const line of createInterface({ input: child.stderr })) {
      const url = /DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (url) {
        child.stderr.resume();
        return open(url);
      }
    }
    throw new Error("Chromium ended before it listened");
  }
  return undefined;
}

async function open(url: string): Promise<(url: string) => Promise<Page>> {
  const socket = new WebSocket(url, { maxPayload: 64 << 20 });
  await once(socket, "open");
  after(() => socket.terminate());
  const waiting = new Map<number, (answer: Answer) => void>();
  const loading = new Map<string, () => void>();
  const errors = new Map<string, string[]>();
  let last = 0;
  socket.on("message", (data) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    const error = errorOf(answer);
    if (error) errors.get(answer.sessionId ?? "")?.push(error);
    if (answer.method === "Page.loadEventFired") loading.get(answer.sessionId ?? "")?.();
  });
  const call = <T>(method: string, params: object, sessionId?: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, ({ result, error }) => {
        waiting.delete(id);
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result as T);
      });
      socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  return async (url) => {
    const { targetId } = await call<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await call<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
    // Resolves as soon as the page has replaced the blank page.
    await call("Page.navigate", { url }, sessionId);
    const evaluate = async <T>(expression: string): Promise<T> => {
      const { result, exceptionDetails } = await call<{ result: { value: T }; exceptionDetails?: { exception?: { description?: string } } }>(
        "Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId,
      );
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "it failed in the page");
      return result.value;
    };
    const pageErrors: string[] = [];
    errors.set(sessionId, pageErrors);
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await call(`${domain}.enable`, {}, sessionId);
    const load = (): Promise<void> => new Promise((resolve) => loading.set(sessionId, resolve));
    let loaded = load();
    await call("Page.navigate", { url }, sessionId);
    // The page is ready when its script has run. The address is compared, because the blank page also reports that it
    // has loaded.
    while (!(await evaluate<boolean>(`location.href === ${JSON.stringify(url)} && document.readyState === "complete"`))) {
      await loaded;
      loaded = load();
    }
    const press = async (key: string, control = false): Promise<void> => {
      const text = key === "Enter" ? "\r" : key.length === 1 && !control ? key : "";
      const code = key === "Enter" ? 13 : key === "Escape" ? 27 : key === "Tab" ? 9 : key === "ArrowDown" ? 40 : key.toUpperCase().charCodeAt(0);
      const event = { key, modifiers: control ? 2 : 0, windowsVirtualKeyCode: code };
      await call("Input.dispatchKeyEvent", { ...event, type: "keyDown", text }, sessionId);
      await call("Input.dispatchKeyEvent", { ...event, type: "keyUp" }, sessionId);
    };
    const look = async (value: "light" | "dark", width: number, height = 800): Promise<void> => {
      await call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] }, sessionId);
      await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false }, sessionId);
    };
    const picture = async (): Promise<Uint8Array> =>
      Buffer.from((await call<{ data: string }>("Page.captureScreenshot", { format: "png" }, sessionId)).data, "base64");
    const offline = (isOffline: boolean): Promise<void> =>
      call("Network.emulateNetworkConditions", { offline: isOffline, latency: 0, downloadThroughput: -1, uploadThroughput: -1 }, sessionId);
    return { evaluate, offline, press, look, picture, errors: pageErrors, toFront: () => call("Target.activateTarget", { targetId }), close: () => call("Target.closeTarget", { targetId }) };
  };
}
