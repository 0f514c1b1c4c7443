"""Runs the built programs with moto as their store, disturbs them, and checks what is in the store at the end.

Usage: service-store.py PROGRAMS FOLDER kills N | outage SECONDS | away SECONDS | full | upload

PROGRAMS is the folder of chatbot and chatbot-service; FOLDER is removed and made again. The interpreter is one with moto and boto3.

kills: jobs are recorded and stored while a proxy disturbs half of the requests, and at each of N points the service is killed, and then the
service with the process of its job, as with a machine; further kills follow while the last job is stored. outage: the store is away for some
seconds, then refuses; copies on the machine go after their time. away: the store is away, and comes back. full: the store is away until
the disk of the data folder is full (a file system in memory, so it needs to be root, and holds if it is not). upload: chatbot --record --store,
with a recorder and an upload that are killed, and a store that refuses.

Exits with 1, after a line for each thing that does not hold.
"""
import glob
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import boto3

programs, folder, mode = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
pick = random.Random(5)
started, failures = [], []


def expect(holds, text):
    if not holds:
        failures.append(text)
        print("does not hold:", text, flush=True)


def wait(what, limit, body):
    end = time.time() + limit
    while time.time() < end:
        found = body()
        if found:
            return found
        time.sleep(0.2)
    expect(False, f"{what} within {limit} s")
    return None


def free_port():
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        return end.getsockname()[1]


class Helper:
    """moto, or the proxy: writes a line of JSON when it runs, and ends with its input."""

    def __init__(self, script, *words):
        self.process = subprocess.Popen([sys.executable, "-u", f"{here}/{script}", *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        started.append(self.process)
        self.first = json.loads(self.process.stdout.readline())

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()


shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
store = Helper("moto-s3.py", "recordings").first
proxy = Helper("s3-proxy.py", store["endpoint"][7:], "7")
endpoint = f"http://127.0.0.1:{proxy.first['port']}"
s3 = boto3.client("s3", endpoint_url=store["endpoint"], aws_access_key_id=store["key"],
                  aws_secret_access_key=store["secret"], region_name="us-east-1")
credentials = f"{folder}/credentials"
port, server_port = free_port(), free_port()
environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CHATBOT_"))}
environment["CHATBOT_PROGRAM"] = f"{programs}/chatbot"


def write_credentials(key, secret):
    with open(credentials + ".new", "w") as file:
        file.write(f"[default]\naws_access_key_id={key}\naws_secret_access_key={secret}\n")
    os.rename(credentials + ".new", credentials)


def run(program, *words, log=None, variables=None):
    out = open(f"{folder}/{log}", "a") if log else subprocess.DEVNULL
    process = subprocess.Popen([f"{programs}/{program}", *words], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                               env=dict(environment, **(variables or {})))
    started.append(process)
    return process


def read(path, headers=None):
    """Returns the status and the text of an answer."""
    try:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers or {})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)


def token():
    with open(f"{folder}/data/admin.token") as file:
        return {"Authorization": "Bearer " + file.read().strip(), "Content-Type": "application/json"}


def call(method, path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body.encode() if body else None,
                                     method=method, headers=token())
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def metric(name):
    for line in read("/metrics", token())[1].splitlines():
        if line.split(" ")[0] == name:
            return float(line.split(" ")[1])
    return None


def start_service():
    process = run("chatbot-service", "run", "--config", f"{folder}/config.yaml", log="service.log")
    wait("the service", 60, lambda: os.path.exists(f"{folder}/data/admin.token") and read("/healthz")[0] == 200)
    return process


def start_room(users=2, size="160x120"):
    run("chatbot", "serve", "--port", str(server_port))
    time.sleep(2)
    for number in range(users):
        run("chatbot", "--server", f"ws://127.0.0.1:{server_port}", "--room", "100", "--name", f"user {number}", "--play",
            "pattern", "--size", size, "--fps", "15")
    time.sleep(2)


def keys():
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket="recordings")
    return [item["Key"] for page in pages for item in page.get("Contents", [])]


