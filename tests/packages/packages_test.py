#!/usr/bin/env python3
# tests/packages/packages_test.py — installations and packages: what is in them, and that they work.
import os
import re
import shutil
import subprocess
import unittest

from package import BUILD, DEMO, SOURCE, PackageTest


class Installation(PackageTest):
    def test_it_works_from_any_prefix(self):
        moved = self.folder / "moved"
        (self.folder / "first").symlink_to(self.prefix)
        shutil.copytree(self.prefix, moved, symlinks=True)
        self.execute(self.prefix / "bin/vramscope", "--version")
        done = self.execute(moved / "bin/vramscope", "doctor", "--simulate", "1GiB")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(str(moved), done.stdout)
        self.assert_traces(moved / "bin/vramscope")

    def test_no_path_of_the_build_is_in_it(self):
        files = [path for path in self.prefix.rglob("*") if path.is_file()]
        self.assertGreater(len(files), 35)
        for path in files:
            for folder in (SOURCE, BUILD):
                self.assertNotIn(f"{folder}/".encode(), path.read_bytes(), path)
        self.assertIn(f"{SOURCE}/".encode(), (BUILD / "bin/vramscope").read_bytes())  # the search would find it

    def test_nothing_that_a_user_reads_tells_to_build_it(self):
        texts = {path.name: path.read_text() for path in self.prefix.glob("share/man/man1/*")}
        self.assertGreater(len(texts), 20)
        texts["the command"] = self.execute("strings", self.prefix / "bin/vramscope").stdout
        ctest = "cmake -B build -DMEMORYCHECK_TYPE"  # of the reader's own project
        for name, text in texts.items():
            for line in text.replace("\\-", "-").splitlines():
                self.assertTrue(ctest in line or not re.search(r"\bcmake\b|\./scripts/", line), (name, line))

    def test_pkg_config_knows_header_and_preload(self):
        told = self.execute("pkg-config", "--cflags", "--variable=preload", "vramscope",
                            PKG_CONFIG_PATH=str(self.prefix / "lib/pkgconfig"))
        self.assertEqual(told.returncode, 0, told.stderr)
        told = self.execute("pkg-config", "--variable=preload", "vramscope", PKG_CONFIG_PATH=str(self.prefix / "lib/pkgconfig"))
        self.assertTrue(os.path.samefile(told.stdout.strip().replace("\\ ", " "), self.prefix / "lib/libvramscope.so"))

    def test_a_users_project_finds_it_and_tests_with_it(self):
        tree = self.folder / "tree"
        made = self.execute("cmake", "-S", SOURCE / "tests/packages/consumer", "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                            f"-DDEMO={DEMO}")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(self.execute("cmake", "--build", tree).returncode, 0)
        tested = self.execute("ctest", "--test-dir", tree).stdout
        self.assertRegex(tested, r"leaks \.+\**Failed")
        self.assertRegex(tested, r"leaks_within_budget \.+ +Passed")
        self.assertRegex(tested, r"no_gpu_memory \.+\**Failed")  # 110: nothing was seen, which is no verdict
        newer = (SOURCE / "tests/packages/consumer/CMakeLists.txt").read_text().replace("vramscope 0.4", "vramscope 9.0")
        (self.folder / "newer").mkdir()
        (self.folder / "newer/CMakeLists.txt").write_text(newer)
        refused = self.execute("cmake", "-S", self.folder / "newer", "-B", self.folder / "none", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.assertIn('compatible with requested version "9.0"', " ".join(refused.stderr.split()))


    def test_the_pages_example_of_a_project_makes_a_test(self):
        example = re.search(r"^```cmake\n(.*?)^```", (SOURCE / "scripts/README.md").read_text(), re.MULTILINE | re.DOTALL)[1]
        tree = self.folder / "theirs"
        tree.mkdir()
        shutil.copy(SOURCE / "tests/packages/consumer/consumer.cpp", tree / "train.cpp")
        (tree / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.25)\nproject(theirs LANGUAGES CXX)\nadd_executable(train train.cpp)\n{example}")
        made = self.execute("cmake", "-S", tree, "-B", tree / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn("Test #1: train_leaks_nothing", self.execute("ctest", "-N", "--test-dir", tree / "build").stdout)


class Packages(PackageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packages = cls.prefix.parent / "packages"
        subprocess.run(["cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.packages], check=True, capture_output=True)

    def the(self, pattern):
        found = list(self.packages.glob(pattern))
        if not found and pattern.endswith(".rpm") and not shutil.which("rpmbuild"):
            self.skipTest("there is no rpmbuild here")
        self.assertEqual(len(found), 1, pattern)
        return found[0]

    def installed_files(self):
        return {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir()}

    def as_debian_has_them(self):
        """Debian wants manual pages compressed, a changelog, and lintian's overrides told."""
        files = {re.sub(r"^(share/man/.*)$", r"\1.gz", name) for name in self.installed_files()}
        return files | {"share/doc/vramscope/changelog.gz", "share/lintian/overrides/vramscope"}

    def test_each_package_has_what_an_installation_has(self):
        wanted = {"*.deb": self.as_debian_has_them(), "*.tar.gz": self.installed_files()}
        for pattern, listing in {"*.deb": ["dpkg-deb", "--fsys-tarfile"], "*.tar.gz": ["gzip", "-dc"]}.items():
            names = subprocess.run([*listing, self.the(pattern)], check=True, capture_output=True).stdout
            names = subprocess.run(["tar", "t"], input=names, check=True, capture_output=True).stdout.decode().splitlines()
            files = {re.sub(r"^(\./usr|[^/]*)/", "", name) for name in names if not name.endswith("/")}
            self.assertEqual(files, wanted[pattern], pattern)

    def test_the_deb_says_what_it_needs(self):
        fields = self.execute("dpkg-deb", "--field", self.the("*.deb")).stdout
        self.assertRegex(fields, r"Depends: libc6 \(>= 2\.3\d\)")
        self.assertRegex(fields, r"Version: \d+\.\d+\.\d+\n")

    def test_lintian_has_nothing_to_say_of_the_deb(self):
        if not shutil.which("lintian"):
            self.skipTest("there is no lintian here (./scripts/setup --tests)")
        told = self.execute("lintian", "--tag-display-limit", "0", self.the("*.deb"))
        self.assertEqual((told.returncode, re.findall("^[EW]: .*", told.stdout, re.MULTILINE)), (0, []))

    def test_the_rpm_has_what_an_installation_has(self):
        listed = self.execute("rpm", "-qpl", self.the("*.rpm")).stdout.split()
        files = {re.sub(r"^(/usr/share/man/.*)\.gz$", r"\1", name) for name in listed}  # newer ones of rpm compress them
        self.assertLessEqual({f"/usr/{name}" for name in self.installed_files()}, files)
        self.assertNotIn("/usr/share/man/man1", listed)  # it is of another package

    def test_the_rpm_installs_into_a_root_that_has_nothing(self):
        package, root = self.the("*.rpm"), self.folder / "root"
        if os.getuid() != 0:
            self.skipTest("only root can install into another root")
        root.mkdir()
        done = self.execute("rpm", "--root", root, "--nodeps", "--nosignature", "--install", package)  # its libraries are this machine's
        self.assertEqual(done.returncode, 0, done.stderr)
        verified = self.execute("rpm", "--root", root, "--verify", "--nodeps", "vramscope")
        self.assertEqual((verified.returncode, verified.stdout), (0, ""))
        self.assert_traces(root / "usr/bin/vramscope")

    def changed_config(self, *lines):
        config = self.folder / "CPackConfig.cmake"
        config.write_text((BUILD / "CPackConfig.cmake").read_text() + "".join(f"{line}\n" for line in lines))
        return config

    def assert_makes_nothing(self, config, *said, **environment):
        done = self.execute(shutil.which("cpack"), "--config", config, "-B", self.folder / "made", **environment)
        self.assertNotEqual(done.returncode, 0)
        for words in said:
            self.assertIn(words, " ".join(done.stderr.split()))
        self.assertEqual(list((self.folder / "made").rglob("vramscope*")), [])

    def test_a_build_without_the_page_is_not_packed(self):
        config = self.changed_config('set(CPACK_VRAMSCOPE_WHY_NO_PAGE "there is no npm")')
        self.assert_makes_nothing(config, "no page for --html, as there is no npm", "-DVRAMSCOPE_HTML=OFF")

    def test_what_a_deb_is_made_with_is_told_before_anything_is_made(self):
        (self.folder / "bin").mkdir()
        path = str(self.folder / "bin")
        config = self.changed_config("set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)")  # PATH alone
        self.assert_makes_nothing(config, "apt-get install file.", "cpack -G TGZ", PATH=path)
        (self.folder / "bin/file").symlink_to("/bin/true")
        self.assert_makes_nothing(config, "apt-get install dpkg-dev.", PATH=path)


if __name__ == "__main__":
    unittest.main()
