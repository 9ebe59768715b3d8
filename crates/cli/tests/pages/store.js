// A store of 200 runs, made in seconds: simulated disks, imported documents, names that want to
// be markup; and a program that serves it.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const here = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const documents = join(here, "../../../report/tests/documents");
const program = process.env.DISKFACTS ?? join(here, "../../../../target/debug/diskfacts");

/** How many runs the store has. */
export const RUNS = 200;

/** What a page must show as text, and never take for markup. */
export const HOSTILE = [
  `"><img src=x onerror=alert(1)>`,
  `</title><script>alert(2)</script>`,
  `javascript:alert(3)//'"<!--`,
];

/** A folder for a store and what else a test makes; removed at the end. */
export class Store {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "diskfacts-test-pages-"));
    this.path = join(this.folder, "runs.db");
  }

  command(...args) {
    const env = { ...process.env, HOME: this.folder, XDG_DATA_HOME: this.folder };
    return [program, [...args, "--store", this.path], { env, cwd: this.folder, encoding: "utf8" }];
  }

  /** Runs the program to its end; what it printed. */
  run(...args) {
    const [file, words, options] = this.command(...args);
    return execFileSync(file, words, { ...options, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
  }

  /** The runs as `diskfacts runs --json` has them, latest first. */
  runs() {
    return JSON.parse(this.run("runs", "--json", "--limit", "100000")).runs;
  }

  /** Makes the runs; the ids of those that show something of their own, by what that is. */
  fill() {
    const last = () => this.runs()[0].id;
    const kinds = {};
    const measure = (kind, ...args) => {
      this.run("measure", "--quiet", ...args);
      kinds[kind] = last();
    };
    measure("survey", "sim:hdd-7200-1tb", "--seed", "1", "--name", "before");
    measure("again", "sim:hdd-7200-1tb", "--seed", "2", "--name", "after");
    measure("flash", "sim:nvme-datacenter", "--seed", "3", "--tag", "nightly", "--tag", "ci");
    measure("matrix", "sim:ssd-sata", "--plan", "write-matrix", "--trials", "1", "--time", "60s");
    measure("zones", "sim:hdd-7200-1tb", "--plan", "zones");
    for (const [place, text] of HOSTILE.entries()) {
      const name = `hostile-${place}`;
      measure(name, "sim:ssd-sata", "--stage", "random-read-qd1", "--trials", "2");
      this.run("runs", "note", kinds[name], text);
      const folder = join(this.folder, text.replaceAll("/", "\u2215"));
      mkdirSync(folder);
      writeFileSync(join(folder, "x.txt"), dd(place + 1));
      this.run("import", join(folder, "x.txt"));
      kinds[`imported-${name}`] = last();
    }
    const seeds = ["000_406dd5c1dd98a7d4", "002_216efc4d5ed1186a", "004_260ad3a749590942"];
    for (const [place, seed] of seeds.entries()) {
      this.run("import", join(documents, `${seed}.txt`));
      kinds[`seed-${place}`] = last();
    }
    // The rest are copies by dd, each a little slower.
    const missing = RUNS - this.runs().length;
    const files = Array.from({ length: missing }, (_, place) => {
      const file = join(this.folder, `dd-${place}.txt`);
      writeFileSync(file, dd(10 + place / 100));
      return file;
    });
    this.run("import", ...files);
    kinds.copy = last();
    return kinds;
  }

  /** Serves it; the address of its first page. */
  async serve() {
    const [file, words, options] = this.command("serve");
    this.server = spawn(file, words, { ...options, stdio: ["ignore", "pipe", "inherit"] });
    this.server.stdout.setEncoding("utf8");
    let said = "";
    for await (const piece of this.server.stdout) {
      said += piece;
      if (said.includes("\n")) return said.trim();
    }
    throw new Error(`diskfacts serve ended: ${said}`);
  }

  /** Begins a measurement that goes on until it is ended. */
  measure(...args) {
    const [file, words, options] = this.command("measure", "--quiet", ...args);
    return spawn(file, words, { ...options, stdio: "ignore" });
  }

  /** Ends the server, waits for its end, and removes everything; how it ended. */
  async end() {
    let code = 0;
    if (this.server?.exitCode === null) {
      const ended = new Promise((resolve) => this.server.once("exit", resolve));
      this.server.kill("SIGINT");
      code = await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
    return code;
  }
}

/** What GNU dd prints of a copy that took so long. */
function dd(seconds) {
  const rate = (104857600 / seconds / 1e6).toFixed(1);
  return `100+0 records in\n100+0 records out\n104857600 bytes (105 MB, 100 MiB) copied, ${seconds} s, ${rate} MB/s\n`;
}