def check_store(prefix, name="recording.json", job=""):
    """Checks the description below a prefix, or of a job: every object is there once, whole and unchanged."""
    found = [key for key in keys() if key.startswith(prefix) and key.endswith(f"{job}/{name}")]
    expect(len(found) == 1, f"one {name}: {found}")
    if not found:
        return None
    document = json.loads(s3.get_object(Bucket="recordings", Key=found[0])["Body"].read())
    listed = {f"{prefix}/{item['object']}": item for item in document["objects"]}
    for key, item in listed.items():
        content = s3.get_object(Bucket="recordings", Key=key)["Body"].read()
        whole = len(content) == item["bytes"] and hashlib.sha256(content).hexdigest() == item["sha256"]
        expect(whole, f"{key} is whole")
    own = found[0][:-len(name)]
    others = [key for key in keys() if key.startswith(own) and key not in listed and not key.endswith(".json")]
    expect(not others, f"nothing else is below the path: {others}")
    for user in document["users"]:
        for attempt in {file["attempt"] for file in user["files"]}:
            segments = sorted(file["segment"] for file in user["files"]
                              if file["kind"] == "webm" and file["attempt"] == attempt)
            expect(segments == list(range(1, len(segments) + 1)), f"all segments of attempt {attempt}: {segments}")
    return document


def write_settings(more="", free="1MB"):
    with open(f"{folder}/config.yaml", "w") as file:
        file.write(f"""listen: 127.0.0.1:{port}
data: {folder}/data
store:
  url: s3://recordings/calls
  endpoint: {endpoint}
  credentialsFile: {credentials}
servers:
  main: ws://127.0.0.1:{server_port}
limits: {{minimumFree: {free}, cpu: 100}}
record: {{segment: 2s}}
orphanLimit: 60s
{more}
""")


def finish(job, limit=180):
    def ended():
        state = call("GET", f"/v1/jobs/{job}")
        return state if state["state"] in ("finished", "failed", "cancelled") else None

    state = wait("the end of the job", limit, ended)
    expect(state and state["state"] == "finished", f"the job is finished: {state}")
    document = check_store("calls", job=job)
    expect(document and document["complete"], "the recording is complete")
    events, after = [], ""
    while True:
        page = call("GET", f"/v1/jobs/{job}/events?limit=200{after}")["events"]
        if not page:
            break
        events += page
        after = f"&after={page[-1]['id']}"
    expect([event["sequence"] for event in events] == list(range(1, len(events) + 1)), "events without holes")
    files = [event["data"]["object"] for event in events if event["type"] == "recording.file"]
    expect(len(files) == len(set(files)) > 0, "each file has one event")
    expect([event["type"] for event in events][-2:] == ["recording.finished", "job.finished"], "the description is last")
    return document


