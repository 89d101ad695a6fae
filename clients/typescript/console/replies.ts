/** Shows the result of a call: its status, metadata and messages. */

import { Code } from "frisbee-rpc";
import { copyButton, fill, h, highlighted } from "./dom.js";
import { asText, toHex } from "./json.js";
import { metadataList } from "./metadata.js";
import { ms } from "./record.js";
import type { Run, LoggedMessage } from "./run.js";
import { codeName } from "./server.js";

/** Maximum number of characters of a message that are displayed. Copying always copies the whole message. */
const SHOWN_MAX = 100_000;
/** Maximum length of a message that is shown in one line. */
const LINE_MAX = 90;

/** Fills an element with the state of a call. Returns a function that updates it. */
export function reply(output: HTMLElement, run: Run): () => void {
  const head = h("div", { className: "status", role: "status" });
  const more = h("div", {});
  const log = h("ol", { className: "log", "aria-label": "Messages" });
  const { method } = run;
  const isStream = method.sends || method.receives;
  if (!isStream) log.classList.add("one");
  let drawn = 0;
  fill(output, head, more, log);
  return () => {
    fill(head, ...status(run));
    fill(more, run.isOver && run.status && details(run), run.metadata && Object.keys(run.metadata).length > 0 && h("div", { className: "block" }, h("h3", {}, "Metadata"), metadataList(run.metadata)));
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
    const from = Math.max(0, drawn - run.dropped);
    const keep = run.messages.length - from;
    // Removes the elements of replies that are no longer kept.
    while (log.childElementCount > 0 && log.childElementCount + keep > run.messages.length) log.firstElementChild?.remove();
    for (const logged of run.messages.slice(from)) if (isStream || !logged.isSent) log.append(message(logged, isStream));
    drawn = run.dropped + run.messages.length;
    if (atEnd) log.scrollTop = log.scrollHeight;
  };
}

function status(run: Run): (Node | string | false)[] {
  const { sent, received, method } = run;
  const counts = [method.sends && `${sent} sent`, (method.sends || method.receives) && `${received} received`, run.waiting > 0 && method.sends && `${run.waiting} waiting`, run.dropped > 0 && `${run.dropped} not kept`];
  const summary = counts.filter((text): text is string => Boolean(text)).join(", ");
  if (!run.isOver) return [h("span", { className: "badge busy" }, "in progress"), h("span", { className: "muted" }, summary)];
  const code = run.status?.code ?? 0;
  return [
    h("span", { className: code === 0 ? "badge ok" : "badge failed" }, `${codeName(code)}${code === 0 ? "" : ` ${code}`}`),
    h("span", { className: "muted" }, ms(run.took), summary && `, ${summary}`),
  ];
}

/** Returns whether a status with this code usually comes from a handler, so that the handler has run. */
function isAnswer(code: Code): boolean {
  return code !== Code.CANCELLED && code !== Code.DEADLINE_EXCEEDED && code !== Code.UNAVAILABLE;
}

function details({ status }: Run): HTMLElement {
  const bytes = status?.details ?? new Uint8Array();
  return h("div", { className: "block failure" },
    h("p", {}, status?.message ?? ""),
    status && !(status.mayHaveRun && isAnswer(status.code)) &&
      h("p", { className: "muted" }, status.mayHaveRun ? "It may have run." : "It has not run."),
    bytes.length > 0 && h("h3", {}, `Details, ${bytes.length} bytes`),
    bytes.length > 0 && h("pre", { className: "code" }, asText(bytes) ?? toHex(bytes.subarray(0, 4096))),
    status && Object.keys(status.metadata).length > 0 && h("h3", {}, "Metadata"),
    status && Object.keys(status.metadata).length > 0 && metadataList(status.metadata));
}

/** Formats a short message in one line, because a stream shows many messages. */
function short(json: string): string {
  // Strings in JSON contain no unescaped line breaks.
  const line = json.replace(/\n\s*/g, " ");
  return line.length <= LINE_MAX ? line : json;
}

function message(logged: LoggedMessage, isStream: boolean): HTMLElement {
  const json = isStream ? short(logged.json) : logged.json;
  const code = h("pre", { className: "code", tabIndex: 0 }, highlighted(json.slice(0, SHOWN_MAX)), json.length > SHOWN_MAX && `\n… ${json.length - SHOWN_MAX} characters more`);
  return h("li", { className: logged.isSent ? "sent" : "received" },
    h("div", { className: "bar" }, h("span", { className: "muted" }, isStream && `${logged.isSent ? "↑" : "↓"} ${logged.number}`, isStream && ` · ${ms(logged.at)}`), h("span", { className: "grow" }), copyButton(() => json)),
    code);
}
