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

const IN_USE_THEN = {
  title: "In use then",
  part: "In use",
  where: "Who held it",
  about: "What was in use then, by call stack",
  sentence: "Bytes that were in use then.",
};

function held() {
  if (report.view === "snapshot") return IN_USE;
  if (report.until_ns !== null) return IN_USE_THEN;
  return report.verdict === "inconclusive" ? NOT_FREED : LEAKED;
}

export const HELD = held();
