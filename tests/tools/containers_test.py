#!/usr/bin/env python3
# tests/tools/containers_test.py — the files of tools/containers name what there is, and what they
# have containers do gives a report.
#
# No image is built and no cluster is here: the YAML is read as its manuals say, and the commands are
# run with this build in the place of what the containers would have.
import json
import re
import subprocess
import sys
import unittest

from cli import BUILD, PROGRAMS, SOURCE, VRAMSCOPE, CliTest

FOLDER = SOURCE / "tools/containers"
READ_YAML = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)"


def read(name):
    """By the system's Python, which has Debian's packages."""
    done = subprocess.run(["/usr/bin/python3", "-c", READ_YAML, FOLDER / name], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"SKIPPED: there is no python3-yaml here (./scripts/setup --tests): {done.stderr.splitlines()[-1]}")
        sys.exit(77)
    return json.loads(done.stdout)


COMPOSE, JOB = read("compose.yaml"), read("kubernetes.yaml")


class Containers(CliTest):
    def place(self, word):
        """Where the test has what a container has at this path."""
        places = {"/usr/lib/libvramscope.so": BUILD / "lib/libvramscope.so", "/app": PROGRAMS, "/logs": self.folder / "logs",
                  "/vramscope": self.folder / "brought", "vramscope": VRAMSCOPE}
        for inside, here in places.items():
            if word == inside or word.startswith(inside + "/"):
                return str(here) + word[len(inside):]
        return word

    def assert_reports(self, logs):
        self.assertEqual(len(list(logs.glob("training_demo.*.vsl"))), 1)
        self.assertIn("LEAKS: 17.7 MiB in 101 blocks", self.vramscope("leaks", logs)[1])

    def test_the_services_trace_and_report(self):
        (self.folder / "logs").mkdir()
        said = []
        for name in ("training", "report"):
            service = COMPOSE["services"][name]
            mounted = {volume.split(":")[1] for volume in service["volumes"]}
            for word in service["command"]:
                self.assertTrue(not word.startswith("/") or "/" + word.split("/")[1] in mounted, word)
            done = self.execute(*map(self.place, service["command"]))
            self.assertEqual(done.returncode, 0, done.stderr)
            said.append(done.stdout)
        self.assertIn("LEAKS: 17.7 MiB in 101 blocks", said[1])
        self.assert_reports(self.folder / "logs")
        self.assertEqual(set(COMPOSE["volumes"]), {"logs"})
        self.assertEqual((FOLDER / COMPOSE["services"]["training"]["build"]["context"]).resolve(), SOURCE.resolve())
        self.assertTrue((SOURCE / COMPOSE["services"]["training"]["build"]["dockerfile"]).is_file())

    def test_the_job_traces_an_image_that_does_not_know_us(self):
        pod = JOB["spec"]["template"]["spec"]
        (brings,), (runs,) = pod["initContainers"], pod["containers"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in (brings, runs):
            self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
        self.assertEqual(runs["securityContext"]["capabilities"], {"drop": ["ALL"]})
        for folder in ("brought", "logs"):
            (self.folder / folder).mkdir()
        self.assertEqual(self.execute(*map(self.place, brings["command"])).returncode, 0)
        variables = {entry["name"]: self.place(entry["value"]) for entry in runs["env"]}
        done = self.execute(*map(self.place, runs["command"]), **variables, VRAMSCOPE_SIMULATE="1GiB",  # in a GPU's place
                            LD_LIBRARY_PATH=str(BUILD / "lib/vramscope/simgpu"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_reports(self.folder / "logs")

    def test_the_image_is_made_of_files_that_there_are(self):
        lines = (FOLDER / "Dockerfile").read_text().splitlines()
        copied = [word for line in lines if re.match("COPY (?!--from)", line) for word in line.split()[1:-1]]
        for name in copied:
            self.assertTrue((SOURCE / name).exists(), name)
        needed = re.findall(r"add_subdirectory\((\w+)", (SOURCE / "CMakeLists.txt").read_text())
        self.assertLessEqual(set(needed), set(copied))
        self.assertEqual([line.split()[1] for line in lines if line.startswith("FROM")], ["debian:12", "${BASE}"])


if __name__ == "__main__":
    unittest.main()
