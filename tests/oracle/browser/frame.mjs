// tests/oracle/browser/frame.mjs — shows what a notebook shows of a page, in headless Chromium, and uses it there.
//
// Usage: node frame.mjs MODULES CHROMIUM CELL.html. CELL.html is the output of a cell, which stands in a document of a
// server's, as in Jupyter. Prints a line of JSON: what went wrong, and what the page in its frame did.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, executablePath, cell] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const NOTEBOOK = "http://notebook.invalid/lab/tree/notebook.ipynb"; // answered here alone

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
const told = { errors: [], requests: [] };
page.on("console", (message) => told.errors.push(`console.${message.type()}: ${message.text()}`));
page.on("pageerror", (error) => told.errors.push(error.stack));
page.on("request", (request) => request.url() === NOTEBOOK || told.requests.push(request.url()));
await page.route("**", (route) =>
  route.fulfill({ contentType: "text/html; charset=utf-8", body: `<!doctype html><title>Notebook</title><body>${readFileSync(cell, "utf8")}` }),
);
await page.goto(NOTEBOOK);
const frame = page.frames()[1];
await frame.locator("h1").waitFor();
told.size = await page.locator("iframe").boundingBox();
await frame.locator("#leaks .leak > button").first().click();
await frame.locator(".theme").click();
await frame.locator("nav a[href='#flame']").click();
told.open = await frame.locator(".leak.open").count();
told.theme = await frame.evaluate(() => document.documentElement.dataset.theme);
told.address = await frame.evaluate(() => location.href);
told.notebook = page.url();
console.log(JSON.stringify(told));
await browser.close();
