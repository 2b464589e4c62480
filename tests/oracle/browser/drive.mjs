// tests/oracle/browser/drive.mjs — opens pages in headless Chromium, uses them, and tells what happened.
//
// Usage: node drive.mjs MODULES CHROMIUM. For each line of stdin, the path of a page, it prints a line of JSON: what
// went wrong by the browser's, axe's and html-validate's word, what was asked of the network, and what was drawn. For
// "read PATH" it is what stands in each part of the page, with all of it opened; for a task of tasks.mjs, as an object
// {"play": TASK, "hand": "mouse", "file": PATH}, what the page told whoever did it.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { played } from "./tasks.mjs";

const [modules, executablePath] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");
const { HtmlValidate } = await import(require.resolve("html-validate"));
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

/** A page as a reader with such a screen has it; what goes wrong in it is added to what is told. */
async function open(file, told, width, colorScheme, address = "") {
  const page = await browser.newPage({
    viewport: { width, height: 900 },
    colorScheme,
    reducedMotion: "reduce",
  });
  page.setDefaultTimeout(60_000);
  page.on("console", (message) => told.errors.push(`console.${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => told.errors.push(error.stack));
  page.on("request", (request) => request.url().split("#")[0] === `file://${file}` || told.requests.push(request.url()));
  await page.goto(`file://${file}${address}`);
  await page.locator("h1").waitFor();
  await page.evaluate(`${axe};`);
  return page;
}

/**
 * What axe finds, by all of its rules or by these, without the list of all that is right, which takes time; and whether
 * the page is as wide as the screen, in its theme.
 */
async function look(page, told, name, rules) {
  const findings = await page.evaluate(
    (only) =>
      window.axe.run({ resultTypes: ["violations"], ...(only && { runOnly: only }) }).then((result) =>
        result.violations.map((one) => {
          const nodes = one.nodes.slice(0, 3).map((node) => `${node.target.join(" ")} ${node.failureSummary}`);
          return `${one.id}: ${nodes.join("; ")}`;
        }),
      ),
    rules,
  );
  told.views[name] = {
    axe: findings,
    wider: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
    theme: await page.evaluate(() => document.documentElement.dataset.theme),
  };
}

/** In both themes: the second has nothing but other colours. */
async function lookInBothThemes(page, told, width, [first, second]) {
  await look(page, told, `${width} ${first}`);
  await page.emulateMedia({ colorScheme: second });
  await page.locator(`:root[data-theme=${second}]`).waitFor();
  await look(page, told, `${width} ${second}`, ["color-contrast"]);
  await page.emulateMedia({ colorScheme: first });
  await page.locator(`:root[data-theme=${first}]`).waitFor();
}

const KINDS = "#flame .choice[aria-label='What is shown']";
const texts = (page, selector) => page.locator(selector).allInnerTexts();

async function tellWhatIsDrawn(page, told) {
  told.title = await page.title();
  told.verdict = (await texts(page, "h1"))[0];
  told.sections = await page.evaluate(() => [...document.querySelectorAll("section[id]")].map((one) => one.id));
  // That something was painted: how many colours each canvas has.
  told.colours = await page.evaluate(() =>
    [...document.querySelectorAll("canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }),
  );
  told.leaks = await texts(page, "#leaks .leak > button code");
  told.places = await texts(page, "#leaks .leak > button .leak-place .dim");
  told.made_of = await texts(page, "#overview .note");
  told.times = await page.evaluate(() => {
    const column = document.querySelector("#timeline .as-table");
    if (!column) return [];
    column.open = true;
    return new Promise((resolve) => {
      const rows = () => [...column.querySelectorAll("tbody tr td:first-child")].map((cell) => cell.textContent);
      requestAnimationFrame(() => setTimeout(() => resolve(rows()), 50));
    });
  });
  told.waterfall = await texts(page, ".waterfall th");
  told.strips = await page.locator(".strips .strip").count();
  told.tests = await texts(page, ".test .test-name");
  told.lead = (await texts(page, ".lead"))[0];
  told.policies = await texts(page, ".policies th[scope=row]");
  told.on_cards = await texts(page, "#policies td .verdict-word");
  told.scale = await texts(page, "#scale .largest li");
  told.checked = await texts(page, "#check td .verdict-word");
  told.markup = await page.evaluate(
    () => document.querySelectorAll("main script, main img, main iframe").length,
  );
  told.resources = await page.evaluate(() => performance.getEntriesByType("resource").length);
  told.licences = (await page.locator("footer pre").textContent()).length;
}

/** By keyboard alone: the first leak opens, and timeline and call stacks show it. */
async function openLeak(page, told) {
  if (told.leaks.length === 0) return;
  const first = page.locator("#leaks .leak > button").first();
  await first.focus();
  await page.keyboard.press("Enter");
  told.opened = {
    expanded: await first.getAttribute("aria-expanded"),
    stack: await texts(page, ".leak-more .stack code"),
    legend: await texts(page, ".legend li"),
    marked: await texts(page, ".flame .marked"),
  };
}

/** A table by one of its columns, the largest first; then the smallest; then as it was. */
async function sortTable(page, told) {
  const table = page.locator("#timeline .as-table");
  if ((await table.count()) === 0 || (await table.locator(".sort").count()) < 2) return;
  const head = table.locator("th").nth(1);
  const look = async () => [await head.getAttribute("aria-sort"), await table.locator("tbody td:nth-child(2)").allInnerTexts()];
  told.sorted = [await look()];
  for (let clicks = 3; clicks > 0; --clicks) {
    await head.locator("button").click();
    told.sorted.push(await look());
  }
}

/** In the call stacks a function is found by its name; and the tree can begin at the allocations. */
async function find(page, told) {
  if (told.leaks.length === 0) return;
  const name = told.leaks[0].replace(/\(.*/, "");
  await page.locator("#flame input[type=search]").fill(name);
  told.found = { name, share: (await texts(page, "#flame .search [role=status]"))[0], nodes: await texts(page, ".flame .found") };
  const begin = () => texts(page, ".flame [aria-level='2']");
  const outermost = await begin();
  await page.locator("#flame .choice[aria-label=Direction] button").last().click();
  told.found.begins = [outermost, await begin()];
  await page.locator("#flame .choice[aria-label=Direction] button").first().click();
  await page.locator("#flame input[type=search]").fill("");
}

async function zoom(page, told) {
  if ((await page.locator(".chart[role=application]").count()) === 0) return;
  const drawn = () => page.evaluate(() => document.querySelector(".chart canvas").toDataURL());
  await page.locator(".chart").focus();
  const all = await drawn();
  await page.keyboard.press("+");
  await page.waitForTimeout(100);
  told.zoomed = (await drawn()) !== all;
  await page.keyboard.press("0");
  await page.waitForTimeout(100);
  told.back = (await drawn()) === all;
}

/** A moment is picked: leaks and call stacks show what was alive then. */
async function pickMoment(page, told) {
  if ((await page.locator("#moment").count()) === 0) return;
  await page.locator("#moment").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("End");
  told.moment = {
    status: (await texts(page, ".picker p"))[0],
    root: (await page.locator(".flame [aria-level='1']").getAttribute("aria-label")) ?? "",
    kinds: await texts(page, `${KINDS} button`),
    pressed: await texts(page, `${KINDS} button[aria-pressed=true]`),
    then: await texts(page, "#leaks .leak-blocks"),
  };
  await page.locator(".chart .u-over").click({ position: { x: 2, y: 50 } });
  told.moment.clicked = (await texts(page, ".picker p"))[0];
  await page.locator(".picker .clear").click();
  told.moment.after = await texts(page, `${KINDS} button[aria-pressed=true]`);
}

/** What pins segments, at another moment; and who sits in them: by arrow keys, and all blocks of one owner. */
async function lookIntoSegments(page, told) {
  if ((await page.locator("#pins .choice button").count()) > 0) {
    await page.locator("#pins .choice button").last().focus();
    await page.keyboard.press("Enter");
    told.pins = await texts(page, "#pins .choice button[aria-pressed=true]");
  }
  if (told.strips === 0) return;
  await page.locator(".strips").focus();
  await page.keyboard.press("ArrowRight");
  told.map = { first: (await texts(page, ".readout"))[0], owners: await texts(page, ".owners button code") };
  if (told.map.owners.length === 0) return;
  await page.locator(".owners button").first().focus();
  await page.keyboard.press("Enter");
  told.map.looked = await page.locator(".owners button[aria-pressed=true]").count();
}

async function openTest(page, told) {
  if (told.tests.length === 0) return;
  await page.locator(".test > button").first().focus();
  await page.keyboard.press("Enter");
  told.opened_test = await texts(page, ".test .leak-more");
}

async function changeThemeAndSearch(page, told) {
  await page.locator(".theme").click();
  told.theme_after = await page.evaluate(() => document.documentElement.dataset.theme);
  if (told.leaks.length === 0) return;
  await page.locator("#leaks input[type=search]").fill("no such function anywhere");
  told.found_nothing = await page.locator("#leaks .leak").count();
  await page.locator("#leaks input[type=search]").fill("");
  const place = (await page.locator("#leaks .leak > button").first().textContent()).match(/[\w.]+\.\w+:\d+/);
  if (!place) return;
  await page.locator("#leaks input[type=search]").fill(place[0]);
  told.found_place = [place[0], await page.locator("#leaks .leak").count()];
  await page.locator("#leaks input[type=search]").fill("");
}

/** That the policy holds: what is put into the page as markup does not run. */
async function tryToRunMarkup(page, told) {
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
  });
  told.ran = await page.evaluate(() => Boolean(window.ran));
  told.errors = told.errors.filter(
    (error) => !(error.includes("Content Security Policy") && error.includes("inline script")),
  );
}

/** What a reader did to a page is in its address: opened there, the page is the same; "back" undoes it; it can be copied. */
async function giveOn(file, told) {
  if (told.leaks.length < 2) return;
  const page = await open(file, told, 1440, "light");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const looks = async (one) => ({
    open: await texts(one, "#leaks .leak.open > button code"),
    order: await texts(one, "#leaks .choice button[aria-pressed=true]"),
    stacks: await texts(one, `${KINDS} button[aria-pressed=true]`),
    search: await one.locator("#leaks input[type=search]").inputValue(),
    moment: (await texts(one, ".picker p"))[0] ?? null,
    theme: await one.evaluate(() => document.documentElement.dataset.theme),
  });
  const before = await looks(page);
  await page.locator("#leaks .leak > button").last().click();
  await page.locator("#leaks .choice button").last().click();
  await page.locator("#leaks input[type=search]").fill(told.leaks.at(-1).slice(0, 5));
  await page.locator(".theme").click();
  if ((await page.locator("#moment").count()) > 0) await page.locator("#moment").press("Home");
  await page.locator("nav a[href='#flame']").click();
  await page.waitForTimeout(400); // the address of what changes all the time is written when it has settled
  const after = await looks(page);
  const again = await open(file, told, 1440, "light", await page.evaluate(() => location.hash));
  told.given = {
    before,
    after,
    again: await looks(again),
    part: await again.evaluate(() => document.getElementById("flame").getBoundingClientRect().top),
  };
  await again.close();
  await page.locator(".leak.open .copy button").last().click();
  await page.locator(".leak.open .copy button").last().getByText("copied").waitFor();
  told.given.copied = await page.evaluate(() => navigator.clipboard.readText());
  for (let steps = 3; steps > 0; --steps) await page.goBack(); // the part, the order, the row
  told.given.back = await looks(page);
  await page.close();
}

async function validated(file) {
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
  const { results } = await validator.validateString(readFileSync(file, "utf8"));
  return results.flatMap((one) =>
    one.messages.map((message) => `${message.line}: ${message.ruleId}: ${message.message}`),
  );
}

async function driven(file) {
  const told = { errors: [], requests: [], views: {} };
  const narrow = await open(file, told, 360, "dark");
  await lookInBothThemes(narrow, told, 360, ["dark", "light"]);
  await narrow.close();
  const page = await open(file, told, 1440, "light");
  await lookInBothThemes(page, told, 1440, ["light", "dark"]);
  await tellWhatIsDrawn(page, told);
  await openLeak(page, told);
  await find(page, told);
  await sortTable(page, told);
  await zoom(page, told);
  await pickMoment(page, told);
  await lookIntoSegments(page, told);
  await openTest(page, told);
  await look(page, told, "1440 light, with all of it opened");
  await changeThemeAndSearch(page, told);
  await tryToRunMarkup(page, told);
  await page.close();
  await giveOn(file, told);
  told.html = await validated(file);
  return told;
}

/** What stands in a part of the page as it is, and with each of its devices, choices and rows in turn. */
async function textsOf(part) {
  const said = new Set();
  const later = () => new Promise((resolve) => setTimeout(resolve, 0));
  const look = async () => {
    await later(); // it is drawn again
    for (const more of part.querySelectorAll("details:not([open])")) more.open = true;
    await later();
    said.add(part.innerText);
  };
  const press = async (selector) => {
    for (const button of [...part.querySelectorAll(selector)]) {
      if (button.getAttribute("aria-expanded") !== "true") button.click();
      await look();
    }
  };
  const lookAtAll = async () => {
    await look();
    for (let more; (more = part.querySelector("button.more")); await later()) more.click();
    await press(".choice button");
    await press("button[aria-expanded]");
  };
  const chosen = part.querySelector("select");
  for (let at = 0; at < (chosen?.options.length ?? 1); ++at) {
    if (chosen) {
      chosen.selectedIndex = at;
      chosen.dispatchEvent(new Event("change", { bubbles: true }));
    }
    await lookAtAll();
  }
  return [...said].join("\n");
}

async function read(file) {
  const told = { errors: [], requests: [], parts: {} };
  const page = await open(file, told, 1440, "light");
  for (const part of await page.locator("section[id]").all())
    told.parts[await part.getAttribute("id")] = await part.evaluate(textsOf);
  await page.close();
  return told;
}

for await (const line of createInterface({ input: process.stdin })) {
  const [, file] = line.match(/^read (.*)$/) ?? [];
  const doing = line.startsWith("{") ? played(open, JSON.parse(line)) : file ? read(file) : driven(line);
  console.log(JSON.stringify(await doing));
}
await browser.close();
