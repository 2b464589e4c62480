// tests/oracle/browser/tasks.mjs — what a reader comes to a page for, done with the mouse alone or with the keyboard alone.
import { readFileSync } from "node:fs";

const MOST_TABS = 400;

/** Both hands press what is seen and write words into a field; a word is always typed. */
class Mouse {
  constructor(page) {
    this.page = page;
  }
  async press(selector) {
    await this.page.locator(selector).first().click();
  }
}

class Keyboard {
  constructor(page) {
    this.page = page;
  }
  /** Goes on from where the keyboard is. */
  async reach(selector) {
    const wanted = this.page.locator(selector).first();
    for (let tabs = 0; !(await wanted.evaluate((one) => one === document.activeElement)); ++tabs) {
      if (tabs === MOST_TABS) throw new Error(`Tab does not lead to ${selector}`);
      await this.page.keyboard.press("Tab");
    }
  }
  async press(selector) {
    await this.reach(selector);
    await this.page.keyboard.press("Enter");
  }
}
const HANDS = { mouse: Mouse, keyboard: Keyboard };

const texts = (page, selector) => page.locator(selector).allInnerTexts();
const settled = (page) => page.waitForTimeout(150);
/** The texts of a part of the page that is drawn later than the press: those that two looks in a row find. */
async function steady(page, selector) {
  let [before, now] = [[], await texts(page, selector)];
  while (JSON.stringify(before) !== JSON.stringify(now)) {
    await settled(page);
    [before, now] = [now, await texts(page, selector)];
  }
  return now;
}
/** The part of the page that is looked at, its rows that are open, and what the keyboard is on. */
const seen = (page) =>
  page.evaluate(() => ({
    address: location.hash,
    open: [...document.querySelectorAll(".leak.open > button code")].map((one) => one.innerText),
    focus: document.activeElement.innerText,
  }));

const CHART = ".chart[role=application]";
const KINDS = "#flame .choice[aria-label='What is shown'] button";
const NS = { ns: 1, µs: 1e3, ms: 1e6, s: 1e9 };

/** The times in what the page says of a place in the chart: [the moment, where its span begins, where it ends]. */
async function pointedAt(page) {
  const [said] = await texts(page, ".chart-readout");
  return [...said.matchAll(/([\d.]+) (ns|µs|ms|s)\b/g)].map(([, number, unit]) => Number(number) * NS[unit]);
}

