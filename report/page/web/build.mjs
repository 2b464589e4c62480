// report/page/web/build.mjs — bundles the page into one HTML text, and that into a C++ source.
//
// Usage: node build.mjs MODULES OUTPUT.cpp. MODULES is the folder where `npm ci` was run. The page
// runs only the script and the style whose hashes are in its policy; the licences of what was
// bundled are in it.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [modules, output] = process.argv.slice(2);
const source = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, "package.json"))("esbuild");

const bundled = await esbuild.build({
  absWorkingDir: source,
  entryPoints: { page: "src/main.jsx", style: "src/style.css" },
  outdir: "out",
  write: false,
  metafile: true,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome109", "firefox115", "safari16"],
  jsx: "automatic",
  jsxImportSource: "preact",
  nodePaths: [join(modules, "node_modules")],
});
const textOf = (ending) => bundled.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

function licences() {
  const names = new Set();
  for (const input of Object.keys(bundled.metafile.inputs)) {
    const found = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (found) names.add(found[1]);
  }
  return [...names].sort().map((name) => {
    const folder = join(modules, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no licence file`);
    return `${name} ${version}\n\n${readFileSync(join(folder, file), "utf8").trim()}`;
  });
}

const script = textOf(".js");
const style = textOf(".css");
const policy =
  `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; ` +
  "img-src data:; base-uri 'none'; form-action 'none'";
const html = `<!doctype html>
<!-- A report, written by vramscope -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>vramscope</title>
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<noscript><p>This page draws with the script inside it, which loads nothing; the same in text: vramscope report LOG.</p></noscript>
<footer>
<details>
<summary>Licences of the libraries in this page</summary>
<pre>${escaped(licences().join("\n\n\n"))}</pre>
</details>
</footer>
<script type="application/json" id="data">@VRAMSCOPE_DATA@</script>
<script>${script}</script>
</body>
</html>
`;

const bytes = [...Buffer.from(html)];
const lines = [];
for (let at = 0; at < bytes.length; at += 32) lines.push(`    ${bytes.slice(at, at + 32).join(",")},`);
writeFileSync(
  output,
  `// Made by report/page/web/build.mjs.
#include "report/page/template.hpp"

namespace vramscope::report {
namespace {

constexpr unsigned char kPage[] = {
${lines.join("\n")}
};

} // namespace

std::string_view page_template() noexcept
{
    return {reinterpret_cast<const char*>(kPage), sizeof kPage};
}

std::string_view why_no_page() noexcept
{
    return {};
}

} // namespace vramscope::report
`,
);
console.log(`page: ${script.length} bytes of script, ${style.length} of style, ${bytes.length} in all`);
