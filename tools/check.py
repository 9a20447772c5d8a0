#!/usr/bin/env python3
"""Rules of the code base that a machine can hold: format, layers, sizes, banned calls, docs.

Runs no tests. Prints one line per finding and fails if there is one; sizes between the aim and the
limit are warnings.
"""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A module may include only modules of lower layers.
LAYERS = {
    "base": 0, "codec": 1, "config": 1, "table": 2, "io": 2, "database": 2, "manifest": 3, "catalog": 3, "lock": 3,
    "scan": 4, "commit": 5, "data": 5, "maintain": 6, "schedule": 7, "stream": 8, "sql": 9,
}
# Third-party headers have one home each.
HOMES = {
    r"arrow/|parquet/": ("src/data/",),
    r"nlohmann/": ("src/codec/json",),
    r"sqlite3\.h|libpq-fe\.h|mariadb/|mysql": ("src/database/",),
    r"roaring/|zstd\.h|libdeflate\.h|snappy|lz4|zlib\.h": ("src/codec/",),
    r"zookeeper/": ("src/lock/zookeeper/",),
    r"yaml-cpp/": ("src/config/",),
    r"rocksdb/": ("src/maintain/stored_key_places",),
    r"CLI/": ("apps/",),
    r"spdlog/": ("apps/",),
    r"httplib\.h|prometheus/": ("apps/",),
}
# Pattern, where it is allowed, why it is banned.
BANNED = [
    (r"system_clock::now", ("src/base/clock.cc", "testing/"), "the clock is injected"),
    (r"std::async|\.detach\(\)", (), "threads are made in base/executor"),
    (r"std::j?thread\b", ("src/base/executor", "apps/icewright/cli.cc", "_test.cc", "testing/"),
     "threads are made in base/executor"),
    (r"\bprintf\(|\bfprintf\(", ("testing/", "bench/"), "output goes through streams and fmt"),
    (r"using namespace std", (), "names are spelled out"),
    (r"\bTODO\b|\bFIXME\b|\bXXX\b", (), "what is missing stands in the feature table or in docs/"),
    (r"GTEST_SKIP|DISABLED_", (), "a skipped test is no test"),
    (r"#include <(fmt|boost)/", ("*.cc",), "fmt stays out of headers"),
]
LIMITS = {"header": (200, 800), "source": (500, 800), "test": (600, 800)}

findings: list[str] = []
warnings: list[str] = []


def tracked(*patterns: str) -> list[pathlib.Path]:
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], cwd=ROOT,
                         capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in out.splitlines() if (ROOT / line).is_file()]


def rel(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


def check_format(files: list[pathlib.Path]) -> None:
    tool = shutil.which("clang-format-14")
    if not tool:
        findings.append("clang-format-14 is missing: run make setup")
        return
    result = subprocess.run([tool, "--dry-run", "--Werror", *map(str, files)], capture_output=True, text=True)
    for name in sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", result.stderr, re.M))):
        findings.append(f"{rel(pathlib.Path(name))}: not formatted; run clang-format-14 -i on it")


def check_layers(path: pathlib.Path, text: str) -> None:
    parts = path.relative_to(ROOT).parts
    if parts[0] != "src" or re.search(r"_(test|bench|fuzz)(_[a-z]+)?\.(cc|h)$", path.name):
        return
    module = parts[1]
    for line, include in enumerate(text.splitlines(), 1):
        match = re.match(r'#include "([a-z_]+)/', include)
        if not match or match.group(1) == module or match.group(1) not in LAYERS:
            if match and match.group(1) in ("icewright", "testing"):
                if match.group(1) == "testing":
                    findings.append(f"{rel(path)}:{line}: the product must not include testing/")
            continue
        if LAYERS[match.group(1)] >= LAYERS[module]:
            findings.append(f"{rel(path)}:{line}: {module} (layer {LAYERS[module]}) must not include "
                            f"{match.group(1)} (layer {LAYERS[match.group(1)]})")


def check_homes(path: pathlib.Path, text: str) -> None:
    name = rel(path)
    if name.endswith("_test.cc") or name.startswith(("testing/", "bench/")):
        return
    for line, include in enumerate(text.splitlines(), 1):
        match = re.match(r"#include <([^>]+)>", include)
        if not match:
            continue
        for pattern, homes in HOMES.items():
            if re.match(pattern, match.group(1)) and not name.startswith(homes):
                findings.append(f"{name}:{line}: <{match.group(1)}> belongs in {' '.join(homes)}")


def check_banned(path: pathlib.Path, text: str) -> None:
    name = rel(path)
    for pattern, allowed, why in BANNED:
        if any(name.endswith(a[1:]) if a.startswith("*") else a in name for a in allowed):
            continue
        for line, content in enumerate(text.splitlines(), 1):
            if re.search(pattern, content):
                findings.append(f"{name}:{line}: {pattern}: {why}")


def check_size(path: pathlib.Path, text: str) -> None:
    kind = "header" if path.suffix == ".h" else "test" if path.name.endswith("_test.cc") else "source"
    aim, limit = LIMITS[kind]
    lines = text.count("\n")
    if lines > limit:
        findings.append(f"{rel(path)}: {lines} lines, the limit is {limit}")
    elif lines > aim:
        warnings.append(f"{rel(path)}: {lines} lines, the aim is {aim}")


def check_private_words(files: list[pathlib.Path]) -> None:
    pattern = re.compile(r"/work/|\.\./shared|/tmp/w/|pypi\.org|repo1?\.maven|crates\.io|deb\.debian")
    for path in files:
        if path.suffix in (".zst", ".avro", ".parquet", ".orc") or rel(path) == "tools/check.py":
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for line, content in enumerate(text.splitlines(), 1):
            if pattern.search(content):
                findings.append(f"{rel(path)}:{line}: names a place outside the project")


def check_modules() -> None:
    for module in sorted((ROOT / "src").iterdir()):
        if module.is_dir() and not (module / "README.md").exists():
            findings.append(f"src/{module.name}: no README.md")


def check_links(files: list[pathlib.Path]) -> None:
    for path in files:
        for line, content in enumerate(path.read_text().splitlines(), 1):
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", content):
                if "://" in target:
                    continue
                if not (path.parent / target).exists():
                    findings.append(f"{rel(path)}:{line}: link to {target} leads nowhere")


def check_python(path: pathlib.Path) -> None:
    try:
        compile(path.read_text(), rel(path), "exec")
    except SyntaxError as error:
        findings.append(f"{rel(path)}:{error.lineno}: {error.msg}")


def main() -> int:
    sources = tracked("*.cc", "*.h")
    check_format(sources)
    for path in sources:
        text = path.read_text()
        for check in (check_layers, check_homes, check_banned, check_size):
            check(path, text)
    for path in tracked("*.py"):
        check_python(path)
    check_private_words(tracked())
    check_modules()
    check_links(tracked("*.md"))
    for line in warnings:
        print("warning:", line)
    for line in findings:
        print(line)
    print(f"check: {len(findings)} findings, {len(warnings)} warnings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
