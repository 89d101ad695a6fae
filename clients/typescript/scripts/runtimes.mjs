// Finds the runtimes that `npm install --prefix runtimes` installs. They are packages that contain a program for this
// platform.
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../runtimes/node_modules/", import.meta.url));
const below = (folder) => (existsSync(modules + folder) ? readdirSync(modules + folder) : []);

/** Paths of the programs of other versions of Node. */
export const nodes = () => below("").filter((name) => name.startsWith("node-")).map((name) => `${modules}${name}/bin/node`);