/** From one time to another; a time is {ns, part}, where `part` is how far along the chart it is. */
async function chooseRange(page, hand, from, to) {
  if (hand instanceof Mouse) {
    await page.locator(CHART).scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator(`${CHART} .u-over`).boundingBox();
    await page.mouse.move(x + from.part * width, y + 40);
    await page.mouse.down();
    await page.mouse.move(x + to.part * width, y + 50, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(x + to.part * width, y + height - 3);
    return;
  }
  await hand.reach(CHART);
  await page.keyboard.press("ArrowLeft");
  for (let [, begin] = await pointedAt(page); begin > from.ns; [, begin] = await pointedAt(page))
    await page.keyboard.press("ArrowLeft");
  for (let [, , end] = await pointedAt(page); end <= from.ns; [, , end] = await pointedAt(page))
    await page.keyboard.press("ArrowRight");
  for (let [, , end] = await pointedAt(page); end <= to.ns; [, , end] = await pointedAt(page))
    await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("ArrowUp");
}

/** The name of the colour of what has this function, in each of these places. */
const coloursOf = (page, name, places) =>
  page.evaluate(
    ([name, places]) =>
      places.map((place) => {
        const row = [...document.querySelectorAll(place)].find((one) => one.innerText.includes(name));
        const coloured = row?.matches("[class*=owner]") ? row : row?.querySelector("[class*=owner]");
        return coloured?.className.match(/owner\d/)?.[0] ?? null;
      }),
    [name, places],
  );

const TASKS = {
  /** Which line allocated what lived from one time to another, what was freed, and what of it is a leak? */
  async range(page, hand, { from, to, name }) {
    await chooseRange(page, hand, from, to);
    await settled(page);
    const [owner] = await texts(page, ".chart-readout");
    const kinds = await texts(page, KINDS);
    const stacks = {};
    for (const [at, kind] of kinds.slice(0, 5).entries()) {
      await hand.press(`${KINDS} >> nth=${at}`);
      await settled(page);
      stacks[kind] = await page.locator(".flame [role=treeitem]").evaluateAll((all) => all.map((one) => one.ariaLabel));
    }
    const chosen = {
      said: (await texts(page, ".picker p"))[0],
      owner: owner.trim(),
      leaks: await page.locator("#leaks .leak > button").evaluateAll((rows) =>
        rows.map((row) => [row.querySelector("code").innerText.trim(), row.querySelector(".leak-blocks").innerText]),
      ),
      peak: (await texts(page, "#peak h3"))[0],
      sizes: (await texts(page, "#sizes .histogram >> nth=0")).join(),
      colours: await coloursOf(page, name, [".owners-legend li", ".flame .node", "#peak td.where", "#overview .peak-parts li"]),
    };
    await page.waitForTimeout(300); // the address of what changes all the time is written when it has settled
    await page.reload();
    await page.locator("h1").waitFor();
    const kept = (await texts(page, ".picker p"))[0] === chosen.said;
    if (hand instanceof Mouse) await hand.press(".picker .clear");
    else {
      await hand.reach(CHART);
      await page.keyboard.press("Escape");
    }
    const cleared = await texts(page, "#range-from");
    await page.goBack();
    await settled(page);
    return { kinds, stacks, ...chosen, kept, cleared, back: (await texts(page, ".picker p"))[0] === chosen.said };
  },

  /** Which parts of the page know of it? The first of what is found is opened. */
  async search(page, hand, { word }) {
    if (hand instanceof Mouse) await hand.press("header .icon");
    else await page.keyboard.press("/");
    await page.keyboard.type(word);
    const found = { says: (await texts(page, ".results [role=status]"))[0], lists: await texts(page, ".results h3") };
    if (hand instanceof Mouse) await hand.press(".results li button");
    else await page.keyboard.press("Enter");
    await settled(page);
    return { ...found, ...(await seen(page)), dialogs: await page.locator("dialog[open]").count() };
  },

  /** Which keys are there? They are letters where something is typed. */
  async keys(page, hand) {
    if (hand instanceof Mouse) await hand.press("header .icon >> nth=1");
    else await page.keyboard.press("?");
    const keys = await texts(page, "dialog[open] kbd");
    if (hand instanceof Mouse) await hand.press("#keys .icon");
    else await page.keyboard.press("Escape");
    const open = () => page.locator("dialog[open]").count();
    const closed = await open();
    await hand.press("#leaks input");
    await page.keyboard.type("/?");
    return { keys, closed, typed: await page.locator("#leaks input").inputValue(), opened: await open() };
  },

  /** A table, in the order of its first column, for a spreadsheet. */
  async csv(page, hand, { part, table, folded }) {
    await hand.press(`nav a[href='#${part}']`);
    if (folded) await hand.press(`#${part} summary >> text=${table}`);
    await hand.press(`[role=region][aria-label='${table}'] .sort`);
    const saved = page.waitForEvent("download");
    await hand.press(`[role=region][aria-label='${table}'] + .copy button`);
    const file = await saved;
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
  },

  /** Where is the line in the sources? A leak is opened: its lines, and where its link leads. */
  async source(page, hand) {
    await hand.press("nav a[href='#leaks']");
    await hand.press("#leaks .leak > button");
    const line = page.locator(".leak.open .stack .own a");
    return { lines: await texts(page, ".leak.open .own .source[open] pre"), link: await line.getAttribute("href") };
  },

  /** Who calls this function? The second of those that a function calls is chosen, and its callers. */
  async callers(page, hand, { name }) {
    await hand.press("nav a[href='#flame']");
    if (hand instanceof Mouse) {
      await hand.press(`.flame .node >> text=${name}`);
      await hand.press("#flame button >> text=Callers of");
    } else {
      await hand.reach(".flame");
      for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "c"]) await page.keyboard.press(key);
    }
    const shown = { frames: await steady(page, ".flame .node"), says: (await texts(page, ".callers"))[0] };
    await hand.press("#flame button >> text=All call stacks");
    return { ...shown, after: await steady(page, ".flame .node") };
  },

  /** Which thread leaks? */
  async threads(page, hand) {
    await hand.press("nav a[href='#flame']");
    await hand.press("#flame .choice button >> text=By thread");
    return texts(page, ".flame .node");
  },

  /** What became worse than in the run before, and below which function does the peak have more? */
  async compare(page, hand) {
    await hand.press("nav a[href='#diff']");
    const worse = await texts(page, "[aria-label='What became worse'] tbody tr");
    await hand.press("nav a[href='#flame']");
    await hand.press("#flame .choice button >> text=Peak, changed");
    return { lead: (await texts(page, ".lead a"))[0], worse, frames: await texts(page, ".flame .node") };
  },

  /** Which process is unlike the others? It is shown alone, then all again. */
  async rank(page, hand, { name }) {
    const leaks = async () => [await texts(page, "#leaks .leak > button code"), await page.locator(".only").count()];
    await hand.press("nav a[href='#ranks']");
    const apart = await texts(page, "#ranks tbody tr:has(.outlier) button");
    const all = await leaks();
    await hand.press(`#ranks tbody button >> text=${name}`);
    await page.locator(".only").waitFor();
    const alone = await leaks();
    await page.goBack();
    await page.locator(".only").waitFor({ state: "detached" });
    await page.locator("#leaks .leak").first().waitFor(); // the page was loaded again
    return { apart, all, alone, back: await leaks(), first: await page.locator("section[id]").nth(1).getAttribute("id") };
  },

  /** What is wrong with this rank of a job, and which others have what it has? */
  async job(page, hand, { at, by }) {
    await hand.press("nav a[href='#map']");
    await hand.press(`#map .choice button >> text=${by}`);
    const found = () => page.locator("main .call > button").evaluateAll((rows) => rows.map((row) => row.querySelector(".call-word").innerText));
    const all = await found();
    if (hand instanceof Mouse) {
      const { width, height } = await page.locator(".squares").boundingBox();
      const { columns, lines } = await page.locator(".squares").evaluate((map) => ({ columns: map.viewBox.baseVal.width / 10, lines: map.viewBox.baseVal.height / 10 }));
      const x = ((at % columns) + 0.5) * (width / columns);
      await page.locator(".squares").click({ position: { x, y: (Math.floor(at / columns) + 0.5) * (height / lines) } });
    } else {
      await hand.reach("#map .strips");
      for (let steps = 0; steps <= at; ++steps) await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
    }
    const readout = (await texts(page, "#map .readout"))[0];
    const alone = await found();
    await hand.press("main .call > button");
    await hand.press(".leak-more .link >> text=show in the map");
    const marked = await page.locator(".squares path[class='heat0'], .squares path[class^='heat']:not(.faded)").evaluateAll((paths) =>
      paths.reduce((sum, path) => sum + path.getAttribute("d").split("M").length - 1, 0),
    );
    const address = await page.evaluate(() => location.hash);
    for (const chip of [".chips .only", ".chips .only"]) await hand.press(chip);
    return { all, readout, alone, marked, address, after: await found(), chips: await page.locator(".chips").count() };
  },

  /** Who sits at the lowest address, and where else? */
  async dense(page, hand) {
    await hand.press("nav a[href='#segments']");
    await hand.press("#segments .choice button >> text=By address");
    if (hand instanceof Mouse) {
      await page.locator(".dense").click({ position: { x: 2, y: 5 } });
    } else {
      await hand.reach("#segments .strips");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Enter");
    }
    return {
      readout: (await texts(page, ".readout"))[0],
      looked: await texts(page, ".owners button[aria-pressed=true] code"),
      faded: (await page.locator(".dense .faded").count()) > 0,
      colours: await page.evaluate(() => {
        const of = (rows) =>
          [...document.querySelectorAll(rows)].map((row) => [
            row.querySelector("code, .label").innerText.split(" ")[0],
            getComputedStyle(row.querySelector(".swatch")).backgroundColor,
          ]);
        const inMap = document.querySelectorAll(".dense path[class^=owner]:not(.faded)");
        return {
          list: Object.fromEntries(of("#segments .owners tbody tr")),
          chart: Object.fromEntries(of("#timeline .owners-legend li")),
          map: Array.from(inMap, (path) => getComputedStyle(path).fill),
        };
      }),
    };
  },

  /** The page as it is on paper: a leak and a table were opened, in dark colours. */
  async print(page, hand) {
    await hand.press("header .theme");
    await hand.press("#leaks .leak > button");
    await hand.press("#sizes summary");
    await page.locator("#sizes details .scroll").waitFor();
    await page.emulateMedia({ media: "print" });
    return page.evaluate(() => {
      const styleOf = (selector) => getComputedStyle(document.querySelector(selector));
      const bars = [...document.querySelectorAll(".bar span, .histogram .fall span")];
      const table = document.querySelector("#sizes details .scroll");
      return {
        bars: bars.length,
        drawn: bars.every((bar) => bar.clientWidth > 0 && getComputedStyle(bar).printColorAdjust === "exact"),
        background: styleOf("body").backgroundColor,
        header: styleOf("header").display,
        stack: document.querySelectorAll(".leak.open .stack li").length,
        whole: table.scrollHeight === table.clientHeight,
      };
    });
  },
};

/** @param {{play: string, hand: "mouse" | "keyboard", file: string}} order and what the task asks for beside these */
export async function played(open, order) {
  const told = { errors: [], requests: [] };
  const page = await open(order.file, told, 1440, "light");
  told.answer = await TASKS[order.play](page, new HANDS[order.hand](page), order);
  await page.close();
  return told;
}
