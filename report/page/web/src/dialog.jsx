// report/page/web/src/dialog.jsx — a dialog over the page: Escape and a click beside it close it.
import { useLayoutEffect, useRef } from "preact/hooks";

/** @param {{id: string, open: boolean, close: () => void}} props */
export function Dialog({ id, title, open, close, children }) {
  const place = useRef(null);
  // At once: the next key is the field's.
  useLayoutEffect(() => {
    if (open) place.current.showModal();
    else place.current.close();
  }, [open]);
  return (
    <dialog
      id={id}
      ref={place}
      aria-labelledby={`${id}-title`}
      onClose={close}
      onClick={(event) => event.target === place.current && close()}
    >
      <div class="dialog">
        <div class="dialog-head">
          <h2 id={`${id}-title`}>{title}</h2>
          <button type="button" class="icon" onClick={close} aria-label="Close">
            ✕
          </button>
        </div>
        {open && children}
      </div>
    </dialog>
  );
}
