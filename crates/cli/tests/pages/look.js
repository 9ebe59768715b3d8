// Pages in a real Chromium, and what must hold of each of them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The narrowest screen that pages are made for, CSS pixels. */
const NARROW = 360;

/** A browser; root may not use the sandbox of Chromium, and opens nothing but our own pages. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
  });
}

/** A tab that remembers what went wrong in it. */
export class Tab {
  static async open(browser, { width = 1280, colorScheme = "light", only = "" } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
    // A busy machine is slow, and no page is wrong for it.
    context.setDefaultTimeout(180_000);
    const tab = new Tab();
    tab.context = context;
    tab.page = await context.newPage();
    tab.only = only;
    tab.watch();
    return tab;
  }

  watch() {
    this.wrong = [];
    const { page } = this;
    page.on("console", (message) => {
      // A violation of the Content-Security-Policy is told here, too.
      if (["error", "warning"].includes(message.type())) this.wrong.push(`console: ${message.text()}`);
    });
    page.on("pageerror", (error) => this.wrong.push(`error: ${error}`));
    page.on("dialog", (dialog) => {
      this.wrong.push(`dialog: ${dialog.message()}`);
      return dialog.dismiss();
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(this.only) && !url.startsWith("data:")) this.wrong.push(`asked elsewhere: ${url}`);
    });
    page.on("requestfailed", (request) => {
      // A stream of events ends when its page is left.
      if (request.resourceType() !== "eventsource") {
        this.wrong.push(`failed: ${request.url()} ${request.failure()?.errorText}`);
      }
    });
  }

  /** Opens a page and holds that it is whole: nothing said in the console, nothing asked elsewhere. */
  async visit(url, status = 200) {
    this.wrong.length = 0;
    const response = await this.page.goto(url, { waitUntil: "load" });
    if (url.startsWith("http")) assert.equal(response.status(), status, url);
    // What is not there is said in the console, too, and is no mistake of its page.
    const known = (wrong) => status !== 200 && wrong.includes(`status of ${status}`);
    assert.deepEqual(this.wrong.filter((wrong) => !known(wrong)), [], url);
  }

  /** What axe finds wrong, by these rules or tags of rules: names, roles, contrast, order. */
  async violations(runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]) {
    await this.page.evaluate(axe);
    const { violations } = await this.page.evaluate((runOnly) => globalThis.axe.run(document, {
      resultTypes: ["violations"],
      runOnly,
    }), runOnly);
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.any[0]?.message ?? ""}`));
  }

  /** What reaches beyond the screen: nobody has to scroll sideways; wide things may, inside of themselves. */
  async tooWide() {
    return this.page.evaluate(() => {
      const width = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth <= width) return [];
      const inside = (one) => one.parentElement?.closest(".scroll, pre, svg") !== null;
      const wide = [...document.body.querySelectorAll("*")].filter((one) => !inside(one) && one.getBoundingClientRect().right > width);
      return [`${document.documentElement.scrollWidth} wide on a screen of ${width}: ${wide.at(-1)?.outerHTML.slice(0, 200)}`];
    });
  }

  /** Goes through the page with Tab: what is reached, in its order, each with an outline that is seen. */
  async tabs() {
    const wanted = await this.page.evaluate(() => {
      const all = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")];
      const groups = new Set();
      return all.filter((one) => {
        // Closed details hold what nobody sees.
        if (!one.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true })) return false;
        // Of radio buttons of one name Tab stops at one; arrows lead to the others.
        if (one.type !== "radio") return true;
        if (groups.has(one.name)) return false;
        groups.add(one.name);
        return true;
      }).length;
    });
    const reached = [];
    for (let step = 0; step < wanted; step++) {
      await this.page.keyboard.press("Tab");
      reached.push(await this.page.evaluate(() => {
        const one = document.activeElement;
        if (one === document.body || one === null) return null;
        const style = getComputedStyle(one);
        const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
        globalThis.reached ??= new Set();
        globalThis.reached.add(one);
        return { what: one.outerHTML.slice(0, 120), seen };
      }));
    }
    const missed = reached.findIndex((one) => one === null);
    assert.equal(missed, -1, `${this.page.url()}: Tab ends after ${missed} of ${wanted}`);
    assert.equal(await this.page.evaluate(() => globalThis.reached.size), wanted, this.page.url());
    for (const { what, seen } of reached) assert.ok(seen, `the focus cannot be seen: ${what}`);
  }

  /** What is wrong with a page whatever it shows, in both schemes and on a narrow screen. */
  async examine(name) {
    const wrong = [];
    // The other scheme differs by its colours alone.
    for (const [colorScheme, rules] of [["light", undefined], ["dark", ["color-contrast"]]]) {
      await this.page.emulateMedia({ colorScheme });
      wrong.push(...(await this.violations(rules)).map((one) => `${name} in ${colorScheme}: ${one}`));
      await this.picture(`${name}-${colorScheme}`);
    }
    const { width, height } = this.page.viewportSize();
    await this.page.setViewportSize({ width: NARROW, height });
    wrong.push(...(await this.tooWide()).map((one) => `${name}: ${one}`));
    await this.picture(`${name}-narrow`);
    await this.page.setViewportSize({ width, height });
    return wrong;
  }

  /** For people who want to look: DISKFACTS_PICTURES names a folder. */
  async picture(name) {
    const folder = process.env.DISKFACTS_PICTURES;
    if (folder) await this.page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
  }

  close() {
    return this.context.close();
  }
}
