#!/usr/bin/env python3
"""Runs ctest on a build folder and closes with one line: N passed, N failed."""

import argparse
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ET


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--label")
    parser.add_argument("--label-exclude")
    parser.add_argument("--jobs", default="2")
    args = parser.parse_args()

    report = pathlib.Path(args.build).resolve() / "tests.xml"
    report.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", args.build, "--output-on-failure", "--output-junit", str(report),
               "-j", args.jobs, "--progress", "--no-tests=error"]
    if args.label:
        command += ["-L", args.label]
    if args.label_exclude:
        command += ["-LE", args.label_exclude]
    code = subprocess.run(command).returncode
    if not report.exists():
        print("0 passed, 1 failed")
        return code or 1
    passed = failed = skipped = 0
    for case in ET.parse(report).getroot().iter("testcase"):
        status = case.get("status")
        if status == "run":
            passed += 1
        elif status in ("notrun", "disabled"):
            skipped += 1
            print(f"skipped: {case.get('name')}")
        else:
            failed += 1
            print(f"failed: {case.get('name')}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or code else 0


if __name__ == "__main__":
    sys.exit(main())
