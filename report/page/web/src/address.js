// report/page/web/src/address.js — what is open and chosen stands in the address: a page that is reloaded, linked to
// or gone back in is as it was.
//
// It follows the part of the page: "#leaks&leak=3&order=rate", "#&theme=dark". What is as it is at first is left out.
import { useEffect, useState } from "preact/hooks";

const SETTLED_MS = 200; // browsers refuse an address that changes all the time
const DRAWN_MS = 50; // by then the parts have what a link chose

function read() {
  const [part, ...settings] = location.hash.slice(1).split("&");
  return { part, settings: new URLSearchParams(settings.join("&")) };
}

let now = read();
let settling;
const followers = new Set(); // what is called when the address became another by itself
addEventListener("popstate", () => {
  clearTimeout(settling); // it was of the place that was left
  now = read();
  followers.forEach((follow) => follow());
});

/** @param {boolean} visit whether "back" leads to what was there before */
function write(visit) {
  clearTimeout(settling);
  const settings = String(now.settings);
  const address = `#${now.part}${settings && `&${settings}`}`;
  if (address === (location.hash || "#")) return;
  const whole = location.href.replace(/#.*/, "") + address; // in a notebook's frame "#..." is of the notebook
  if (visit) history.pushState(null, "", whole);
  else settling = setTimeout(() => history.replaceState(null, "", whole), SETTLED_MS);
}

const asText = { text: String, value: (text) => text };

/**
 * A state that is in the address under this name, as `form` has it as text. What `form` cannot read is `first`.
 *
 * @param {boolean} visit whether each change is one that "back" undoes, unless it is said of the change
 */
export function useAddressed(name, first, { form = asText, visit = false } = {}) {
  const get = () => {
    const text = now.settings.get(name);
    return (text === null ? undefined : form.value(text)) ?? first;
  };
  const [value, set] = useState(get);
  useEffect(() => {
    const follow = () => set(get);
    followers.add(follow);
    return () => followers.delete(follow);
  }, []);
  const change = (next, asVisit = visit) => {
    if (next === first) now.settings.delete(name);
    else now.settings.set(name, form.text(next));
    write(asVisit);
    set(next);
  };
  return [value, change];
}

/** A setting that is read once, as the page is loaded: where "back" changes it, the page is loaded again. */
export function readOnce(name) {
  const loaded = now.settings.get(name);
  addEventListener("popstate", () => now.settings.get(name) !== loaded && location.reload());
  return loaded;
}

const OF_DEVICES = ["moment", "range"]; // they name a device by its place among those that are shown

/** Loads the page again with another value of such a setting; null: without it. */
export function load(name, value) {
  OF_DEVICES.forEach((one) => now.settings.delete(one));
  if (value === null) now.settings.delete(name);
  else now.settings.set(name, value);
  write(true);
  location.reload();
}

const show = (part) => document.getElementById(part)?.scrollIntoView();

/** The keyboard goes on where a link led: with the row that it opened, or at the beginning of the part. */
function arrive(settings) {
  const [name, value] = [...settings].at(-1) ?? [];
  const row = document.getElementById(`${name}-${value}-more`)?.previousElementSibling;
  if (row) return row.focus();
  show(now.part);
  const part = document.getElementById(now.part);
  if (!part) return;
  part.tabIndex = -1;
  part.focus({ preventScroll: true });
  part.addEventListener("blur", () => part.removeAttribute("tabindex"), { once: true });
}

/** Leads to an address of the page, "#leaks&leak=3": what it does not name stays as it is. */
export function follow(address) {
  const [part, ...named] = address.slice(1).split("&");
  const settings = new URLSearchParams(named.join("&"));
  now.part = part;
  settings.forEach((value, name) => now.settings.set(name, value));
  write(true);
  if (named.length === 0) return arrive(settings);
  followers.forEach((one) => one());
  return setTimeout(() => arrive(settings), DRAWN_MS);
}

/** Shows the part of the address, or this one; from then on links to parts leave the rest of the address as it is. */
export function showParts(first) {
  show(now.part || first);
  addEventListener("popstate", () => show(now.part));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    follow(link.hash);
  });
}
