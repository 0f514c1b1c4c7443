#!/usr/bin/env python3
"""Measures a service of jobs: started by scripts/bench-service.sh, which describes it. Prints a table in Markdown.

The exit code is 1 if a figure is beyond its bound, and 2 if one could not be measured.
"""

import argparse
import glob
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from datetime import datetime

TICKS = os.sysconf("SC_CLK_TCK")
POSTGRESQL = "/usr/lib/postgresql/15/bin"


class Failed(Exception):
    pass


class Service:
    """A running service with a data folder of its own."""

    def __init__(self, options, name, limits, settings=""):
        self.data = os.path.join(options.folder, name)
        os.makedirs(self.data)
        self.port = options.port
        config = os.path.join(options.folder, name + ".yaml")
        with open(config, "w") as file:
            file.write(
                f"listen: 127.0.0.1:{self.port}\ndata: {self.data}\nservers:\n  main: {{url: \"{options.rooms_at}\"}}\n"
                f"limits: {limits}\norphanLimit: 60s\nlog: {{level: warning}}\n{settings}"
            )
        self.log = open(os.path.join(options.folder, name + ".log"), "w")
        self.process = subprocess.Popen(
            [os.path.join(options.programs, "chatbot-service"), "run", "--config", config],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
            env={**os.environ, "CHATBOT_PROGRAM": os.path.join(options.programs, "chatbot")},
        )
        self.local = threading.local()
        until("a service that accepts jobs", 20, self.is_ready)

    def is_ready(self):
        if self.process.poll() is not None:
            raise Failed("the service ended at once: see " + self.log.name)
        try:
            return self.request("GET", "/readyz", token=False)[0] == 200
        except OSError:
            return False

    def token(self):
        with open(os.path.join(self.data, "admin.token")) as file:
            return file.read().strip()

    def request(self, method, path, body=None, token=True):
        """Sends a request on this thread's own connection; returns the status and the answer."""
        headers = {"Authorization": "Bearer " + self.local_token()} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = getattr(self.local, "connection", None)
        # The service closes connections that were idle.
        if connection is not None and time.monotonic() - self.local.used > 5:
            connection.close()
            connection = None
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            self.local.connection = connection
        try:
            connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.local.connection = None
            raise OSError(str(error)) from error
        self.local.used = time.monotonic()
        return answer.status, json.loads(text) if text.startswith(b"{") else None

    def local_token(self):
        if not hasattr(self.local, "token"):
            self.local.token = self.token()
        return self.local.token

    def submit(self, **job):
        for _ in range(100):
            status, answer = self.request("POST", "/v1/jobs", {"kind": "record", **job})
            if status != 429:
                break
            time.sleep(0.2)
        if status != 201:
            raise Failed(f"a job was answered by {status}: {answer}")
        return answer["id"]

    def live(self, job):
        status, answer = self.request("GET", f"/v1/jobs/{job}/live")
        return answer if status == 200 else {}

    def processes(self, jobs):
        """The ids of the processes of jobs."""
        found = []
        for job in jobs:
            attempts = os.listdir(os.path.join(self.data, "jobs", job))
            newest = max(attempts, key=lambda name: int(name.split("-")[0]))
            with open(os.path.join(self.data, "jobs", job, newest, "journal.ndjson")) as file:
                found.append(json.loads(file.readline())["process"])
        return found

    def stop(self, jobs):
        for job in jobs:
            self.request("POST", f"/v1/jobs/{job}/stop")
            time.sleep(0.02)
        until("the end of the jobs", 300, lambda: self.count_unfinished() == 0)

    def count_unfinished(self):
        return sum(
            len(self.request("GET", f"/v1/jobs?limit=200&state={state}")[1]["jobs"])
            for state in ("scheduled", "queued", "starting", "running", "stopping", "storing")
        )

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)


