// tests/oracle/browser/speedscope.mjs — opens files in speedscope in headless Chromium, and tells the sums that it shows.
//
// Usage: node speedscope.mjs MODULES CHROMIUM SPEEDSCOPE FILE... SPEEDSCOPE is the folder of its page. Prints a JSON of each
// file, on a line: the page's title, which has a profile's name if it could be read, and each profile's rows.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const [modules, executablePath, speedscope, ...files] = process.argv.slice(2);
const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const folder = mkdtempSync(join(tmpdir(), "speedscope-"));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"] });

/** Of each function: what it and all that it called have, what it has alone, its name. Other tables come before it. */
const rows = () => {
  const all = [...document.querySelectorAll("tr")].map((row) => [...row.cells].map((cell) => cell.innerText.trim()));
  const head = all.findIndex(([first]) => first === "Total");
  return head < 0 ? [] : all.slice(head + 1);
};
/** "never freed, bytes (1/4)": a profile's name, its number, and how many there are. */
const shown = () => document.body.innerText.match(/^(.+) \((\d+)\/(\d+)\)$/m);

async function told(page, file) {
  const script = join(folder, "file.js");
  const content = readFileSync(file).toString("base64");
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${content}")`);
  await page.goto(`file://${speedscope}/index.html#localProfilePath=${script}`);
  await page.waitForFunction(() => document.title.endsWith(" - speedscope"), null, { timeout: 60000 }).catch(() => {});
  const title = await page.title();
  const profiles = [];
  await page.keyboard.press("3"); // the table of functions
  for (let number = 1, most = 1; title.endsWith(" - speedscope") && number <= most; ++number) {
    await page.waitForFunction(
      ([list, read, wanted]) => eval(list)().length > 0 && Number(eval(read)()?.[2] ?? 1) === wanted,
      [rows.toString(), shown.toString(), number],
    );
    const of = await page.evaluate(shown);
    most = Number(of?.[3] ?? 1);
    profiles.push({ name: of?.[1] ?? "", rows: await page.evaluate(rows) });
    await page.keyboard.press("n"); // the next one
  }
  return { title, profiles };
}

for (const file of files) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 2000 } });
  console.log(JSON.stringify(await told(page, file)));
  await page.close();
}
await browser.close();
rmSync(folder, { recursive: true });
