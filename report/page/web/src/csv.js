// report/page/web/src/csv.js — a table as a file for spreadsheets and scripts, made in the page.

/** What a spreadsheet would calculate, or open, in place of showing it. */
const FORMULA = /^\s*[=+\-@＝＋－＠]/;

/** A number as it is, all else as text, which begins with an apostrophe where it looks like a formula. */
const fieldOf = (value) =>
  typeof value === "number" ? String(value) : `"${value.replace(FORMULA, "'$&").replaceAll('"', '""')}"`;

/** @param {(string | number)[][]} rows the first one has the titles @returns {string} as RFC 4180 has it */
export const csvOf = (rows) => rows.map((row) => `${row.map(fieldOf).join(",")}\r\n`).join("");

/** @param {string} title what the file is called, but for what no file's name should have */
export function download(title, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 80) || "table"}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
