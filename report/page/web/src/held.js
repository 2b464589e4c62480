// report/page/web/src/held.js — how the page calls what is not freed: a leak only where the run shows that it is.
import { report } from "./data.js";

const LEAKED = {
  title: "Leaked",
  part: "Leaks",
  where: "Where it leaks",
  about: "What was never freed, by call stack",
  sentence: "Bytes that were never freed.",
};
const NOT_FREED = {
  title: "Not freed",
  part: "Not freed",
  where: "What was not freed",
  about: "What was not freed as far as the log shows, by call stack",
  sentence: "Bytes that were not freed, as far as the log shows.",
};
const IN_USE = {
  title: "In use now",
  part: "In use",
  where: "Who holds it",
  about: "What is in use now, by call stack",
  sentence: "Bytes that are in use now.",
};

export const HELD =
  report.view === "snapshot" ? IN_USE : report.verdict === "inconclusive" ? NOT_FREED : LEAKED;