class Database:
    """A server of PostgreSQL with its own settings, on loopback, as the user postgres if this process is root."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="chatbot-postgresql.")
        self.account = {}
        if os.getuid() == 0:
            shutil.chown(self.folder, "postgres", "postgres")
            self.account = {"user": "postgres", "group": "postgres", "extra_groups": []}
        with socket.socket() as end:
            end.bind(("127.0.0.1", 0))
            self.port = end.getsockname()[1]
        self.log = open(os.path.join(self.folder, "log"), "w")
        quiet = {"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log, "cwd": self.folder, **self.account}
        subprocess.run([f"{POSTGRESQL}/initdb", "--pgdata", "data", "--auth", "trust", "--username", "chatbot",
                        "--encoding", "UTF8", "--locale", "C.UTF-8"], check=True, **quiet)
        self.process = subprocess.Popen(
            [f"{POSTGRESQL}/postgres", "-D", "data", "-k", self.folder, "-c", "listen_addresses=127.0.0.1",
             "-c", f"port={self.port}", "-c", "shared_preload_libraries=pg_stat_statements"], **quiet)
        self.url = f"postgresql://chatbot@127.0.0.1:{self.port}/postgres"
        until("database", 30, lambda: subprocess.run(
            [f"{POSTGRESQL}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0)

    def ask(self, statement):
        return subprocess.run(["psql", "-X", "-q", "-A", "-t", "-d", self.url, "-c", statement], check=True,
                              capture_output=True, text=True).stdout.strip()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def until(what, limit, condition):
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"after {limit} s there was no {what}.")
        time.sleep(0.1)


def children(process):
    found = []
    for tasks in glob.glob(f"/proc/{process}/task/*/children"):
        with open(tasks) as file:
            for child in file.read().split():
                found += [int(child)] + children(int(child))
    return found


def cpu_seconds(process, with_children=True):
    """The CPU time of a process, or of one with those that decode for it, in seconds."""
    total = 0
    for one in [process] + (children(process) if with_children else []):
        with open(f"/proc/{one}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def private_mebibytes(process):
    total = 0
    with open(f"/proc/{process}/smaps_rollup") as file:
        for line in file:
            if line.startswith(("Private_Clean:", "Private_Dirty:")):
                total += int(line.split()[1])
    return total / 1024


def shares(processes, seconds, service=None):
    """The share of a core that each process of a job uses during some seconds, in percent; that of the service first, if it is given."""

    def times():
        # Jobs are children of the service that has started them.
        own = [cpu_seconds(service, with_children=False)] if service else []
        return own + [cpu_seconds(process) for process in processes]

    before = times()
    began = time.monotonic()
    time.sleep(seconds)
    span = time.monotonic() - began
    return [100 * (after - first) / span for after, first in zip(times(), before)]


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def milliseconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000


class Table:
    def __init__(self):
        self.is_within = True
        print("| figure | measured | bound | how |\n|:--|--:|--:|:--|")

    def add(self, figure, value, unit, bound, how):
        mark = "" if value <= bound else " **beyond**"
        self.is_within = self.is_within and value <= bound
        print(f"| {figure} | {value:.2f} {unit}{mark} | {bound:g} {unit} | {how} |")

    def add_rate(self, figure, value, unit, bound, how):
        mark = "" if value >= bound else " **below**"
        self.is_within = self.is_within and value >= bound
        print(f"| {figure} | {value:.0f} {unit}{mark} | at least {bound:g} {unit} | {how} |")

    def note(self, figure, text, how):
        print(f"| {figure} | {text} | | {how} |")


def publishers(options, room, count, name, play=("pattern", "--size", "320x240", "--fps", "30")):
    """Fills a room with users who send the pattern, or a file."""
    log = open(os.path.join(options.folder, name + ".log"), "w")
    return subprocess.Popen(
        [os.path.join(options.programs, "chatbot"), "load", "--server", options.rooms_at, "--room", room,
         "--publishers", str(count), "--ramp", "50/s", "--bind-address", "127.0.0.1", "--play", *play],
        stdout=log, stderr=log, stdin=subprocess.DEVNULL,
    )


def end(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def receives(service, job, users, frames=30):
    live = service.live(job)
    return sum(user["counts"]["frames"] > frames for user in live.get("users", [])) >= users


def measure_idle(options, table):
    """Idle jobs, and the service beside them."""
    service = Service(options, "idle", "{minimumFree: 1MB, cpu: 10000, memory: 100}")
    ends = {"nobodyWithin": "1h"}
    first = service.submit(room="idle-0", end=ends)
    until("an idle job", 20, lambda: service.live(first) != {})
    time.sleep(5)
    process = service.processes([first])
    share = shares(process, options.seconds)[0]
    table.add("an idle job, of a core", share, "%", 0.5,
              f"`/proc/ID/stat` of `chatbot job` during {options.seconds} s in an empty room")
    jobs = [first]
    for number in range(1, options.jobs):
        jobs.append(service.submit(room=f"idle-{number}", end=ends))
    until("status of all idle jobs", 180, lambda: len(service.request("GET", "/v1/live")[1]["jobs"]) == options.jobs)
    time.sleep(5)
    processes = service.processes(jobs)
    both = shares(processes, options.seconds, service=service.process.pid)
    table.add(f"the service with {options.jobs} idle jobs, of a core", both[0], "%", 5,
              f"`/proc/ID/stat` of `chatbot-service` during {options.seconds} s")
    table.note(f"the mean of {options.jobs} idle jobs, of a core", f"{sum(both[1:]) / len(processes):.2f} %", "the same")
    # Beside each other, so that pages of the program count as shared.
    memory = [private_mebibytes(process) for process in processes]
    table.add("an idle job, private memory, the highest", max(memory), "MiB", 8, "`/proc/ID/smaps_rollup`, Private_*")
    table.note("an idle job, private memory, the mean", f"{sum(memory) / len(memory):.2f} MiB", "the same")
    table.note("the service, private memory", f"{private_mebibytes(service.process.pid):.1f} MiB", "the same")
    service.stop(jobs)
    service.end()


def submissions(options, service, table, where):
    """Submits jobs at 50 a second."""
    rate, count = 50, 50 * options.seconds
    latencies, problems = [], []
    began = time.monotonic() + 0.5

    def work(offset, step):
        for number in range(offset, count, step):
            due = began + number / rate
            time.sleep(max(0, due - time.monotonic()))
            body = {"kind": "record", "room": f"later-{number}", "startAt": "2099-01-01T00:00:00Z"}
            try:
                status, _ = service.request("POST", "/v1/jobs", body)
            except OSError as error:
                status = str(error)
            # Since it was due, so that a slow answer does not delay the next request without being counted.
            latencies.append(1000 * (time.monotonic() - due))
            if status != 201:
                problems.append(status)

    threads = [threading.Thread(target=work, args=(number, 20)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise Failed(f"{len(problems)} of {count} submissions were refused: {problems[0]}")
    table.add(f"a submission at 50 a second{where}, 99th percentile", percentile(latencies, 99), "ms", 100,
              f"{count} `POST /v1/jobs` of jobs with `startAt`, from when each was due")
    table.note(f"a submission at 50 a second{where}, median", f"{percentile(latencies, 50):.2f} ms", "the same")


def measure_submissions(options, table):
    """Submissions with SQLite."""
    service = Service(options, "submissions", "{minimumFree: 1MB}")
    submissions(options, service, table, "")
    service.process.send_signal(signal.SIGUSR2)
    service.process.wait(timeout=20)


def measure_database(options, table):
    """Submissions and a node at rest with PostgreSQL."""
    if not os.access(f"{POSTGRESQL}/postgres", os.X_OK):
        table.note("submissions with PostgreSQL, statements of a node at rest", "not measured", "there is no postgresql-15")
        return
    database = Database()
    try:
        database.ask("CREATE EXTENSION pg_stat_statements")
        service = Service(options, "database", "{minimumFree: 1MB}", f"node: a\ndatabase: {{url: \"{database.url}\"}}\n")
        submissions(options, service, table, " with PostgreSQL")
        # Folders of jobs that have left something here, as those whose copies stay for some time.
        for job in database.ask("SELECT id FROM jobs LIMIT 200").split():
            os.makedirs(os.path.join(service.data, "jobs", job))
        time.sleep(2)

        def statements():
            return int(database.ask("SELECT COALESCE(SUM(calls), 0) FROM pg_stat_statements "
                                    "WHERE query NOT LIKE '%pg_stat_statements%'"))

        before, began = statements(), time.monotonic()
        time.sleep(60)
        rate = (statements() - before) / (time.monotonic() - began)
        table.add("statements of a node at rest", rate, "a second", 2,
                  f"`pg_stat_statements` during 60 s, with {50 * options.seconds} scheduled jobs and 200 folders of jobs")
        service.process.send_signal(signal.SIGUSR2)
        service.process.wait(timeout=20)
    finally:
        database.end()


def measure_pauses(options, table):
    """How long a pause takes."""
    service = Service(options, "pauses", "{minimumFree: 1MB}")
    crowd = publishers(options, "pauses", 2, "load-pauses")
    job = service.submit(room="pauses")
    until("frames", 60, lambda: receives(service, job, 2))
    effects, answers = [], []
    for _ in range(20):
        asked = time.time()
        status, answer = service.request("POST", f"/v1/jobs/{job}/pause")
        if status != 200:
            raise Failed(f"a pause was answered by {status}: {answer}")
        answers.append(1000 * (time.time() - asked))
        effects.append(milliseconds(answer["effectiveAt"]) - 1000 * asked)
        time.sleep(0.3)
        service.request("POST", f"/v1/jobs/{job}/resume")
        time.sleep(0.3)
    table.add("a pause in effect after, longest of 20", max(effects), "ms", 1000, "`effectiveAt` of `POST /v1/jobs/ID/pause`")
    table.note("the answer to a pause after, longest of 20", f"{max(answers):.1f} ms", "the same request")
    end(crowd)
    service.stop([job])
    service.end()


def measure_rooms(options, table):
    """Users in rooms of five, and all of them in one room."""
    service = Service(options, "rooms", "{minimumFree: 1MB, cpu: 10000}")
    users = 5 * options.rooms

    def cost(rooms, users_of_each, name):
        jobs = [service.submit(room=f"{name}-{number}", record={"verify": False}) for number in range(rooms)]
        # A file has the same bit rate for all, however busy the machine is.
        crowds = [
            publishers(options, f"{name}-{number}", users_of_each, f"load-{name}-{number}", ["samples/test.webm"])
            for number in range(rooms)
        ]
        until("frames of all users", 120, lambda: all(receives(service, job, users_of_each) for job in jobs))
        time.sleep(8)

        def written():
            return sum(service.live(job)["bytesWritten"] for job in jobs)

        before, began = written(), time.monotonic()
        share = sum(shares(service.processes(jobs), options.seconds)) / users
        bits = 8 * (written() - before) / (time.monotonic() - began) / users
        for crowd in crowds:
            end(crowd)
        service.stop(jobs)
        return share, bits

    many, many_bits = cost(options.rooms, 5, "five")
    one, one_bits = cost(1, users, "all")
    if one <= 0:
        raise Failed("the one process used no CPU time.")
    if not 0.8 < many_bits / one_bits < 1.25:
        raise Failed(f"the publishers did not keep up: {many_bits / 1000:.0f} and {one_bits / 1000:.0f} kb/s a user.")
    table.add("users in rooms of five, compared with one process", many / one, "times", 2.5,
              f"{many:.2f} % of a core for each of {users} users in {options.rooms} jobs, {one:.2f} % in one; "
              f"`/proc/ID/stat` during {options.seconds} s, `verify` off, {many_bits / 1000:.0f} and {one_bits / 1000:.0f} kb/s written of a user")
    service.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, help="the folder of chatbot and chatbot-service")
    parser.add_argument("--folder", required=True, help="a folder for everything")
    parser.add_argument("--port", type=int, required=True, help="a free port for the service")
    parser.add_argument("--rooms-at", required=True, help="the URL of a room server")
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rooms", type=int, default=4)
    parser.add_argument("--upload-rate", type=int, help="what scripts/bench-uploads.sh has measured, in MB/s of a core")
    options = parser.parse_args()
    started = []
    launch = subprocess.Popen

    def remembered(*arguments, **keywords):
        process = launch(*arguments, **keywords)
        started.append(process)
        return process

    subprocess.Popen = remembered
    try:
        table = Table()
        for measure in (measure_idle, measure_submissions, measure_database, measure_pauses, measure_rooms):
            measure(options, table)
        if options.upload_rate is None:
            table.note("uploads to a store of S3", "not measured", "there is no program upload-speed")
        else:
            table.add_rate("uploads to a store of S3 on this machine, of a core", options.upload_rate, "MB/s", 80,
                           "`scripts/bench-uploads.sh`")
        return 0 if table.is_within else 1
    except (Failed, OSError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
        print(f"bench-service: {error}", file=sys.stderr)
        return 2
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()


if __name__ == "__main__":
    sys.exit(main())
