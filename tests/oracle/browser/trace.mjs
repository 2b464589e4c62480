// tests/oracle/browser/trace.mjs — gives traces to Chrome's trace viewer in headless Chromium, and tells what it made of them.
//
// Usage: node trace.mjs MODULES CHROMIUM VIEWER TRACE.json... VIEWER is the folder in which Go's trace tool has the
// viewer: Chromium's own page of it is gone. Prints a JSON of each, on a line; times are whole nanoseconds.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [modules, executablePath, viewer, ...files] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const ORIGIN = "http://viewer.invalid/"; // answered here alone
const PAGE = `<script src="webcomponents.min.js"></script><link rel="import" href="trace_viewer_full.html">`;

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
const errors = [];
page.on("pageerror", (error) => errors.push(error.stack));
await page.route("**", (route) => {
  const name = route.request().url().slice(ORIGIN.length);
  return name ? route.fulfill({ path: join(viewer, name) }) : route.fulfill({ contentType: "text/html", body: PAGE });
});
await page.goto(ORIGIN);
await page.waitForFunction("window.tr && tr.importer && tr.importer.Import");

function read(text) {
  const ns = (milliseconds) => Math.round(milliseconds * 1e6);
  const model = new tr.Model();
  const options = new tr.importer.ImportOptions();
  options.shiftWorldToZero = false;
  new tr.importer.Import(model, options).importTraces([text]);
  const life = (slice) => ({
    name: slice.title,
    category: slice.category,
    begin: ns(slice.start),
    end: ns(slice.start + slice.duration),
    ...slice.args,
  });
  const samples = (counter) =>
    counter.series.map(({ name, samples }) => [name, samples.map(({ timestamp, value }) => [ns(timestamp), value])]);
  return {
    warnings: model.importWarnings.map(({ type, message }) => `${type}: ${message}`),
    metadata: Object.fromEntries(model.metadata.map(({ name, value }) => [name, value])),
    processes: model.getAllProcesses().map((one) => ({
      pid: one.pid,
      name: one.name,
      counters: Object.fromEntries(
        Object.values(one.counters).map((counter) => [counter.name, Object.fromEntries(samples(counter))]),
      ),
      marks: one.instantEvents.map((mark) => [ns(mark.start), mark.title]),
      lives: Object.values(one.threads).flatMap((thread) => thread.asyncSliceGroup.slices.map(life)),
    })),
  };
}

for (const file of files) {
  const told = await page.evaluate(read, readFileSync(file, "utf8"));
  console.log(JSON.stringify({ errors, ...told }));
}
await browser.close();
