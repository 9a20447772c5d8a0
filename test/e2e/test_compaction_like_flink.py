"""Compaction beside Flink's own task: the same tables and options leave as many files."""

import json

import harness
from harness import rows_of

# (data files, delete files) that Flink's task left, and icewright with the same options (they are in expected/).
LIKE_FLINK = {
    "append_v2": (1, 0), "avro_v2": (1, 2), "codecs_v2": (1, 0), "events_v2": (36, 0), "evolve_v3": (1, 0),
    "flights": (16, 0), "lineage_v3": (1, 0), "orc_v2": (1, 2), "plain_v1": (3, 0), "posdel_v2": (4, 1),
    "respec_v2": (16, 0), "upsert_v2": (4, 8), "upsert_v3": (1, 2),
}
# Flink keeps deletes that can apply to nothing where it does not rewrite their manifest; we drop them.
FEWER_THAN_FLINK = {"upgraded_v3": ((1, 0), (1, 2))}
OPTION = {"rewriteAll": "--rewrite-all", "deleteFileThreshold": "--delete-file-threshold"}


def flags(options):
    out = []
    for key, value in options.items():
        out += [OPTION[key]] if value == "true" else [OPTION[key], value]
    return out


def flinks(name, kind):
    return json.loads((harness.FIXTURES / "expected" / name / f"after-rewrite-data-files.{kind}").read_text())


def the_same_options_leave_as_many_files_as_flinks_task(folder):
    with harness.fixtures():
        program = harness.Program(folder)
        java = harness.Java.shared()
        wrong = []
        for name in [*LIKE_FLINK, *FEWER_THAN_FLINK]:
            table = harness.Table(name)
            _, report = program.run("rewrite-data-files", table.id, *flags(flinks(name, "result.json")["options"]))
            assert report["outcome"] == "done" and len(report["snapshot_ids"]) == 1, (name, report)
            after = java.call(f"dump {table.oracle_args}")
            ours, theirs = [(len(d["data_files"]), len(d["delete_files"])) for d in (after, flinks(name, "json"))]
            if (ours, theirs) != FEWER_THAN_FLINK.get(name, (LIKE_FLINK.get(name),) * 2):
                wrong.append(f"{name}: {ours} data and delete files, Flink leaves {theirs}")
            if rows_of(after) != rows_of(harness.expected(name)):
                wrong.append(f"{name}: Java reads {rows_of(after)}")
            if new := harness.new_problems(name, java.call(f"check {table.oracle_args} --soft")):
                wrong.append(f"{name}: {new}")
            if after["snapshots"][-1]["operation"] != "replace":
                wrong.append(f"{name}: {after['snapshots'][-1]}")
        assert not wrong, "\n".join(wrong)


harness.main(the_same_options_leave_as_many_files_as_flinks_task)
