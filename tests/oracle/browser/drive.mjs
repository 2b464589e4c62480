// tests/oracle/browser/drive.mjs — opens a page in headless Chromium, uses it, and tells what happened.
//
// Usage: node drive.mjs MODULES CHROMIUM PAGE.html. Prints JSON: what went wrong by the browser's, axe's and
// html-validate's word, what was asked of the network, and what was drawn.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, executablePath, file] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const told = { errors: [], requests: [], views: {} };
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

async function open(width, colorScheme) {
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme,
    reducedMotion: "reduce",
  });
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => told.errors.push(`console.${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => told.errors.push(error.stack));
  page.on("request", (request) => request.url() === `file://${file}` || told.requests.push(request.url()));
  const began = Date.now();
  await page.goto(`file://${file}`);
  await page.locator("h1").waitFor();
  told.open_ms = Date.now() - began;
  return page;
}

async function look(page, name) {
  const findings = await page.evaluate(`${axe}; axe.run().then((result) => result.violations.map((one) =>
    one.id + ": " + one.nodes.slice(0, 3).map((node) => node.target.join(" ") + " " + node.failureSummary).join("; ")))`);
  told.views[name] = {
    axe: findings,
    wider: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    theme: await page.evaluate(() => document.documentElement.dataset.theme),
  };
}

for (const [width, theme] of [
  [1440, "light"],
  [360, "dark"],
]) {
  const page = await open(width, theme);
  await look(page, `${width} ${theme}`);
  await page.close();
}

const page = await open(1280, "light");
const texts = (selector) => page.locator(selector).allInnerTexts();
told.title = await page.title();
told.verdict = (await texts("h1"))[0];
told.sections = await page.evaluate(() => [...document.querySelectorAll("section[id]")].map((one) => one.id));
told.canvases = await page.locator("canvas").count();
// That something was painted: how many colours each canvas has.
told.colours = await page.evaluate(() =>
  [...document.querySelectorAll("canvas")].map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  }),
);
told.leaks = await texts("#leaks .leak > button code");
told.frames = await page.locator(".flame .node").count();
told.waterfall = await texts(".waterfall th");
told.strips = await page.locator(".strips .strip").count();
told.tests = await texts(".test .test-name");
told.lead = (await texts(".lead"))[0];
told.policies = await texts(".policies th[scope=row]");
told.on_cards = await texts("#policies td .verdict-word");
told.scale = await texts("#scale .largest li");
told.checked = await texts("#check td .verdict-word");
told.markup = await page.evaluate(
  () => document.querySelectorAll("main script, main img, main iframe").length,
);
told.resources = await page.evaluate(() => performance.getEntriesByType("resource").length);
told.licences = (await page.locator("footer pre").textContent()).length;

// By keyboard alone: the first leak opens, and the timeline shows it.
if (told.leaks.length > 0) {
  await page.locator("#leaks .leak > button").first().focus();
  await page.keyboard.press("Enter");
  told.opened = {
    expanded: await page.locator("#leaks .leak > button").first().getAttribute("aria-expanded"),
    stack: await texts(".leak-more .stack code"),
    legend: await texts(".legend li"),
    marked: await texts(".flame .marked"),
  };
}
if ((await page.locator(".chart[role=application]").count()) > 0) {
  const ticks = () => page.evaluate(() => document.querySelector(".chart canvas").toDataURL());
  await page.locator(".chart").focus();
  const all = await ticks();
  await page.keyboard.press("+");
  await page.waitForTimeout(100);
  told.zoomed = (await ticks()) !== all;
  await page.keyboard.press("0");
  await page.waitForTimeout(100);
  told.back = (await ticks()) === all;
}
// A moment is picked: leaks and call stacks show what was alive then.
if ((await page.locator("#moment").count()) > 0) {
  await page.locator("#moment").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("End");
  told.moment = {
    status: (await texts(".picker p"))[0],
    root: (await page.locator(".flame [aria-level='1']").getAttribute("aria-label")) ?? "",
    kinds: await texts("#flame .choice button"),
    pressed: await texts("#flame .choice button[aria-pressed=true]"),
    then: await texts("#leaks .leak-blocks"),
  };
  await page.locator(".chart .u-over").click({ position: { x: 2, y: 50 } });
  told.moment.clicked = (await texts(".picker p"))[0];
  await page.locator(".picker button").click();
  told.moment.after = await texts("#flame .choice button[aria-pressed=true]");
}
// What pins segments, at another moment.
if ((await page.locator("#pins .choice button").count()) > 0) {
  await page.locator("#pins .choice button").last().focus();
  await page.keyboard.press("Enter");
  told.pins = await texts("#pins .choice button[aria-pressed=true]");
}
// Who sits in the segments: by arrow keys, and all blocks of one owner.
if (told.strips > 0) {
  await page.locator(".strips").focus();
  await page.keyboard.press("ArrowRight");
  told.map = { first: (await texts(".readout"))[0], owners: await texts(".owners button code") };
  if (told.map.owners.length > 0) {
    await page.locator(".owners button").first().focus();
    await page.keyboard.press("Enter");
    told.map.looked = await page.locator(".owners button[aria-pressed=true]").count();
  }
}
if (told.tests.length > 0) {
  await page.locator(".test > button").first().focus();
  await page.keyboard.press("Enter");
  told.opened_test = await texts(".test .leak-more");
}
await look(page, "1280 light, with all of it opened");
await page.locator(".theme").click();
told.theme_after = await page.evaluate(() => document.documentElement.dataset.theme);
if (told.leaks.length > 0) {
  await page.locator("#leaks input[type=search]").fill("no such function anywhere");
  told.found_nothing = await page.locator("#leaks .leak").count();
}

// That the policy holds: what is put into the page as markup does not run.
await page.evaluate(() => {
  const script = document.createElement("script");
  script.textContent = "window.ran = true";
  document.body.append(script);
});
told.ran = await page.evaluate(() => Boolean(window.ran));
told.errors = told.errors.filter(
  (error) => !(error.includes("Content Security Policy") && error.includes("inline script")),
);
await browser.close();

const { HtmlValidate } = await import(require.resolve("html-validate"));
const validator = new HtmlValidate({
  extends: ["html-validate:standard"],
  // Of how it is written: build.mjs leaves that to no one. The script's hash stands in the policy.
  rules: {
    "long-title": "off",
    "no-inline-style": "off",
    "require-sri": "off",
    "no-trailing-whitespace": "off",
  },
});
const source = readFileSync(file, "utf8");
const result = await validator.validateString(source);
told.html = result.results.flatMap((one) =>
  one.messages.map((message) => `${message.line}: ${message.ruleId}: ${message.message}`),
);
console.log(JSON.stringify(told));
