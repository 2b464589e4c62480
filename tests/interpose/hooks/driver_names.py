# tests/interpose/hooks/driver_names.py — what toolkits say the driver has, and what our two tables
# say about it.
import dataclasses
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).parents[3]
HOOKS = SOURCE / "interpose" / "hooks"
KNOWN_TOOLKITS = (11080, 13000)  # what the tables were made from
PER_THREAD = r"(?:_pt[sd][sz])"


def base_of(symbol):
    """The name without its version and stream form."""
    return re.sub(rf"(_v\d+)?{PER_THREAD}?$", "", symbol)


@dataclasses.dataclass
class Hook:
    """A row of hook_table.def."""
    symbol: str
    base: str
    since: int
    streams: str
    effect: str
    memory: str


class Tables:
    """hook_table.def and classified_names.def."""

    def __init__(self, hooks=HOOKS / "hook_table.def", names=HOOKS / "classified_names.def"):
        fields = r",\s*".join([r"^VRAMSCOPE_HOOK\((\w+)", r"(\w+)", r"(\d+)", r"(\w+)", r"(\w+)", r"(\w+)", ""])
        rows = re.findall(fields, hooks.read_text(), re.MULTILINE)
        self.rows = {symbol: Hook(symbol, base, int(since), *rest) for symbol, base, since, *rest in rows}
        self.bases = {row.base for row in self.rows.values()}
        text = names.read_text()
        groups = re.findall(r'^VRAMSCOPE_NAMES\((\w+), "([^"]+)",\s*([^)]*)\)', text, re.MULTILINE)
        self.groups = [(kind, reason, re.split(r",\s*", listed)) for kind, reason, listed in groups]
        self.listed = [name for _, _, listed in self.groups for name in listed]
        self.words = {kind: re.findall(rf"^VRAMSCOPE_WORD\({kind}, (\w+)\)", text, re.MULTILINE)
                      for kind in ("memory", "owner", "no")}

    def speaks_of(self, *kinds):
        """The rule: somewhere in the name a word of these kinds begins, and no longer one that counts for nothing."""
        words = [word for kind in kinds for word in self.words[kind]]
        return re.compile(f"(?!{'|'.join(self.words['no'])})(?:{'|'.join(words)})").search

    def holes(self, toolkit):
        """Names that speak of memory, and versions of hooked names, that are in neither table."""
        memory_like = self.speaks_of("memory", "owner")
        known = self.bases | set(self.listed)
        names = {name for name in toolkit.bases if memory_like(name)} - known
        return sorted(names | {symbol for symbol in toolkit.symbols if base_of(symbol) in self.bases} - set(self.rows))


@dataclasses.dataclass
class Toolkit:
    version: int
    symbols: set  # exact names: those of the headers and of the stub
    exported: set  # those of the stub
    typedefs: dict  # base: the versions in which its signature changed

    @property
    def bases(self):
        return {base_of(symbol) for symbol in self.symbols} | set(self.typedefs)

    def rows(self):
        """Exported name: (base, since, streams). The n-th version of a typedef is the export with _v<n>."""
        rows = {}
        for base, every_since in self.typedefs.items():
            for number, since in enumerate(sorted(every_since), start=1):
                symbol = base if number == 1 else f"{base}_v{number}"
                for suffix, streams in (("", "legacy"), ("_ptsz", "per_thread"), ("_ptds", "per_thread")):
                    if symbol + suffix in self.exported:
                        rows[symbol + suffix] = (base, since, streams)
        return rows


def exports_of(library):
    table = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in table.splitlines() if re.match(r"cu[A-Z]", line.split()[2])}


def read_toolkit(include, stub=None):
    """The toolkit whose headers are in `include`; None if there is none. A stub of the driver is not needed."""
    if not (include / "cuda.h").is_file():
        return None
    symbols, typedefs = set(), {}
    for header in include.glob("cuda*.h"):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(errors="replace"), flags=re.DOTALL)
        symbols.update(re.findall(r"\bCUDAAPI\s+(cu[A-Z]\w*)\s*\(", text))
        for base, since in re.findall(rf"\bPFN_(cu[A-Z]\w*?)_v(\d+){PER_THREAD}?\s*\)", text):
            typedefs.setdefault(base, set()).add(int(since))
    exported = exports_of(stub) if stub and stub.is_file() else set()
    version = int(re.search(r"#define\s+CUDA_VERSION\s+(\d+)", (include / "cuda.h").read_text())[1])
    return Toolkit(version, symbols | exported, exported, typedefs)


def runtime_names(include):
    """Functions of the CUDA runtime."""
    text = re.sub(r"/\*.*?\*/", "", (include / "cuda_runtime_api.h").read_text(errors="replace"), flags=re.DOTALL)
    return {re.sub(rf"{PER_THREAD}$", "", name) for name in re.findall(r"\bCUDARTAPI\s+(cuda[A-Z]\w*)\s*\(", text)}
