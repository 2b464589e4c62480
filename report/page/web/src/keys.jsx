// report/page/web/src/keys.jsx — the keys of the page: what two of them do wherever the reader is, and the list of all.
import { useEffect } from "preact/hooks";
import { Dialog } from "./dialog.jsx";

/** [the part of the page, or nothing for all of it; what it is called; its keys] */
const KEYS = [
  [
    null,
    "Anywhere",
    [
      ["/", "search the whole page"],
      ["?", "show this list"],
      ["Tab, Enter", "go to the next thing, open or press it"],
      ["Escape", "close what is open over the page"],
    ],
  ],
  [
    "timeline",
    "Timeline",
    [
      ["← and →", "go from span to span of the time"],
      ["↑ and ↓", "go from owner to owner"],
      ["Shift with ← or →", "choose a range"],
      ["Enter", "pick the moment"],
      ["Escape", "show the whole run"],
      ["+ and −", "zoom"],
      ["0", "show all of the time"],
    ],
  ],
  [
    "flame",
    "Call stacks",
    [
      ["← ↑ → ↓", "go from frame to frame"],
      ["Enter", "zoom to a frame"],
      ["c", "show all that calls the frame's function"],
      ["Escape", "show all"],
    ],
  ],
  [
    "segments",
    "Segments",
    [
      ["← and →", "go from block to block"],
      ["↑ and ↓", "go from segment to segment"],
      ["Enter", "show all blocks of one owner"],
      ["Escape", "show all owners"],
    ],
  ],
  [
    "map",
    "Ranks",
    [
      ["← ↑ → ↓", "go from rank to rank"],
      ["Enter", "show what is found of it alone"],
      ["Escape", "show all"],
    ],
  ],
];

/** What a reader types into; there each key is a letter. */
const TYPED_INTO = "input:not([type=range]), textarea, select, [contenteditable]";

/** @param {Object<string, () => void>} acts by key, wherever nothing is typed into and no dialog is open */
export function useKeys(acts) {
  useEffect(() => {
    const onKey = (event) => {
      const act = !event.ctrlKey && !event.metaKey && !event.altKey && acts[event.key];
      if (!act || event.target.closest?.(TYPED_INTO) || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}

export const Keys = ({ open, close }) => (
  <Dialog id="keys" title="Keys" open={open} close={close}>
    {KEYS.filter(([part]) => part === null || document.getElementById(part)).map(([, title, keys]) => (
      <div key={title}>
        <h3>{title}</h3>
        <dl class="keys">
          {keys.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </div>
    ))}
  </Dialog>
);
