/** Main script of the page. Selects the displayed view, lists the services and handles keys. */

import { byId, fill, h } from "./dom.js";
import { historyList } from "./history.js";
import { MethodView, kindOf } from "./method.js";
import { Overview } from "./overview.js";
import { Records, type Recorded } from "./record.js";
import { Server, pathOf, type Catalog, type MethodInfo } from "./server.js";
import { TopicsView } from "./topics.js";

const KEYS: readonly (readonly [string, string])[] = [
  ["/", "filter the methods"],
  ["↑ ↓", "move through the list"],
  ["Ctrl ↵", "call, or send a message"],
  ["Ctrl ⇧ ↵", "end the stream"],
  ["Esc", "cancel the call"],
  ["?", "show the keys"],
];

const [nav, main, state, filter, help] = [byId("services"), byId("main"), byId("state"), byId("filter") as HTMLInputElement, byId("keys") as HTMLDialogElement];
const server = new Server(`${location.origin.replace(/^http/, "ws")}/`, () => wireChanged());
const records = new Records();
const views = new Map<string, MethodView>();
const topics = new TopicsView(server);
let catalog: Catalog | undefined;
let failure = "";
let hasBroker = false;
let shown: MethodView | undefined;
let loads = 0;

const overview = new Overview(server, records, () => catalog, (record) => open(record), () => void load(true));

/** Requests the server's schema, initially and after each reconnect. */
async function load(isReload: boolean): Promise<void> {
  const load = ++loads;
  const before = isReload ? undefined : catalog;
  try {
    const fresh = await server.catalog(before);
    if (load !== loads) return;
    failure = "";
    if (fresh) {
      catalog = fresh;
      // Discards requests that were edited but not sent, because their messages may have changed. Views with calls in
      // progress are kept.
      for (const [path, view] of views) if (!view.isBusy) views.delete(path);
      topics.know(fresh);
    }
  } catch (error) {
    if (load !== loads) return;
    failure = (error as Error).message;
  }
  list();
  route();
  hasBroker = await server.hasBroker();
  byId("to-topics").hidden = !hasBroker;
}

function wireChanged(): void {
  state.textContent = server.wire === "open" ? "connected" : server.wire === "lost" ? "connection lost" : "connecting";
  state.className = `state ${server.wire}`;
  // Deferred, because packets of this task would otherwise be sent before those of callers that wait for the
  // connection.
  if (server.wire === "open") setTimeout(() => void load(false));
}

/** Lists the services. */
function list(): void {
  const wanted = filter.value.trim().toLowerCase().split(/\s+/);
  const fits = (method: MethodInfo): boolean => wanted.every((part) => pathOf(method).toLowerCase().includes(part));
  const current = decodeURIComponent(location.hash.slice(2));
  const sections = (catalog?.services ?? []).map((service) => ({ service, methods: service.methods.filter(fits) })).filter(({ methods }) => methods.length > 0);
  // Services about the server itself are listed after the user's services.
  const isOwn = (name: string): boolean => /^(frpc|grpc)\./.test(name);
  sections.sort((a, b) => Number(isOwn(a.service.name)) - Number(isOwn(b.service.name)));
  fill(nav, ...sections.map(({ service, methods }) => {
    const open = h("details", { open: !isOwn(service.name) || filter.value !== "" || current.startsWith(`${service.name}/`) },
      h("summary", { title: service.docs }, h("span", {}, service.name.includes(".") && h("span", { className: "of" }, service.name.slice(0, service.name.lastIndexOf("."))), service.name.slice(service.name.lastIndexOf(".") + 1))),
      h("ul", {}, ...methods.map((method) => {
        const path = pathOf(method);
        const kind = kindOf(method);
        const link = h("a", { href: `#/${encodeURI(path)}`, title: method.docs, className: method.isDeprecated ? "deprecated" : "" }, method.name, h("span", { className: "sign", title: kind.name, "aria-label": kind.name, role: "img" }, kind.sign));
        if (path === current) link.setAttribute("aria-current", "page");
        return h("li", {}, link);
      })));
    return open;
  }));
  if (sections.length === 0) fill(nav, h("p", { className: "empty" }, catalog ? "No matching methods." : failure ? "No services." : "Loading the services…"));
}

/** Shows the view that the address of the page selects. */
function route(): void {
  const path = decodeURIComponent(location.hash.slice(2));
  for (const link of document.querySelectorAll<HTMLAnchorElement>("nav a")) {
    if (decodeURIComponent(link.hash.slice(2)) === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.body.classList.remove("listing");
  shown = undefined;
  const method = catalog?.services.flatMap((service) => service.methods).find((one) => pathOf(one) === path);
  document.title = method ? `${method.name} · frpc console` : `${location.host} · frpc console`;
  if (path === "topics") fill(main, topics.element);
  else if (method && catalog) {
    shown = views.get(path) ?? new MethodView(server, catalog, method, records);
    views.set(path, shown);
    fill(main, shown.element, history(path));
  } else {
    const noSuch = path && catalog ? `The server has no method ${path}.` : "";
    fill(main, failure && problem(), noSuch && h("p", { className: "notice" }, noSuch), overview.element);
    overview.draw();
  }
}

function problem(): HTMLElement {
  return h("div", { className: "notice" }, h("p", {}, `The schema of the server could not be loaded: ${failure}.`),
    h("p", { className: "muted" }, "The console needs a server with Reflection::new() of frpc-reflection. If its middleware requires metadata, such as a token, enter it below and try again."));
}

/** Returns the list of calls of a method, which is shown below the view of the method. */
function history(path: string): HTMLElement {
  const inside = h("div", {});
  const draw = (): void => fill(inside, historyList(records.all.filter((record) => record.path === path), open, true));
  draw();
  redraw = draw;
  return h("section", { className: "past" }, h("h2", {}, "History"), inside);
}

let redraw: () => void = () => {};
records.listen(() => {
  redraw();
  overview.draw();
});

/** Opens the view of the method of an earlier call, and fills in the request. */
function open(record: Recorded): void {
  if (location.hash === `#/${encodeURI(record.path)}`) shown?.restore(record);
  else {
    location.hash = `#/${encodeURI(record.path)}`;
    addEventListener("hashchange", () => shown?.restore(record), { once: true });
  }
}

/** Moves the focus up or down the list of services. */
function step(by: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("nav a, nav summary")].filter((link) => link.offsetParent !== null);
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.max(0, Math.min(links.length - 1, at + by))]?.focus();
}

addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  const isTyping = target.matches("input, textarea, select");
  const hold = event.ctrlKey || event.metaKey;
  if (event.key === "Enter" && hold) {
    if (event.shiftKey) shown?.end();
    else shown?.send();
  } else if (event.key === "Escape" && !help.open) {
    if (!shown?.cancel()) return;
  } else if (event.key === "/" && !isTyping) filter.focus();
  else if (event.key === "?" && !isTyping) help.showModal();
  else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && target.closest("nav") && !target.matches("select")) step(event.key === "ArrowDown" ? 1 : -1);
  else return;
  event.preventDefault();
});
addEventListener("hashchange", route);
filter.addEventListener("input", list);
byId("menu").addEventListener("click", () => {
  document.body.classList.toggle("listing");
  if (document.body.classList.contains("listing")) filter.focus();
});
byId("help").addEventListener("click", () => help.showModal());
fill(byId("key-list"), ...KEYS.flatMap(([key, meaning]) => [h("dt", {}, ...key.split(" ").map((one) => h("kbd", {}, one))), h("dd", {}, meaning)]));
list();
route();
