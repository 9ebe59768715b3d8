// Every page of a store of 200 runs, in Chromium: whole, quiet, readable, reached by keys alone.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Tab, launch } from "./look.js";
import { HOSTILE, RUNS, Store } from "./store.js";

const store = new Store();
let kinds;
let browser;
let root;

before(async () => {
  kinds = store.fill();
  [root, browser] = await Promise.all([store.serve(), launch()]);
});

after(async () => {
  await browser?.close();
  await store.end();
});

/** A tab that may ask nobody but the server. */
const tab = (options) => Tab.open(browser, { only: root, ...options });

test("the page of every run is whole, and says nothing in the console", async () => {
  const ids = store.runs().map((run) => run.id);
  assert.equal(ids.length, RUNS);
  // Two at once: as many as the server makes.
  const visit = async () => {
    const one = await tab();
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) await one.visit(`${root}run/${id}`);
    await one.close();
  };
  await Promise.all([visit(), visit()]);
});

test("each kind of page has names, contrast and order in both schemes, and fits a phone", async () => {
  const pages = {
    runs: "",
    narrowed: "?plan=survey&since=1d",
    "narrowed-wrongly": "?since=yesterday",
    later: "?page=2",
    compare: `compare?a=${kinds.survey}&b=${kinds.again}`,
    "compare-matrix": `compare?a=${kinds.matrix}&b=${kinds.survey}`,
    claim: `run/${kinds.survey}/claim/a`,
    trends: "trends?plan=survey",
    live: "live",
    ...Object.fromEntries(Object.entries(kinds).map(([kind, id]) => [kind, `run/${id}`])),
  };
  const queue = Object.entries(pages);
  const wrong = [];
  const look = async () => {
    const one = await tab();
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const [name, path] = next;
      await one.visit(root + path);
      wrong.push(...(await one.examine(name)));
    }
    await one.close();
  };
  await Promise.all([look(), look()]);
  assert.deepEqual(wrong, []);
});

test("what is missing is a page that says so, with the way back", async () => {
  const one = await tab();
  for (const [path, status] of [
    ["nothing", 404],
    ["run/no-such-run", 404],
    [`run/${kinds.survey}/claim/zzz`, 404],
    ["run/..%5C..%5Cetc%5Cpasswd", 404],
    ["compare", 400],
    ["?page=0", 400],
  ]) {
    await one.visit(root + path, status);
    assert.deepEqual(await one.violations(), [], path);
    await one.page.getByRole("link", { name: "Runs" }).click();
    await one.page.waitForURL(root);
  }
  await one.close();
});

test("text from outside stays text on every page", async () => {
  const one = await tab();
  for (const [place, text] of HOSTILE.entries()) {
    await one.visit(`${root}run/${kinds[`hostile-${place}`]}`);
    assert.ok((await one.page.textContent("main")).includes(text), text);
    await one.visit(`${root}run/${kinds[`imported-hostile-${place}`]}`);
    await one.visit(`${root}?target=${encodeURIComponent(text)}&name=${encodeURIComponent(text)}`);
    assert.equal(await one.page.inputValue("input[name=target]"), text);
    assert.equal(await one.page.locator("main img, main script").count(), 0);
  }
  await one.close();
});

test("Tab reaches everything, and what has the focus is seen", async () => {
  const one = await tab();
  for (const path of ["?plan=survey", `run/${kinds.survey}`, `compare?a=${kinds.survey}&b=${kinds.again}`, "live"]) {
    await one.visit(root + path);
    await one.tabs();
  }
  await one.close();
});

test("two runs are found, chosen and compared, and a claim is read, by keys alone", async () => {
  const one = await tab();
  const { page } = one;
  const { keyboard } = page;
  const focus = async (what) => {
    for (let step = 0; step < 200; step++) {
      await keyboard.press("Tab");
      if (await page.evaluate((what) => document.activeElement?.matches(what), what)) return;
    }
    assert.fail(`Tab does not lead to ${what} at ${page.url()}`);
  };
  await one.visit(root);
  await focus("input[name=plan]");
  await keyboard.type("survey");
  await focus("input[name=target]");
  await keyboard.type("sim:hdd-7200-1tb");
  await Promise.all([page.waitForURL(/plan=survey/), keyboard.press("Enter")]);
  // Latest first: the second is A, the first B.
  await focus("input[name=a]");
  await keyboard.press("ArrowDown");
  await focus("input[name=b]");
  await keyboard.press("ArrowUp");
  await Promise.all([page.waitForURL(/compare/), keyboard.press("Enter")]);
  const url = new URL(page.url());
  assert.deepEqual(["a", "b"].map((side) => url.searchParams.get(side)), [kinds.survey, kinds.again]);
  await one.visit(`${root}run/${kinds.survey}`);
  await focus("main a[href*='/claim/']");
  await Promise.all([page.waitForURL(/claim/), keyboard.press("Enter")]);
  assert.deepEqual(one.wrong, []);
  await one.close();
});

test("reports are whole as files: no script, nothing asked, readable in both schemes and on a phone", async () => {
  const one = await tab({ only: "file:" });
  const wrong = [];
  const reports = {
    "report-of-a-run": [kinds.survey],
    "report-of-two": [kinds.survey, kinds.again],
    "report-of-a-matrix": [kinds.matrix],
    "report-of-hostile-text": [kinds["hostile-1"], kinds["imported-hostile-0"]],
    "report-of-a-document": [kinds["seed-0"]],
    "report-of-a-comparison": [kinds.survey, kinds.again, "--compare"],
    "report-of-trends": ["--since", "1d"],
  };
  for (const [name, words] of Object.entries(reports)) {
    const file = join(store.folder, `${name}.html`);
    store.run("report", ...words, "-o", file);
    await one.visit(`file://${file}`);
    assert.equal(await one.page.locator("script, link[href], img").count(), 0, name);
    wrong.push(...(await one.examine(name)));
  }
  assert.deepEqual(wrong, []);
  await one.close();
});

test("all of it can be read without scripts", async () => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  for (const path of ["", `run/${kinds.survey}`, "live"]) await page.goto(root + path);
  assert.match(await page.textContent("main"), /reload the page/);
  await context.close();
});

test("what is measured is seen while it is, and its end too, without a reload", async () => {
  const one = await tab();
  const { page } = one;
  await one.visit(`${root}live`);
  const loaded = await page.evaluate(() => { globalThis.loaded = true; return true; });
  assert.ok(loaded);
  const disk = join(store.folder, "measured");
  const { mkdirSync } = await import("node:fs");
  mkdirSync(disk);
  const running = store.measure(disk, "--size", "16MiB", "--time", "10m", "--stage", "random-read-qd1", "--trials", "100");
  const ended = new Promise((resolve) => running.once("exit", resolve));
  try {
    const section = page.locator("#live section").first();
    await section.waitFor();
    // A trial is stored, then another.
    for (const trials of [/[1-9]\d* trials? stored/, /([2-9]|[1-9]\d+) trials stored/]) {
      await page.waitForFunction(([source]) => new RegExp(source).test(document.querySelector("#live").textContent), [trials.source]);
    }
    assert.deepEqual(await one.violations(), []);
    await one.picture("live-running");
  } finally {
    running.kill("SIGINT");
    await ended;
  }
  await page.getByText("Nothing is measured at this moment").waitFor();
  assert.ok(await page.evaluate(() => globalThis.loaded), "it was loaded anew");
  assert.deepEqual(one.wrong, []);
  await one.close();
});
