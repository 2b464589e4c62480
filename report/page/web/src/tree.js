// report/page/web/src/tree.js — call stacks as one tree, for the flame graph.
import { lineText } from "./words.js";

/** What a frame is merged by: functions are one whatever the line, unless they have no name. */
const keyOf = (frame) => `${frame.function}\n${frame.file || frame.module}`;

export const sameFunction = (one, other) => keyOf(one) === keyOf(other);

/**
 * @typedef {{frame: object | null, value: number, depth: number, at: number, parent: Node | null,
 *            children: Node[], rows: Set<object>}} Node `at`: where it begins, in the unit of values
 * @param {object[]} rows
 * @param {(row: object) => number} valueOf
 * @param {(row: object) => object[]} wayOf its frames from the root on; none: it is not in the tree
 * @returns {Node}
 */
export function treeOf(rows, valueOf, wayOf) {
  const root = {
    frame: null,
    value: 0,
    depth: 0,
    at: 0,
    parent: null,
    children: [],
    rows: new Set(),
    byKey: new Map(),
  };
  for (const row of rows) {
    const value = valueOf(row);
    const way = wayOf(row);
    if (!(value > 0) || (way.length === 0 && row.stack.length > 0)) continue;
    let node = root;
    node.value += value;
    node.rows.add(row);
    for (const frame of way) {
      const key = keyOf(frame);
      let child = node.byKey.get(key);
      if (!child) {
        child = {
          frame,
          value: 0,
          depth: node.depth + 1,
          at: 0,
          parent: node,
          children: [],
          rows: new Set(),
          byKey: new Map(),
        };
        node.byKey.set(key, child);
        node.children.push(child);
      }
      child.value += value;
      child.rows.add(row);
      node = child;
    }
  }
  place(root);
  return root;
}

function place(node) {
  node.children.sort((a, b) => b.value - a.value);
  let at = node.at;
  for (const child of node.children) {
    child.at = at;
    at += child.value;
    place(child);
  }
}

/** Whether all words are in the frame's name or place. */
export function matches(frame, words) {
  const text = `${frame.function} ${lineText(frame) || frame.module}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Those that are wide enough to be seen, by depth; and how many are not. */
export function visibleNodes(focus, least) {
  const nodes = [];
  let hidden = 0;
  for (let node = focus.parent; node; node = node.parent) nodes.unshift(node);
  const walk = (node) => {
    if (node.value < least * focus.value) {
      hidden += 1;
      return;
    }
    nodes.push(node);
    node.children.forEach(walk);
  };
  walk(focus);
  return { nodes, hidden };
}
