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
/** The part of the page that is looked at, its rows that are open, and what the keyboard is on. */
const seen = (page) =>
  page.evaluate(() => ({
    address: location.hash,
    open: [...document.querySelectorAll(".leak.open > button code")].map((one) => one.innerText),
    focus: document.activeElement.innerText,
  }));

const TASKS = {
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
  async csv(page, hand, { part, table }) {
    await hand.press(`nav a[href='#${part}']`);
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
    const shown = { says: (await texts(page, ".callers"))[0], frames: await texts(page, ".flame .node") };
    await hand.press("#flame button >> text=All call stacks");
    return { ...shown, after: await texts(page, ".flame .node") };
  },

  /** Which thread leaks? */
  async threads(page, hand) {
    await hand.press("nav a[href='#flame']");
    await hand.press("#flame .choice button >> text=By thread");
    return texts(page, ".flame .node");
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
