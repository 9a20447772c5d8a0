"""`icewright run` over HTTP: metrics that promtool accepts, JSON, actions behind a token, a page in a real browser, and what is in
deploy/ and examples/."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time

import browser
import harness
import race
from service import Service, commits, stopped_child

TOKEN = "a token of the tests, 27 bytes"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
FLINK = "flink_taskmanager_job_task_operator_maintenance_tableName_taskName_taskIndex_"


def a_service(folder, **table):
    token = pathlib.Path(folder) / "token"
    token.write_text(TOKEN + "\n")
    lock = {"type": "jdbc", "jdbc.init-lock-table": "true", "jdbc.uri": f"jdbc:sqlite:{folder}/locks.db"}
    tables = {"race.w.*": {"rate-limit": "300ms", "lock-check-delay": "100ms", "lock": lock,
                           "rewrite-data-files": {"min-input-files": 2, "schedule": {"commit-count": 4}},
                           "expire-snapshots": {"schedule": {"interval": "1h"}}, **table}}
    return Service(folder, tables, http={"port": 0, "token": f"${{file:{token}}}"})


def metrics(text):
    """{series: value}"""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            assert series not in found, f"twice: {series}"
            found[series] = float(value)
    return found


def promtool(*args, **kwargs):
    done = subprocess.run(["promtool", *args], capture_output=True, text=True, **kwargs)
    assert done.returncode == 0 and not done.stderr, f"promtool {args}: {done.returncode}\n{done.stdout}{done.stderr}"


def metrics_and_actions(folder):
    service = a_service(folder)
    race.create(service.program(), ("race.w.t",))
    service.start()
    assert service.json("healthz")["status"] == "ok"
    commits(service, 6)
    service.wait_for(lambda: any(run["outcome"] == "done" for run in service.runs()))
    task = '{table="race.w.t",task="rewrite-data-files"'
    service.wait_for(lambda: f"icewright_task_runs_total{task},outcome=\"done\"}}" in service.get("metrics")[1])
    _, text = service.get("metrics")
    promtool("check", "metrics", input=text)
    found = metrics(text)
    done = [run for run in service.runs() if run["task"] == "rewrite-data-files" and run["outcome"] == "done"]
    assert found[f'icewright_task_runs_total{task},outcome="done"}}'] >= 1, text
    assert found[f'icewright_task_processed_bytes_total{task},kind="rewritten"}}'] >= done[0]["counts"]["rewritten-bytes"], text
    assert found[f"icewright_task_run_duration_seconds_count{task}}}"] >= 1, text
    assert found[f"icewright_task_last_success_timestamp_seconds{task}}}"] >= done[0]["ended"] / 1000, text
    assert abs(found['icewright_task_next_run_timestamp_seconds{table="race.w.t",task="expire-snapshots"}'] - time.time()) < 3700, text
    assert found['icewright_table_up{table="race.w.t"}'] == 1, text
    assert found['icewright_lock_held{table="race.w.t"}'] == 0, text

    # Flink's names and numbers: compaction is 0, expiry is 1.
    _, text = service.get("metrics/flink")
    flink = metrics(text)
    labels = '{job_name="icewright",operator_name="%s",subtask_index="0",tableName="race.w.t",taskName="%s",taskIndex="%s"}'
    rewrite, expire = ("RewriteDataFiles [0]", 0), ("ExpireSnapshots [1]", 1)
    assert flink[FLINK + "triggered" + labels % ("Trigger manager", *rewrite)] >= 1, text
    assert flink[FLINK + "succeededTasks" + labels % ("Lock remover", *expire)] == 0, text
    removed = flink[FLINK + "removedDataFileNum" + labels % ("Rewrite commit[0]", *rewrite)]
    assert removed >= done[0]["counts"]["rewritten-data-files-count"], text
    _, text = service.get("metrics/flink?filter-label-values=true")
    assert 'tableName="race_w_t",taskName="RewriteDataFiles__0_"' in text, text

    # The API says the same.
    files = len(service.program().run("inspect", "race.w.t", "data-files")[1])
    service.wait_for(lambda: service.json("api/tables?search=RACE.w")["tables"][0]["facts"]["data_files"] == files)  # at the next look
    status, = service.json("api/tables?search=RACE.w")["tables"]
    assert [task["id"] for task in status["tasks"]] == ["rewrite-data-files", "expire-snapshots"], status
    assert re.match(r"commit-count \d of 4", status["tasks"][0]["state"]), status
    runs = service.json("api/runs?table=race.w.t")["runs"]
    assert [run["run_id"] for run in runs] == sorted((run["run-id"] for run in service.runs()), reverse=True), runs
    assert runs[-1]["reason"].startswith("commit-count") and runs[-1]["counts"]["rewritten-bytes"] > 0, runs

    # Actions: not without the token, not for what is not there.
    target = {"table": "race.w.t", "task": "expire-snapshots"}
    for headers, body, code in (({}, target, 401), ({"Authorization": "Bearer wrong"}, target, 401), (BEARER, {}, 400),
                                (BEARER, target | {"task": "compact"}, 404), (BEARER, target | {"table": "race.w.u"}, 404)):
        got, text = service.post("api/run", body, **headers)
        assert got == code and "error" in json.loads(text), f"{headers} {body}: {got} {text}"
    assert not any(run["task"] == "expire-snapshots" for run in service.runs())
    assert service.post("api/run", target, **BEARER)[0] == 202
    service.wait_for(lambda: any(run["reason"] == "asked for by hand" and run["outcome"] != "running" for run in service.runs()))
    assert service.post("api/pause", target, **BEARER)[0] == 202
    paused = lambda: service.json("api/tasks")["tasks"][1]["state"] == "paused"
    service.wait_for(paused)
    service.stop()
    service.start()  # and it stays paused
    service.wait_for(paused)
    assert service.post("api/resume", target, **BEARER)[0] == 202
    service.wait_for(lambda: not paused())

    # Nothing shows the token.
    for path in ("", "healthz", "metrics", "metrics/flink", "api/status", "api/tables", "api/tasks", "api/runs", "api/locks"):
        code, text = service.get(path)
        assert code == 200 and TOKEN not in text, path
    service.stop()
    assert TOKEN not in service.text()


def locks_and_trouble_are_shown(folder):
    service = a_service(folder)
    race.create(service.program(), ("race.w.t",))
    service.start()
    service.wait_for(lambda: service.json("api/tables")["tables"][0]["last_look"])
    with contextlib.closing(sqlite3.connect(f"{folder}/locks.db")) as db, db:  # as a Flink job would hold it
        db.execute("INSERT INTO flink_maintenance_lock VALUES ('m', 'race.w.t', 'e2f0bd10-0e6c-4d9c-a3a6-0b3a3d6d6a55')")
    commits(service, 5)
    service.wait_for(lambda: 'icewright_lock_waiting{table="race.w.t"} 1' in service.get("metrics")[1])
    table, = service.json("api/tables")["tables"]
    assert table["waits_for"] == "the lock" and "the lock is held, tried again in" in table["tasks"][0]["state"], table
    lock, = service.json("api/locks?table=race.w.t")["locks"]
    assert lock["held"] and not lock["ours"] and lock["owner"] is None and lock["lease"] is None, lock
    assert not service.runs()
    with contextlib.closing(sqlite3.connect(f"{folder}/locks.db")) as db, db:
        db.execute("DELETE FROM flink_maintenance_lock")
    service.wait_for(lambda: any(run["outcome"] == "done" for run in service.runs()))

    # A table that is away, and a lock that others can read on the way.
    with contextlib.closing(sqlite3.connect(service.database)) as db, db:
        db.execute("UPDATE iceberg_tables SET metadata_location = metadata_location || '.gone'")
    service.wait_for(lambda: 'icewright_table_up{table="race.w.t"} 0' in service.get("metrics")[1])
    table, = service.json("api/tables")["tables"]
    assert table["health"] == "bad" and ".gone" in table["problems"][0], table
    promtool("check", "metrics", input=service.get("metrics")[1])
    service.stop()

    second = Service(folder, {"race.w.t": {"expire-snapshots": {}, "lock": {"type": "zookeeper",
                                                                          "zookeeper.uri": "203.0.113.1:2181",
                                                                          "zookeeper.connection-timeout-ms": "200",
                                                                          "zookeeper.base-sleep-ms": "1",
                                                                          "zookeeper.max-retries": "1"}}},
                     name="second", http={"listen": "0.0.0.0", "port": 0})
    second.start()
    second.wait_for("is reached without TLS")
    assert "can be read by whoever reaches it" in second.text(), second.text()
    second.process.kill()


def the_page_in_a_browser(folder):
    service = a_service(folder, **{"rewrite-manifests": {"schedule": {"commit-count": 1000}}})
    long_name = "race.w.a_table_with_a_name_that_is_much_longer_than_a_telephone_is_wide_" + "x" * 20
    race.create(service.program(), ("race.w.t",), (long_name,))
    service.start()
    with browser.Browser() as page:
        page.size(1280, 900)
        page.open(service.address())
        page.wait_for("document.querySelectorAll('.table').length === 2")
        text = page.wait_for("document.querySelector('#tables').innerText.includes('healthy') && document.body.innerText")
        assert "2 tables, 0 running, 0 with problems" in text, text
        assert "commit-count 0 of 4" in text and "interval" in text, text
        assert page.value("document.querySelector('#running-part').hidden")

        # Live: a run appears with its progress, ends, and is history.
        commits(service, 3)
        page.wait_for("document.body.innerText.includes('commit-count 3 of 4')")
        child = stopped_child(service, lambda: commits(service, 1))
        page.wait_for("document.querySelectorAll('.run-now progress').length === 1")
        text = page.value("document.querySelector('.run-now').innerText")
        assert "race.w.t" in text and "rewrite-data-files" in text and "run 1" in text, text
        page.picture(pathlib.Path(folder) / "running.png")
        os.kill(child, signal.SIGCONT)
        page.wait_for("document.querySelector('#running-part').hidden && document.querySelector('#history .past')")
        text = page.value("document.querySelector('#history').innerText")
        assert "#1" in text and "done" in text and "due: commit-count" in text and "rewritten data files" in text, text

        # Actions: a wrong token is refused with the reason, the right one works.
        page.value("window.said = []; window.alert = (text) => said.push(text); true")
        assert page.value("document.querySelectorAll('.task button').length") == 0
        enter = "(() => { const t = document.querySelector('#token'); t.value = %s; t.oninput(); })()"
        page.value(enter % json.dumps("wrong"))
        pause = "[...document.querySelectorAll('.task')].find((t) => t.innerText.includes('rewrite-manifests')).querySelectorAll('button')[1]"
        page.wait_for(f"document.querySelectorAll('.task button').length && {pause}.innerText === 'Pause'")
        page.value(f"{pause}.click()")
        page.wait_for("said.length === 1 && said[0].includes('Authorization')")
        page.value(enter % json.dumps(TOKEN))
        page.value(f"{pause}.click()")
        page.wait_for(f"{pause}.innerText === 'Resume'")
        assert page.value("said.length") == 1

        # Search, and a table's own history.
        page.value("(() => { const s = document.querySelector('#search'); s.value = 'TELEPHONE'; s.oninput(); })()")
        page.wait_for("document.querySelectorAll('.table').length === 1")
        page.value("document.querySelector('.table a').click()")
        page.wait_for("document.querySelector('#history-title').innerText.includes('TELEPHONE'.toLowerCase()) && "
                      "document.querySelectorAll('#history .past').length === 0")
        page.value("(() => { const s = document.querySelector('#search'); s.value = ''; s.oninput(); })()")
        page.value("document.querySelector('#history-title a').click()")
        page.wait_for("document.querySelectorAll('#history .past').length >= 1")

        # No sideways scrolling, on a desk or on a phone.
        for width, height, phone in ((1280, 900, False), (820, 1100, False), (390, 844, True), (320, 640, True)):
            page.size(width, height, phone)
            page.wait_for(f"window.innerWidth === {width}")
            wide = page.value("document.documentElement.scrollWidth")
            assert wide <= width, f"{wide} > {width}"
            cut = page.value("[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)"
                             ".map((e) => e.className + ': ' + e.innerText)")
            assert not cut, f"at {width}: {cut}"
            small = page.value("[...document.querySelectorAll('main *')].filter((e) => e.innerText && "
                               "parseFloat(getComputedStyle(e).fontSize) < 12).length")
            assert small == 0, f"{small} elements are too small to read"
            page.picture(pathlib.Path(folder) / f"page-{width}.png")
        if os.environ.get("PICTURES"):
            for picture in pathlib.Path(folder).glob("*.png"):
                shutil.copy(picture, os.environ["PICTURES"])

        complaints = [c for c in page.complaints if "401" not in c.get("entry", {}).get("text", "")]  # the wrong token
        assert not complaints and len(page.complaints) == 1, page.complaints
        service.stop()
        page.wait_for("document.querySelector('#lost').innerText.includes('No answer from the service')")


def what_is_deployed_works(folder):
    deploy = harness.ROOT / "deploy"
    promtool("check", "rules", str(deploy / "icewright.rules.yml"))
    promtool("test", "rules", "icewright.rules.test.yml", cwd=deploy)
    promtool("check", "config", "--syntax-only", str(deploy / "prometheus.yml"))
    alerts = (deploy / "icewright.rules.yml").read_text()
    # The unit, with the program where it is.
    unit = (deploy / "icewright.service").read_text().replace("/usr/local/bin/icewright", str(harness.ICEWRIGHT))
    (pathlib.Path(folder) / "icewright.service").write_text(unit)
    if shutil.which("systemd-analyze"):
        done = subprocess.run(["systemd-analyze", "verify", f"{folder}/icewright.service"], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done

    # docs/service.md, "Try it": its commands as they are, on another port.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    document = (harness.ROOT / "docs/service.md").read_text()
    commands = re.search(r"## Try it\n.*?```sh\n(.*?)```", document, re.S).group(1).replace("9340", port)
    work = pathlib.Path(folder) / "work"
    shutil.copytree(harness.ROOT / "examples/service", work / "examples/service")
    config = work / "examples/service/icewright.yaml"
    config.write_text(config.read_text().replace("9340", port))
    path = f"{pathlib.Path(harness.ICEWRIGHT).parent}:{os.environ['PATH']}"
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=work, env=os.environ | {"PATH": path},
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{commands}\nexit {done.returncode}\n{done.stdout}{done.stderr}"
    lines = done.stdout.splitlines()
    assert any('"status":"ok"' in line for line in lines), done.stdout
    assert any('"accepted":true' in line for line in lines), done.stdout
    assert "demo.app.events: run 1 of rewrite-data-files" in done.stderr, done.stderr
    # The rules name metrics that there are.
    known = set(re.findall(r"^# TYPE (\S+)", done.stdout, re.M))
    used = set(re.findall(r"(?:icewright|process)_\w+", " ".join(re.findall(r"expr: (.*)", alerts))))
    # These come with the first success and the first look.
    assert used - known <= {"icewright_task_last_success_timestamp_seconds", "icewright_table_debt_files"}, used - known
    documented = set(re.findall(r"`((?:icewright|process)_\w+)`", document))
    assert known <= documented, f"not in docs/service.md: {known - documented}"


harness.main(metrics_and_actions, locks_and_trouble_are_shown, the_page_in_a_browser, what_is_deployed_works)
