# tests/support/kept_json.py — the JSON that tests made vramscope write,
# kept for tests/oracle/schemas_test.py.
#
# In a folder of the build; a document that is there already, byte for byte, is kept once.
import hashlib
import json
import pathlib


def folder_of(build):
    return pathlib.Path(build) / "tests" / "json"


def keep(build, path):
    """Keeps the file, if it is whole and one of ours."""
    try:
        keep_text(build, pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return


def keep_text(build, text):
    """Likewise what was written to stdout."""
    try:
        if not text.startswith(("{\n", '{"schema_version"')) or "schema_version" not in json.loads(text):
            return
    except ValueError:
        return
    folder = folder_of(build)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json").write_text(text, encoding="utf-8")
