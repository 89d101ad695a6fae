/** Lists the calls made by the page, most recent first. */

import { h } from "./dom.js";
import { clock, ms, type Recorded } from "./record.js";
import { codeName } from "./server.js";

/** Maximum number of listed calls. */
const LISTED_MAX = 50;

export function historyList(records: readonly Recorded[], open: (record: Recorded) => void, isOfOne: boolean): HTMLElement {
  const rows = records.slice(-LISTED_MAX).reverse().map((record) => h("li", {}, h("button", { type: "button", className: "history", title: "Restore the request", onclick: () => open(record) },
    h("span", { className: "muted" }, clock(record.beganAt)),
    h("span", { className: record.code === 0 ? "badge ok" : "badge failed" }, codeName(record.code)),
    !isOfOne && h("span", { className: "path" }, record.path),
    h("span", { className: "muted shortened" }, (record.request ?? "").replace(/\s+/g, " ").slice(0, 160)),
    h("span", { className: "time" }, ms(record.took)))));
  return rows.length > 0 ? h("ol", { className: "histories" }, ...rows) : h("p", { className: "empty" }, "No calls yet.");
}
