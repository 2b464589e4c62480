#!/usr/bin/env python3
# tests/report/check_schema.py — holds a JSON report against report.schema.json, and more strictly than a user would.
#
# Usage: check_schema.py SCHEMA REPORT... Ends 0 if every report is valid, 1 if one is not, 2 if it could not tell.
# Members that the schema does not name are errors here: what is written must be documented.
import json
import sys

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is missing: apt-get install python3-jsonschema", file=sys.stderr)
    sys.exit(2)


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


def main(schema_path, *report_paths):
    with open(schema_path) as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    validator = jsonschema.Draft202012Validator(schema)
    bad = 0
    for path in report_paths:
        with open(path) as file:
            report = json.load(file)
        for error in validator.iter_errors(report):
            print(f"{path}: {'/'.join(map(str, error.absolute_path)) or '(top)'}: {error.message[:200]}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print(__doc__ or "usage: check_schema.py SCHEMA REPORT...", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(*sys.argv[1:]))
