"""Answers for each line of input, a metadata file's location: {"files": every file that its snapshots name, "missing": [...]}.

Manifests are read once; the process stays up.
"""

import json
import os
import sys

from pyiceberg.table import StaticTable

manifests = {}


def path_of(location):
    return location.removeprefix("file:")


for line in sys.stdin:
    table = StaticTable.from_metadata(line.strip())
    files = {entry.metadata_file for entry in table.metadata.metadata_log}
    for snapshot in table.metadata.snapshots:
        files.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(table.io):
            files.add(manifest.manifest_path)
            if manifest.manifest_path not in manifests:
                manifests[manifest.manifest_path] = [
                    entry.data_file.file_path for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)]
            files.update(manifests[manifest.manifest_path])
    files = sorted({path_of(name) for name in files})
    print(json.dumps({"files": files, "missing": [name for name in files if not os.path.exists(name)]}), flush=True)
