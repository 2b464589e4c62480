// report/page/web/src/flame_tree.jsx — the tree of call stacks, drawn: pointer and arrow keys go through it.
import { useMemo, useState } from "preact/hooks";
import { changeClass, changeOf } from "./changes.js";
import { callKey, report } from "./data.js";
import { colourOfNode } from "./owners.jsx";
import { FramePlace } from "./sources.jsx";
import { matches, treeOf, visibleNodes } from "./tree.js";
import { waysBy } from "./ways.js";
import { counted, percentText, shortFunction } from "./words.js";

const LEAST = 0.001; // narrower ones are not drawn

function classOf(kind, node, marked, words) {
  const { frame } = node;
  const origin = frame?.library ? "library" : frame?.python ? "python" : frame?.file ? "own" : "unknown";
  return [
    "node",
    kind.change ? changeClass(kind, node) : origin,
    frame && !kind.change && !frame.group && colourOfNode(node),
    frame && marked.some((row) => node.rows.has(row)) && "marked",
    frame?.group && "group",
    frame && words.length > 0 && matches(frame, words) && "found",
  ]
    .filter(Boolean)
    .join(" ");
}

/** Arrow keys go through the tree, as the eye does. */
function neighbour(node, key) {
  const siblings = node.parent?.children ?? [node];
  const at = siblings.indexOf(node);
  return {
    ArrowDown: node.children[0],
    ArrowUp: node.parent,
    ArrowLeft: siblings[at - 1],
    ArrowRight: siblings[at + 1],
  }[key];
}

const nameOf = (node) => (node.frame ? shortFunction(node.frame.function) : "all");
const SIGNS = { grown: "+ ", shrunk: "− ", both: "± " };
/** What stands in a frame: of a change, its sign first. */
const shownName = (kind, node) => `${kind.change ? SIGNS[changeClass(kind, node)] : ""}${nameOf(node)}`;
const amountText = (kind, node) => (kind.change ? kind.changeText(changeOf(kind, node)) : kind.text(node.value));

/** @param {{how: object, showCallers: (name: string) => void}} props `how`: as waysBy() has it */
export function FlameTree({ kind, how, words, selected, select, showCallers }) {
  const { inwards, libraries, threads, callers } = how;
  const root = useMemo(
    () => treeOf(kind.rows, kind.value, waysBy(how)),
    [kind, inwards, libraries, threads, callers],
  );
  // A row of another list is the same call.
  const marked = selected ? kind.rows.filter((row) => callKey(row) === callKey(selected)) : [];
  const [chosen, choose] = useState({ root, shown: root, current: root });
  // What was chosen in another tree is not in this one. That is seen here, so that no frame is drawn in vain.
  const { shown, current } = chosen.root === root ? chosen : { shown: root, current: root };
  const setCurrent = (node) => choose({ root, shown, current: node });
  const { nodes, hidden } = visibleNodes(shown, LEAST);
  const deepest = nodes.reduce((depth, node) => Math.max(depth, node.depth), 0);
  const inside = (node) => node.depth >= shown.depth && node.value <= shown.value;
  const left = (node) => (node.depth < shown.depth ? 0 : ((node.at - shown.at) / shown.value) * 100);
  const width = (node) => (node.depth < shown.depth ? 100 : (node.value / shown.value) * 100);
  const go = (node) => {
    choose({ root, shown: node, current: node });
    if (node.rows.size === 1) {
      const [row] = node.rows;
      const leak = report.leaks.find((one) => one === row || callKey(one) === callKey(row));
      if (leak) select(leak);
    }
  };
  const onKey = (event) => {
    if (event.key === "Escape") return shown === root ? showCallers("") : go(root);
    if (event.key === "c" && current.frame && !current.frame.group) return showCallers(current.frame.function);
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      return go(current);
    }
    const next = neighbour(current, event.key);
    if (!event.key.startsWith("Arrow")) return undefined;
    event.preventDefault();
    if (next && nodes.includes(next)) setCurrent(next);
    return undefined;
  };
  const label = (node) =>
    node.frame
      ? `${node.frame.function}, ${amountText(kind, node)}, ${percentText(node.value, root.value)}`
      : `all, ${amountText(kind, node)}`;
  const { frame } = current;
  return (
    <>
      <p class="flame-readout" role="status">
        <code>{frame ? frame.function : "all"}</code>
        <span class="dim">{frame && <FramePlace frame={frame} />}</span>
        <span class="number">{amountText(kind, current)}</span>
        <span class="number dim">{percentText(current.value, root.value)}</span>
      </p>
      <div
        class="flame"
        role="tree"
        tabIndex={0}
        onKeyDown={onKey}
        aria-activedescendant={`node-${nodes.indexOf(current)}`}
        aria-label={`${kind.title}, by call stack. Arrow keys move, Enter zooms, c shows callers, Escape shows all.`}
        style={{ height: `${(deepest + 1) * 22}px` }}
      >
        {nodes.map((node, at) => {
          const text = label(node);
          return (
            <div
              key={at}
              id={`node-${at}`}
              role="treeitem"
              aria-level={node.depth + 1}
              aria-label={text}
              title={text}
              aria-selected={node === current}
              class={`${classOf(kind, node, marked, words)}${node === current ? " current" : ""}${inside(node) ? "" : " above"}`}
              style={{ left: `${left(node)}%`, width: `${width(node)}%`, top: `${node.depth * 22}px` }}
              onClick={() => go(node === shown && node !== root ? node.parent : node)}
              onMouseEnter={() => setCurrent(node)}
            >
              {shownName(kind, node)}
            </div>
          );
        })}
      </div>
      <p class="about copy">
        {shown !== root && (
          <button type="button" class="link" onClick={() => go(root)}>
            Show all
          </button>
        )}
        {shown.frame && !shown.frame.group && shown.frame.function !== callers && (
          <button type="button" class="link" onClick={() => showCallers(shown.frame.function)}>
            Callers of {nameOf(shown)}
          </button>
        )}
        {callers && (
          <button type="button" class="link" onClick={() => showCallers("")}>
            All call stacks
          </button>
        )}
        {hidden > 0 && ` ${counted(hidden, "frame")} too narrow to draw: zoom in to see them.`}
      </p>
    </>
  );
}
