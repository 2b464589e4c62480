// report/page/web/src/holders.jsx — who had a device's memory: allocators and modules, ranges and calls; then, and at marks.
import { tellApart } from "./apart.js";
import { bytesCell, countCell, noCell, placeCell, shareCell, timeCell } from "./cells.jsx";
import { Table } from "./table.jsx";
import { bytesText, counted } from "./words.js";

/** "PyTorch's blocks, for cuBLAS", "cuBLAS (libcublas.so.12)" */
function holderText({ kind, name, library }) {
  switch (kind) {
    case "blocks":
      return library ? `${name}, for ${library}` : name;
    case "cache":
      return `kept by ${name ?? "allocators"}`;
    case "module":
      return library ? `${library} (${name})` : name;
    case "pool":
      return "vramscope's pool, beside blocks";
    case "contexts":
      return "the driver, for contexts";
    case "objects":
      return "the driver, for streams and code";
    case "unattributed":
      return "contexts, code, other processes";
    default:
      return "(not known)";
  }
}

/** A row for each that had something at one of both moments: [its words, bytes at the peak, bytes at the end]. */
function holdersOf({ holders_at_peak: atPeak, holders_at_end: atEnd }) {
  const rows = new Map();
  [atPeak, atEnd].forEach((holders, moment) => {
    for (const holder of holders) {
      const text = holderText(holder) ?? "(not known)";
      if (!rows.has(text)) rows.set(text, [text, 0, 0]);
      rows.get(text)[moment + 1] += holder.bytes;
    }
  });
  return [...rows.values()].sort((a, b) => b[1] - a[1] || b[2] - a[2]);
}

/** Where several share the device. */
export function Holders({ device }) {
  const rows = holdersOf(device);
  if (rows.length < 2) return null;
  return (
    <div class="panel">
      <h3>Who shared the device</h3>
      <Table
        caption="Who had memory of the device when the most was allocated, and at the end"
        columns={[["Who", "where"], ["At the peak", "number"], ["At the end", "number"]]}
        rows={rows.map(([text, ...bytes]) => [text, ...bytes.map((one) => (one > 0 ? bytesCell(one) : noCell()))])}
      />
    </div>
  );
}

const PARTS = [
  ["modules", "By module", "(not known)"],
  ["phases", "By NVTX range", "(outside of any)"],
  ["apis", "By call", "(not known)"],
];

/** The peak by what has no call stack; a list of one part says nothing that the whole did not. */
export function Parts({ peak }) {
  return PARTS.filter(([name]) => peak[name].length > 1).map(([name, title, unnamed]) => (
    <div class="panel" key={name}>
      <h3>{title}</h3>
      <Table
        caption={`The peak, ${title.toLowerCase().replace("nvtx", "NVTX")}`}
        columns={[["Bytes", "number"], ["Share", "number wide"], ["Blocks", "number"], [title.slice(3), "where"]]}
        rows={peak[name].map((part) => [
          bytesCell(part.bytes),
          shareCell(part.bytes, peak.bytes),
          countCell(part.blocks),
          part.name ?? unnamed,
        ])}
      />
    </div>
  ));
}

function allocatorText({ name, allocated_bytes: allocated, reserved_bytes: reserved, ...more }) {
  const active = more.active_bytes && more.active_bytes.peak !== allocated.peak ? more.active_bytes.peak : 0;
  return `${name}: at most ${bytesText(allocated.peak)} allocated${
    active > 0 ? `, ${bytesText(active)} active` : ""
  } and ${bytesText(reserved.peak)} reserved; at the end ${bytesText(allocated.current)} in ${counted(
    more.blocks.current,
    "block",
  )} and ${bytesText(reserved.current)}.`;
}

function Retries({ allocator }) {
  if (!(allocator.num_alloc_retries > 0)) return null;
  return (
    <>
      <p class="about">
        Short of memory, it gave its cache back and asked again {counted(allocator.num_alloc_retries, "time")}, for:
      </p>
      <Table
        caption={`What ${allocator.name} was asked for when it had to ask the driver again`}
        columns={[["Retries", "number"], ["At most", "number"], ["Where", "where"]]}
        rows={tellApart(allocator.retried_at).map((row) => [
          countCell(row.retries),
          bytesCell(row.most_requested_bytes),
          placeCell(row),
        ])}
      />
    </>
  );
}

/** Allocators of the program's own, as PyTorch's. */
export function Allocators({ device }) {
  const { allocators } = device;
  if (allocators.length === 0) return null;
  return (
    <div class="panel">
      <h3>Allocators of the program</h3>
      {allocators.map((allocator) => (
        <div key={allocator.name}>
          <p class="about">{allocatorText(allocator)}</p>
          <Retries allocator={allocator} />
        </div>
      ))}
    </div>
  );
}

export function Marks({ device }) {
  const rows = device.at_marks;
  if (rows.length === 0) return null;
  return (
    <div class="panel">
      <h3>At each mark</h3>
      <Table
        caption="Memory at each mark"
        columns={[["Time", "number"], ["Mark", "where"], ["Allocated", "number"], ["Reserved", "number"]]}
        rows={rows.map(({ ns, mark, waterfall }) => [
          timeCell(ns),
          mark,
          bytesCell(waterfall.allocated),
          bytesCell(waterfall.reserved),
        ])}
      />
    </div>
  );
}