def kills(count):
    write_settings()
    start_room()
    service = start_service()
    proxy.say("0.5 503 delay cutRequest cutAnswer refuse error200")
    # The kills of the processes of each job. After a few, it is stopped and stored while the next one runs: a job whose attempts end
    # early five times in a row gets no further one.
    killed = {}
    for number in range(count):
        if not killed or killed[job] == 3:
            if killed:
                call("POST", f"/v1/jobs/{job}/stop")
            job = call("POST", "/v1/jobs", '{"kind": "record", "room": "100"}')["id"]
            killed[job] = 0
        for is_node in [False, True]:
            if is_node:
                wait("a process of the job", 60, lambda: process_of(job))
            time.sleep(pick.uniform(0.3, 2.2))
            service.kill()
            service.wait()
            process = process_of(job) if is_node else None
            if process:
                os.kill(process, signal.SIGKILL)
                killed[job] += 1
            service = start_service()
    wait("the last attempt", 60, lambda: call("GET", f"/v1/jobs/{job}")["state"] == "running")
    time.sleep(3)
    call("POST", f"/v1/jobs/{job}/stop")
    for number in range(max(2, count // 4)):
        time.sleep(pick.uniform(0.05, 0.8))
        service.kill()
        service.wait()
        service = start_service()
    proxy.say("0")
    for job, times in killed.items():
        document = finish(job)
        expect(document and len(document["attempts"]) >= times, f"an attempt for each of {times} kills of {job}")
    print("kills of the service and of the node:", 2 * count, "with processes of jobs:", sum(killed.values()), flush=True)
    expect(sum(killed.values()) >= count * 3 // 4, "the processes of jobs are killed")


def process_of(job):
    """Returns the process of the newest attempt of a job, by its journal; None if there is none."""
    journals = glob.glob(f"{folder}/data/jobs/{job}/*/journal.ndjson")
    if not journals:
        return None
    newest = max(journals, key=lambda path: int(path.split("/")[-2].split("-")[0]))
    with open(newest) as file:
        first = file.readline()
    # One that was started too late has nothing to do, and says only that.
    process = json.loads(first).get("process") if first.endswith("\n") else None
    # Only a process that holds the lock has the id.
    is_held = subprocess.run(["flock", "--nonblock", os.path.dirname(newest) + "/lock", "true"]).returncode
    return process if is_held else None


def away(seconds):
    write_settings()
    start_room()
    start_service()
    job = call("POST", "/v1/jobs", '{"kind": "record", "room": "100"}')["id"]
    wait("the first file", 30, lambda: metric('chatbot_uploads_total{result="stored"}'))
    proxy.say("1 refuse")
    time.sleep(seconds)
    expect(metric("chatbot_spool_files") > seconds / 4, "files wait")
    expect(metric("chatbot_spool_oldest_seconds") > seconds / 2, "they wait for long")
    expect(read("/readyz")[0] == 200, "a store that is away does not end readiness")
    proxy.say("0")
    call("POST", f"/v1/jobs/{job}/stop")
    document = finish(job)
    expect(document and all(not user["gaps"] for user in document["users"]), "nothing is missing")


def outage(seconds):
    write_settings("retention: {local: 10s}")
    start_room()
    start_service()
    job = call("POST", "/v1/jobs", '{"kind": "record", "room": "100"}')["id"]
    wait("the first file", 30, lambda: metric('chatbot_uploads_total{result="stored"}'))
    proxy.say("1 refuse")
    time.sleep(seconds)
    expect(metric("chatbot_spool_files") > 0 and metric("chatbot_spool_bytes") > 0, "files wait")
    expect(read("/readyz")[0] == 200, "a store that is away does not end readiness")
    write_credentials(store["otherKey"], store["otherSecret"])
    proxy.say("0")
    refusal = wait("readyz names the refusal", 90, lambda: (lambda found: found[0] == 503 and found[1])(read("/readyz")))
    expect(refusal and "403" in refusal, f"readyz names 403: {refusal}")
    write_credentials(store["key"], store["secret"])
    wait("readiness", 120, lambda: read("/readyz")[0] == 200)
    wait("an empty spool", 150, lambda: (metric("chatbot_spool_files") or 0) <= 4)
    time.sleep(25)
    rows = len([file for file in call("GET", f"/v1/jobs/{job}/files")["files"] if file["kind"] in ("webm", "ogg")])
    local = len(glob.glob(f"{folder}/data/jobs/*/*/media/*.webm") + glob.glob(f"{folder}/data/jobs/*/*/media/*.ogg"))
    expect(local < rows, f"copies are removed: {local} of {rows}")
    call("POST", f"/v1/jobs/{job}/stop")
    finish(job)
    wait("the folder goes", 60, lambda: not glob.glob(f"{folder}/data/jobs/*"))


def full():
    os.makedirs(f"{folder}/data")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", f"{folder}/data"], capture_output=True).returncode:
        print("A file system in memory cannot be mounted.")
        return
    try:
        write_settings(free="8MB")
        start_room(size="640x480")
        start_service()
        job = call("POST", "/v1/jobs", '{"kind": "record", "room": "100"}')["id"]
        wait("the first file", 30, lambda: metric('chatbot_uploads_total{result="stored"}'))
        proxy.say("1 refuse")
        wait("a full disk", 300, lambda: shutil.disk_usage(f"{folder}/data").free < 100_000)
        time.sleep(10)
        expect(read("/readyz")[0] == 503, "no job is accepted on a full disk")
        proxy.say("0")
        wait("free space", 150, lambda: shutil.disk_usage(f"{folder}/data").free > 5_000_000)
        time.sleep(5)
        call("POST", f"/v1/jobs/{job}/stop")

        def ended():
            state = call("GET", f"/v1/jobs/{job}")
            return state if state["state"] in ("finished", "failed") else None

        state = wait("the end of the job", 150, ended)
        document = check_store("calls")
        print("reason:", state and state["reason"], "complete:", document and document["complete"], "missing:",
              document and document["missing"], flush=True)
        expect(document and len(document["users"]) == 2, "both users")
    finally:
        for process in started[2:]:
            process.kill()
        time.sleep(1)
        subprocess.run(["umount", "-l", f"{folder}/data"], capture_output=True)


def record(out, url, *words, variables=None, log="record.log"):
    own = {"AWS_ACCESS_KEY_ID": store["key"], "AWS_SECRET_ACCESS_KEY": store["secret"], "AWS_ENDPOINT_URL_S3": endpoint}
    return run("chatbot", "--server", f"ws://127.0.0.1:{server_port}", "--room", "100", "--record", f"{folder}/{out}",
               "--store", url, "--segment", "2s", *words, log=log, variables=dict(own, **(variables or {})))


def child_of(process):
    def found():
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as file:
                    fields = file.read().rsplit(")", 1)[1].split()
                with open(path[:-4] + "cmdline") as file:
                    command = file.read()
            except OSError:
                continue
            if int(fields[1]) == process.pid and "upload" in command:
                return int(path.split("/")[2])
        return None

    return wait("the upload", 20, found)


def text(log):
    with open(f"{folder}/{log}") as file:
        return file.read()


def upload():
    start_room()
    # One that is left alone. The secret is not in the recorder's environment.
    recorder = record("a", "s3://recordings/a", log="a.log")
    wait("a segment", 40, lambda: any(key.startswith("a/") and key.endswith(".webm") for key in keys()))
    with open(f"/proc/{recorder.pid}/environ", "rb") as file:
        expect(store["secret"].encode() not in file.read(), "the recorder has no secret")
    expect(not any(key.endswith("recording.json") for key in keys()), "no description while it is recorded")
    recorder.send_signal(signal.SIGINT)
    code = recorder.wait(60)
    expect(code == 0, f"exit code 0: {code} {text('a.log')[-400:]}")
    expect("recording.json" in text("a.log"), "the description is named")
    document = check_store("a")
    expect(document and document["complete"] and len(document["users"]) == 2, "two users")
    # The upload is killed: the recording goes on, the exit code says it, and the next upload goes on.
    recorder = record("b", "s3://recordings/b", log="b.log")
    wait("a segment", 40, lambda: any(key.startswith("b/") and key.endswith(".webm") for key in keys()))
    os.kill(child_of(recorder), signal.SIGKILL)
    time.sleep(3)
    expect(recorder.poll() is None, "the recording goes on")
    recorder.send_signal(signal.SIGINT)
    code = recorder.wait(60)
    expect(code == 74, f"exit code 74: {code} {text('b.log')[-400:]}")
    variables = {"AWS_ACCESS_KEY_ID": store["key"], "AWS_SECRET_ACCESS_KEY": store["secret"]}
    again = run("chatbot-service", "upload", f"{folder}/b", "--store", "s3://recordings/b", "--endpoint", endpoint,
                log="b2.log", variables=variables)
    code = again.wait(60)
    expect(code == 0, f"exit code 0 of the next upload: {code} {text('b2.log')[-400:]}")
    document = check_store("b")
    expect(document and document["complete"], "all of it")
    # Killed at random moments while the proxy disturbs it.
    proxy.say("0.4 503 delay cutRequest cutAnswer refuse error200")
    for number in range(6):
        one = run("chatbot-service", "upload", f"{folder}/a", "--store", "s3://recordings/d", "--endpoint", endpoint,
                  variables=variables)
        time.sleep(pick.uniform(0.1, 1.5))
        one.kill()
        one.wait()
    proxy.say("0")
    one = run("chatbot-service", "upload", f"{folder}/a", "--store", "s3://recordings/d", "--endpoint", endpoint,
              log="d.log", variables=variables)
    code = one.wait(60)
    expect(code == 0, f"exit code 0 after kills: {code} {text('d.log')[-400:]}")
    check_store("d")
    # The recorder is killed: the upload repairs what was not finished, and goes on alone.
    recorder = record("c", "s3://recordings/c", log="c.log")
    wait("a segment", 40, lambda: any(key.startswith("c/") and key.endswith(".webm") for key in keys()))
    recorder.kill()
    recorder.wait()
    wait("the description", 60, lambda: any(key.startswith("c/") and key.endswith("recording.json") for key in keys()))
    document = check_store("c")
    expect(document and document["complete"], "repaired and stored")
    # A store that refuses ends it before the room is joined.
    recorder = record("e", "s3://recordings/e", log="e.log",
                      variables={"AWS_ACCESS_KEY_ID": store["otherKey"], "AWS_SECRET_ACCESS_KEY": store["otherSecret"]})
    code = recorder.wait(40)
    expect(code == 74 and "403" in text("e.log"), f"a refusal: {code} {text('e.log')[-400:]}")
    expect(store["otherSecret"] not in text("e.log"), "no secret in the log")
    recorder = record("f", "s4://recordings/f", log="f.log")
    code = recorder.wait(40)
    expect(code == 64, f"a wrong URL: {code} {text('f.log')[-300:]}")


try:
    write_credentials(store["key"], store["secret"])
    if mode == "kills":
        kills(int(sys.argv[4]))
    elif mode == "away":
        away(float(sys.argv[4]))
    elif mode == "outage":
        outage(float(sys.argv[4]))
    elif mode == "full":
        full()
    else:
        upload()
finally:
    for process in reversed(started):
        if process.poll() is None:
            process.terminate()
    time.sleep(1)
    for process in started:
        if process.poll() is None:
            process.kill()
print("all holds" if not failures else f"{len(failures)} things do not hold", flush=True)
sys.exit(1 if failures else 0)
