// tests/report/ajv/validate.mjs — the other validator: holds JSON documents against a schema with ajv.
//
// Usage: node validate.mjs NODE_MODULES FILE... <SCHEMA. Of a .jsonl each line is a document. Prints a JSON list of
// what is wrong: [file, line (0: the whole file), message].
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [modules, ...files] = process.argv.slice(2);
const Ajv2020 = createRequire(modules + "/")("ajv/dist/2020.js").default;

const validate = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true })
    .compile(JSON.parse(readFileSync(0, "utf8")));

function* documentsOf(file) {
    const text = readFileSync(file, "utf8");
    if (!file.endsWith(".jsonl")) {
        yield [0, text];
        return;
    }
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    for (const [at, line] of lines.entries()) yield [at + 1, line];
}

const wrong = [];
for (const file of files) {
    for (const [line, text] of documentsOf(file)) {
        let document;
        try {
            document = JSON.parse(text);
        } catch (problem) {
            wrong.push([file, line, problem.message]);
            continue;
        }
        if (validate(document)) continue;
        for (const error of validate.errors.slice(0, 5)) wrong.push([file, line, `${error.instancePath} ${error.message}`]);
    }
}
process.stdout.write(JSON.stringify(wrong));
