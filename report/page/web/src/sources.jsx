// report/page/web/src/sources.jsx — where a frame's line is, as a link; and the lines around it.
import { placeText, sources } from "./data.js";
import { fileName } from "./words.js";

/** A path without "." and "..": nothing where it would lead out of where it begins, or is cut. */
function plainPath(path) {
  const parts = [];
  for (const part of path.split("/")) {
    if (part === ".." && parts.pop() === undefined) return null;
    if (part !== ".." && part !== "." && part !== "") parts.push(part);
  }
  return path.endsWith("…") ? null : parts.map(encodeURIComponent).join("/");
}

/** [the file below the root, if it is there; its whole path], as addresses have them. */
function pathsOf(file) {
  const { root } = sources;
  const below = file.startsWith("/") ? (file.startsWith(root) ? file.slice(root.length) : null) : file;
  return [below === null ? null : plainPath(below), plainPath(file.startsWith("/") ? file : root + file)];
}

/** The address of a frame's line; nothing where there is none. The template is our user's, names are the log's. */
export function lineAddress(frame) {
  if (!sources.url || !frame?.file || !(frame.line > 0)) return null;
  const [file, path] = pathsOf(frame.file);
  const values = { file, path, line: String(frame.line) };
  const names = [...sources.url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  if (names.some((name) => !values[name])) return null;
  // A path is a whole one, but behind a slash it has its own already.
  return sources.url.replace(/(\/?)\{(\w+)\}/g, (_, slash, name) =>
    name === "path" ? `/${path}` : `${slash}${values[name]}`,
  );
}

/** "train.cu:130", a link where the page knows of one. */
export function FramePlace({ frame }) {
  const address = lineAddress(frame);
  if (!address) return placeText(frame);
  return (
    <a class="line-link" href={address} target={address.startsWith("http") ? "_blank" : undefined} rel="noreferrer noopener">
      {placeText(frame)}
    </a>
  );
}

const AROUND = 2;
const linesOf = new Map(
  sources.files.map(({ file, at, lines }) => [file, new Map(at.map((number, index) => [number, lines[index]]))]),
);

/** Some lines of the file as it was when the page was written. */
export function SourceLines({ frame, open }) {
  const known = linesOf.get(frame.file);
  if (!known?.has(frame.line)) return null;
  const numbers = [...known.keys()].filter((number) => Math.abs(number - frame.line) <= AROUND);
  return (
    <details class="source" open={open}>
      <summary>
        {fileName(frame.file)}, lines {numbers[0]} to {numbers.at(-1)}
      </summary>
      <pre>
        {numbers.map((number) => (
          <span key={number} class={number === frame.line ? "here" : ""}>
            <span class="dim">{String(number).padStart(String(numbers.at(-1)).length)} </span>
            {number === frame.line ? <strong>{known.get(number)}</strong> : known.get(number)}
          </span>
        ))}
      </pre>
    </details>
  );
}
