"""Shows for each rule of tools/tidy that it catches a violation and passes clean code."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
TIDY = pathlib.Path(__file__).resolve().parent.parent / "tools/tidy"


def load_tidy():
    loader = importlib.machinery.SourceFileLoader("tidy", str(TIDY))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    return module


tidy = load_tidy()


class TidyTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def errors(self, check, *arguments, **options):
        tree = tidy.Tree(self.root)
        getattr(tidy, f"check_{check}")(tree, *arguments, **options)
        return tree.errors

    def assert_one(self, errors, start, part):
        self.assertEqual(len(errors), 1, errors)
        self.assertTrue(errors[0].startswith(start), errors[0])
        self.assertIn(part, errors[0])


class Arrows(TidyTest):
    def test_an_allowed_arrow_passes(self):
        self.write("src/io/file.h", '#include <string>\n\n#include "util/result.h"\n')
        self.write("src/io/CMakeLists.txt", "stele_library(io SOURCES file.cc DEPENDS util)\n")
        self.assertEqual(self.errors("arrows"), [])

    def test_a_forbidden_include_is_found_in_tests_too(self):
        self.write("src/util/a_test.cc", '#include <string>\n#include "io/file.h"\n')
        self.assert_one(self.errors("arrows"), "src/util/a_test.cc:2: arrows:", "src/io")

    def test_a_forbidden_depends_is_found(self):
        self.write("src/codec/CMakeLists.txt", "stele_library(codec\n  DEPENDS util\n  io\n"
                   "  LINK x)\n")
        self.assert_one(self.errors("arrows"), "src/codec/CMakeLists.txt:3: arrows:", "src/io")

    def test_a_library_of_another_folder_is_found(self):
        self.write("src/codec/CMakeLists.txt", "stele_library(io)\n")
        self.assert_one(self.errors("arrows"), "src/codec/CMakeLists.txt:1: arrows:", "not of io")

    def test_unknown_folders_are_found(self):
        self.write("src/misc/a.h", "\n")
        self.write("src/util/b.h", '#include "b2.h"\n')
        self.write("src/io/CMakeLists.txt", "stele_library(io DEPENDS helpers)\n")
        self.assertEqual(len(self.errors("arrows")), 3)

    def test_folders_inside_a_library_belong_to_it(self):
        self.write("src/crawl/cluster/a.h", '#include "archive/archive.h"\n')
        self.assertEqual(self.errors("arrows"), [])

    def test_a_cycle_is_found_even_where_each_arrow_is_allowed(self):
        self.write("src/a/a.h", '#include "b/b.h"\n')
        errors = self.errors("arrows", allowed={"a": ["b"], "b": ["c"], "c": ["a"]})
        self.assert_one(errors, "src:1: arrows:", "a -> b -> c -> a")

    def test_the_table_has_no_cycle(self):
        self.assertIsNone(tidy.find_cycle(tidy.ALLOWED))


class Sizes(TidyTest):
    def body(self, lines, indent=""):
        return f"{indent}void F() {{\n" + f"{indent}  G();\n\n" * (lines // 2) + f"{indent}}}\n"

    def test_code_within_the_limits_passes(self):
        self.write("src/util/a.cc", "namespace stele {\n" + self.body(68) + "}  // namespace\n")
        self.assertEqual(self.errors("sizes"), [])

    def test_long_functions_are_found_in_namespaces_and_classes(self):
        self.write("src/util/a.cc", "namespace stele {\n\n" + self.body(70) + "\n}\n")
        self.write("src/util/b.h", "class B {\n public:\n" + self.body(80, "  ") + "};\n")
        errors = self.errors("sizes")
        self.assertEqual(len(errors), 2, errors)
        self.assertTrue(errors[0].startswith("src/util/a.cc:3: sizes: this function has 72"))
        self.assertTrue(errors[1].startswith("src/util/b.h:3: sizes: this function has 82"))

    def test_a_raw_string_does_not_hide_the_start_of_a_function(self):
        text = 'void F() {\n  G(R"(\n}\nvoid H() {\n)");\n' + "  G();\n" * 80 + "}\n"
        self.write("src/util/a_test.cc", text)
        self.assert_one(self.errors("sizes"), "src/util/a_test.cc:1: sizes:", "86 lines")

    def test_an_exception_with_a_reason_passes(self):
        self.write("src/util/a.cc", self.body(80))
        self.assertEqual(
            self.errors("sizes", exceptions={("src/util/a.cc", "void F() {"): "one table"}), [])

    def test_long_files_are_found_by_their_kind(self):
        for name in ("a.h", "a.cc", "a_test.cc"):
            self.write(f"src/util/{name}", "\n" * 700)
        starts = [error.split(": ")[0] for error in self.errors("sizes")]
        self.assertEqual(starts, ["src/util/a.cc:600", "src/util/a.h:300"])

    def test_long_lines_are_found(self):
        self.write("src/util/a.cc", "\n" + "/" * 101 + "\n")
        self.assert_one(self.errors("sizes"), "src/util/a.cc:2: sizes:", "101 columns")


class Headers(TidyTest):
    def compile_commands(self):
        (self.root / "build").mkdir()
        self.write("src/util/a.cc", "\n")
        command = ("/usr/bin/cmake -E env A=b /usr/bin/ccache g++ -DX=1 -Isrc -O3 -std=gnu++20 "
                   "-Wall -Werror -Winvalid-pch -include pch.hxx -fpch-preprocess -o a.o -c a.cc")
        self.write("build/compile_commands.json", '[{"directory": "%s", "file": "src/util/a.cc", '
                   '"command": "%s"}]' % (self.root.resolve(), command))

    def test_only_what_a_header_needs_is_kept_of_a_command(self):
        words = tidy.compiler_and_flags("/usr/bin/ccache /usr/bin/clang++-16 -I x -isystem y -O2 "
                                        "-include p -Winvalid-pch -Wall -o a.o -c a.cc")
        self.assertEqual(words, ["/usr/bin/clang++-16", "-I", "x", "-isystem", "y", "-Wall"])

    def test_sources_that_were_joined_are_of_the_folder_of_their_library(self):
        root, build = self.root, self.root / "build/release"
        library = build / "src/formats/warc/CMakeFiles/stele_formats_warc.dir/Unity/unity_0_cxx.cxx"
        self.assertEqual(tidy.source_folder(library, root, build), "src/formats/warc")
        self.assertEqual(tidy.source_folder(root / "src/io/a.cc", root, build), "src/io")
        self.assertIsNone(tidy.source_folder(build / "generated/a.cc", root, build))

    def test_a_header_that_leans_on_its_includer_is_found(self):
        self.compile_commands()
        self.write("src/util/good.h", "#pragma once\n#include <string>\nstd::string G();\n")
        self.write("src/util/bad.h", '#include "util/good.h"\nstd::vector<int> B();\n')
        for _ in range(2):  # a bad header is not remembered as a good one
            errors = self.errors("headers", self.root / "build")
            self.assert_one(errors, "src/util/bad.h:1: headers:", "vector")

    def test_a_header_that_leans_on_its_includer_is_found_among_many_alike(self):
        self.compile_commands()
        self.write("src/util/low.h", "#pragma once\nstruct Low {};\n")
        most = '#pragma once\n#include <string>\n#include <vector>\n'
        for name in "abcdef":
            self.write(f"src/util/{name}.h", most + '#include "util/low.h"\n'
                       f"struct {name.upper()} : Low {{ std::vector<std::string> v; }};\n")
        self.write("src/util/no_ours.h", most + "struct X : Low { std::vector<int> v; };\n")
        self.write("src/util/no_standard.h", '#pragma once\n#include <string>\n'
                   '#include "util/low.h"\nstruct Y : Low { std::vector<int> v; };\n')
        errors = self.errors("headers", self.root / "build")
        self.assertEqual([error.split(":")[0] for error in errors],
                         ["src/util/no_ours.h", "src/util/no_standard.h"], errors)

    def test_headers_that_include_much_the_same_share_what_all_of_them_include(self):
        large = {"<a>", "<b>", "<c>", "<d>"}
        includes = {f"{n}.h": large | {f"<{n}>"} for n in range(5)}
        includes |= {f"other{n}.h": {"<x>", "<y>"} for n in range(4)}
        groups = sorted((sorted(headers), names) for headers, names in tidy.alike(includes))
        self.assertEqual(groups, [([f"{n}.h" for n in range(5)], large),
                                  ([f"other{n}.h" for n in range(4)], {"<x>", "<y>"})])

    def test_only_what_a_header_surely_includes_is_shared(self):
        text = '// A.\n#pragma once\n\n#include <a>\n\n#include "b/c.h"\n'
        self.assertEqual(tidy.leading_includes(text), ["<a>", '"b/c.h"'])
        for above in ("#if X\n", "struct Y;\n"):
            self.assertEqual(tidy.leading_includes(f"#include <a>\n{above}#include <b>\n"), ["<a>"])

    def test_a_header_is_compiled_again_when_one_below_it_changes(self):
        self.compile_commands()
        self.write("src/util/low.h", "#pragma once\nstruct Low {};\n")
        self.write("src/util/high.h", '#include "util/low.h"\nstruct High : Low {};\n')
        self.assertEqual(self.errors("headers", self.root / "build"), [])
        self.write("src/util/low.h", "#pragma once\n")
        self.assert_one(self.errors("headers", self.root / "build"), "src/util/high.h:1:", "alone")

    def test_a_missing_build_is_an_error(self):
        self.write("src/util/a.h", "#pragma once\n")
        self.assert_one(self.errors("headers", self.root / "none"), "src:1: headers:", "configure")


class Format(TidyTest):
    def test_code_laid_out_otherwise_is_found_once_per_file(self):
        self.write(".clang-format", "BasedOnStyle: Google\n")
        self.write("src/util/good.cc", "int F() { return 1; }\n")
        self.write("src/util/bad.cc", "int F();\nint  G( );\nint  H( );\n")
        self.assert_one(self.errors("format"), "src/util/bad.cc:2: format:", "make format")


class Registered(TidyTest):
    def test_files_that_nobody_runs_are_found(self):
        self.write("src/util/CMakeLists.txt", "stele_library(util TESTS a_test.cc)\n")
        for name in ("a_test.cc", "b_test.cc", "b_fuzz.cc", "b_bench.cc"):
            self.write(f"src/util/{name}", "\n")
        self.assertEqual(len(self.errors("registered")), 3)

    def test_a_parser_without_a_fuzzer_is_found(self):
        self.write("src/formats/arc/CMakeLists.txt", "stele_library(formats/arc)\n")
        self.assertEqual(self.errors("registered"), [])
        self.write("src/formats/arc/reader.h", "\n")
        self.assert_one(self.errors("registered"), "src/formats/arc/CMakeLists.txt:1:", "fuzzer")


class Formats(TidyTest):
    def test_a_format_without_a_page_is_found(self):
        self.write("src/formats/crawl_log/a.h", "\n")
        self.assert_one(self.errors("formats", golden={}),
                        "src/formats/crawl_log/CMakeLists.txt:1: formats:",
                        "docs/formats/crawl-log.md")
        self.write("docs/formats/crawl-log.md", "\n")
        self.assertEqual(self.errors("formats", golden={}), [])

    def test_a_missing_golden_file_is_found(self):
        errors = self.errors("formats", golden={"arc": ["src/formats/arc/golden/1.arc"]})
        self.assert_one(errors, "tools/tidy:1: formats:", "golden/1.arc")


class Features(TidyTest):
    def test_proofs_that_are_not_there_are_found(self):
        self.write("src/util/a_test.cc", "TEST(Store, W1_Works) {}\n")
        self.write("bench/CMakeLists.txt", "add_test(NAME bench.store COMMAND x)\n")
        self.write("tests/a_test.py", "\n")
        good = ("| W1 | it | works | `stele x` | `*.W1_*`, `tests/a_test.py` |\n"
                "| W2 | it | works | | `bench.store` |\n"
                "| W3 | it | not yet | | |\n")
        self.write("docs/features.md", good)
        self.assertEqual(self.errors("features"), [])
        for row, part in (("| W1 | it | works | | `*.W4_*` |\n", "*.W4_*"),
                          ("| W1 | it | works | | `tests/b_test.py` |\n", "tests/b_test.py"),
                          ("| W1 | it | works | | `bench.moon` |\n", "bench.moon"),
                          ("| W4 | it | partly: much | | |\n", "W4")):
            self.write("docs/features.md", good + row)
            self.assert_one(self.errors("features"), "docs/features.md:4: features:", part)


class Words(TidyTest):
    def test_each_kind_of_violation_is_found(self):
        violations = {
            "a.cc": "// TO" "DO: later\n",
            "b.cc": "\nopen(\"/wo" "rk/x\");\n",
            "c.md": "see /ho" "me/me/x\n",
            "d.txt": "https://regis" "try.npmjs.org/x\n",
            "e.cc": "int a;\t// x\n",
            "f.cc": "int a; \n",
            "g.cc": "int a;",
        }
        for name, text in violations.items():
            self.write(f"src/util/{name}", text)
        errors = self.errors("words")
        self.assertEqual([error.split(":")[0] for error in errors],
                         [f"src/util/{name}" for name in violations], errors)
        self.assertTrue(all(": words: " in error for error in errors))

    def test_large_files_are_found_also_among_data(self):
        self.write("src/util/golden/a.bin", b"\0" * (tidy.MAX_FILE_BYTES + 1))
        self.assert_one(self.errors("words"), "src/util/golden/a.bin:1: words:", "larger")

    def test_reasons_paths_in_urls_binary_and_data_pass(self):
        self.write("src/util/a.cc", "// TO" "DO(waits for C++23): use expected\n")
        self.write("src/util/b.cc", '"http://example.org/ho' 'me/x" "com,example)/ho' 'me/x"\n')
        self.write("src/util/corpus/a_fuzz/1", "tab\t and no newline")
        self.write("src/util/c.bin", b"\0\t ")
        self.write("Makefile", "all:\n\ttrue\n")
        self.write("build/x.cc", "\t")
        self.assertEqual(self.errors("words"), [])


if __name__ == "__main__":
    unittest.main()
