#!/usr/bin/env python3
"""rest_catalog.py WAREHOUSE: a REST catalog over a folder of file-system tables, for engines that speak only REST.

Prints its port and serves on 127.0.0.1 until killed. One process, no authentication: for benchmarks only.
"""

import http.server
import json
import pathlib
import re
import sys
import threading

from pyiceberg.catalog.rest import CommitTableRequest
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.table.update import update_table_metadata

WAREHOUSE = pathlib.Path(sys.argv[1])
COMMITS = threading.Lock()


def newest(namespace, table):
    """The metadata folder of a table and its highest version, or None."""
    folder = WAREHOUSE / namespace / table / "metadata"
    versions = [int(found[1]) for path in folder.glob("v*.metadata.json") if (found := re.fullmatch(r"v(\d+)\.metadata\.json", path.name))]
    return (folder, max(versions)) if versions else None


def commit(namespace, table, change):
    folder, version = newest(namespace, table)
    location = folder / f"v{version}.metadata.json"
    metadata = TableMetadataUtil.parse_raw(location.read_text())
    request = CommitTableRequest.model_validate({"identifier": {"namespace": [namespace], "name": table}, **change})
    for requirement in request.requirements:
        requirement.validate(metadata)
    changed = update_table_metadata(metadata, request.updates, enforce_validation=False, metadata_location=str(location))
    (folder / f"v{version + 1}.metadata.json").write_text(changed.model_dump_json(exclude_none=True))
    (folder / "version-hint.text").write_text(str(version + 1))
    (folder / ".version-hint.text.crc").unlink(missing_ok=True)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, code, body=b""):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def parts(self):
        return self.path.split("?")[0].strip("/").split("/")[1:]

    def reply_with_table(self, namespace, table):
        found = newest(namespace, table)
        if not found:
            return self.reply(404, {"error": {"message": "not found", "type": "NoSuchTableException", "code": 404}})
        location = found[0] / f"v{found[1]}.metadata.json"
        return self.reply(200, b'{"metadata-location":"%s","config":{},"metadata":%s}' % (str(location).encode(), location.read_bytes()))

    def do_GET(self):
        parts = self.parts()
        if parts == ["config"]:
            return self.reply(200, {"defaults": {}, "overrides": {}})
        if len(parts) == 2:
            return self.reply(200, {"namespace": [parts[1]], "properties": {}})
        if len(parts) == 4:
            return self.reply_with_table(parts[1], parts[3])
        return self.reply(404, {"error": {"message": self.path, "type": "NotFoundException", "code": 404}})

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        parts = self.parts()
        try:
            with COMMITS:
                if len(parts) == 4:
                    commit(parts[1], parts[3], body)
                    return self.reply_with_table(parts[1], parts[3])
                for change in body.get("table-changes", []):
                    name = change["identifier"]
                    commit(name["namespace"][0], name["name"], {key: change[key] for key in ("requirements", "updates")})
            return self.reply(204)
        except Exception as failure:  # whatever PyIceberg refuses is a conflict to the caller
            return self.reply(409, {"error": {"message": repr(failure)[:500], "type": "CommitFailedException", "code": 409}})

    def do_DELETE(self):
        self.reply(204)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
