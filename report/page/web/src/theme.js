// report/page/web/src/theme.js — dark or light: as the system has it, until the reader chooses.
import { useEffect, useState } from "preact/hooks";
import { useAddressed } from "./address.js";

const system = matchMedia("(prefers-color-scheme: dark)");

const THEMES = { text: String, value: (text) => ["dark", "light"].find((one) => one === text) };

/** @returns {["dark" | "light", () => void]} the theme, and what changes it */
export function useTheme() {
  const [chosen, choose] = useAddressed("theme", null, { form: THEMES });
  const [dark, setDark] = useState(system.matches);
  useEffect(() => {
    const follow = (event) => setDark(event.matches);
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  const theme = chosen ?? (dark ? "dark" : "light");
  document.documentElement.dataset.theme = theme;
  return [theme, () => choose(theme === "dark" ? "light" : "dark")];
}

/** A colour of the style sheet, for what is drawn on a canvas. @param {string} name */
export const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
