// wasi.mjs PROGRAM FOLDER: runs a program for WASI in node, with that folder as its one folder, /data.
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const [program, folder] = process.argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, "/data"], preopens: { "/data": folder }, returnOnExit: true });
const module = await WebAssembly.compile(readFileSync(program));
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
process.exit(wasi.start(instance) ?? 0);
