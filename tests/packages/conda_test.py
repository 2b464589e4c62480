#!/usr/bin/env python3
# tests/packages/conda_test.py — the recipe for conda says of this project what is true. Nothing here
# can build it.
import json
import re
import subprocess
import unittest

from package import PackageTest, SOURCE

RECIPE = SOURCE / "scripts/conda/meta.yaml"
READ_YAML = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"


class Conda(PackageTest):
    def test_the_recipe_is_of_this_version_and_its_test_works(self):
        project = (SOURCE / "CMakeLists.txt").read_text()
        template = RECIPE.read_text()
        version = re.search(r'^{% set version = "(.*)" %}$', template, re.MULTILINE)[1]
        self.assertEqual(version, re.search(r"project\(vramscope VERSION ([\d.]+)", project)[1])
        plain = re.sub(r"^{%.*", "", template, flags=re.MULTILINE)
        plain = plain.replace("{{ version }}", version)
        plain = re.sub(r"{{ (\w+)\(\"(\w+)\"\) }}", r"\1-\2", plain)  # compiler("cxx"), which conda-build names
        done = subprocess.run(["/usr/bin/python3", "-c", READ_YAML], input=plain, capture_output=True, text=True)
        if done.returncode != 0 and "No module named 'yaml'" in done.stderr:
            self.skipTest("there is no python3-yaml here (./scripts/setup --tests)")
        self.assertEqual(done.returncode, 0, done.stderr)
        recipe = json.loads(done.stdout)
        self.assertEqual(recipe["package"], {"name": "vramscope", "version": version})
        self.assertTrue((RECIPE.parent / recipe["source"]["path"] / recipe["about"]["license_file"]).is_file())
        self.assertIn(recipe["about"]["summary"], project)
        for command in recipe["test"]["commands"]:
            done = self.execute("bash", "-c", command, PATH=f"{self.prefix}/bin:/usr/bin:/bin", PREFIX=str(self.prefix))
            self.assertEqual(done.returncode, 0, (command, done.stdout, done.stderr))


if __name__ == "__main__":
    unittest.main()
