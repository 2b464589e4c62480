#!/usr/bin/env python3
# tests/report/check_schema.py — holds JSON against a schema by two validators, and more strictly
# than a user would.
#
# Usage: check_schema.py [--count] [--ajv] SCHEMA FILE... Of a .jsonl each line is a document. Ends
# 0 if every document is valid, 1 if one is not, 2 if it could not tell, 3 if python3-jsonschema and
# ajv do not agree. --count: ends 0, and prints how many are not valid. --ajv: by that one alone,
# and 77 where it is not installed; python3-jsonschema alone answers there otherwise. Members that
# the schema does not name are errors here: what is written must be documented.
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is missing: run ./scripts/setup --tests", file=sys.stderr)
    sys.exit(2)

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
AJV = pathlib.Path(os.environ.get("VRAMSCOPE_AJV") or CACHE / "vramscope" / "ajv") / "node_modules"


def close(schema):
    """Forbids unnamed members wherever the schema lists named ones."""
    if isinstance(schema, dict):
        if "properties" in schema and "required" in schema:
            schema.setdefault("unevaluatedProperties", False)
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)


def documents_of(path):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    return enumerate(text.splitlines(), start=1) if path.endswith(".jsonl") else [(0, text)]


def by_jsonschema(schema, paths):
    validator = jsonschema.Draft202012Validator(schema)
    for path in paths:
        for line, text in documents_of(path):
            try:
                document = json.loads(text)
            except json.JSONDecodeError as error:
                yield path, line, str(error)
                continue
            for error in validator.iter_errors(document):
                yield path, line, f"/{'/'.join(map(str, error.absolute_path))} {error.message[:200]}"


def by_ajv(schema, paths):
    done = subprocess.run(["node", HERE / "ajv" / "validate.mjs", AJV, *paths], input=json.dumps(schema),
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(f"ajv: {done.stderr.strip()}", file=sys.stderr)
        sys.exit(2)
    return json.loads(done.stdout)


def main(schema_path, *paths, count=False, ajv_alone=False):
    schema = json.loads(pathlib.Path(schema_path).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    if ajv_alone and not AJV.is_dir():
        print("SKIPPED: there is no ajv here (./scripts/setup --tests)")
        return 77
    found = {}
    if AJV.is_dir():
        found["ajv"] = list(by_ajv(schema, paths))
    if not ajv_alone:
        found["python3-jsonschema"] = list(by_jsonschema(schema, paths))
    invalid = {who: {(path, line) for path, line, _ in wrong} for who, wrong in found.items()}
    for who, wrong in found.items():
        for path, line, message in wrong if not count else []:
            print(f"{path}{f':{line}' if line else ''}: {who}: {message}")
    refused = set().union(*invalid.values())
    different = refused - set.intersection(*invalid.values())
    if different:
        for path, line in sorted(different):
            print(f"{path}{f':{line}' if line else ''}: only one of the validators refuses it", file=sys.stderr)
        return 3
    if count:
        print(len(refused))
        return 0
    return 1 if refused else 0


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument not in ("--count", "--ajv")]
    if len(arguments) < 2:
        print("usage: check_schema.py [--count] [--ajv] SCHEMA FILE...", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*arguments, count="--count" in sys.argv[1:], ajv_alone="--ajv" in sys.argv[1:]))
