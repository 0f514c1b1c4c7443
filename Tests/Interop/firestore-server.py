#!/usr/bin/env python3
"""A Firestore database in memory, for tests: the part of the REST API that signalling uses.

Documents can be read, listed in pages, created, replaced, deleted and changed by commits; batchGet and a query for all
documents of a collection serve the official client. Users sign in as with the Identity Toolkit and OAuth.

    firestore-server.py [--port N] [--host H]

prints one line of JSON, {"port": N}, and serves until its standard input ends. POST /control changes its behaviour:
    {"require": ["token"]}         only these bearer tokens are accepted; null accepts everybody
    {"refuse": ["token"]}          these bearer tokens are not accepted
    {"apiKey": "key"}              sign-in accepts this key only
    {"status": 503, "retryAfter": 1, "count": 3}   the next requests fail like this; count -1 is for ever
    {"lie": "paging"|"huge"|"fields"|"json"|"html"|"time"|null}   responses are wrong in this way
    {"clear": true}                all documents are deleted
GET /control returns {"documents": {path: fields}, "requests": {method and kind: count}, "tokens": [...]}.
"""

import argparse
import json
import re
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

ROOT = re.compile(r"^projects/([^/]+)/databases/([^/:]+)/documents")


class Database:
    def __init__(self):
        self.lock = threading.Lock()
        self.documents = {}
        self.last = 0
        self.behaviour = {"require": None, "refuse": [], "apiKey": None, "status": None, "lie": None}
        self.requests = {}
        self.tokens = []

    def now(self):
        """A time that is later than every one before, in microseconds."""
        self.last = max(self.last + 1, time.time_ns() // 1000)
        seconds, micros = divmod(self.last, 1_000_000)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + ".%06dZ" % micros

    def view(self, name):
        document = self.documents[name]
        return {"name": name, **document}

    def write(self, name, fields, moment, mask=None):
        old = self.documents.get(name)
        if mask is not None and old is not None:
            merged = dict(old["fields"])
            for key in mask:
                if key in fields:
                    merged[key] = fields[key]
                else:
                    merged.pop(key, None)
            fields = merged
        self.documents[name] = {
            "fields": fields,
            "createTime": old["createTime"] if old else moment,
            "updateTime": moment,
        }

    def children(self, collection):
        depth = collection.count("/") + 1
        return sorted(n for n in self.documents if n.startswith(collection + "/") and n.count("/") == depth)


class Failure(Exception):
    def __init__(self, code, status, message, retry_after=None):
        super().__init__(message)
        self.code, self.status, self.retry_after = code, status, retry_after


DATABASE = Database()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.serve()

    def do_POST(self):
        self.serve()

    def do_PATCH(self):
        self.serve()

    def do_DELETE(self):
        self.serve()

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        path = unquote(parts.path).lstrip("/")
        retry_after = None
        try:
            with DATABASE.lock:
                code, answer = 200, self.answer(path, query, raw)
        except Failure as failure:
            code = failure.code
            retry_after = failure.retry_after
            answer = {"error": {"code": code, "message": str(failure), "status": failure.status}}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            code = 400
            answer = {"error": {"code": 400, "message": str(error), "status": "INVALID_ARGUMENT"}}
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(body)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, path, query, raw):
        if path == "control":
            return self.control(json.loads(raw) if raw else None)
        if path in ("v1/accounts:signUp", "v1/token", "token"):
            return self.sign_in(path, raw)
        if not path.startswith("v1/"):
            raise Failure(404, "NOT_FOUND", "no such path")
        behaviour = DATABASE.behaviour
        path = path[len("v1/"):]
        self.count(path)
        if behaviour["status"] is not None:
            code, retry_after = behaviour["status"], behaviour.get("retryAfter")
            if behaviour.get("count", -1) > 0:
                behaviour["count"] -= 1
                if behaviour["count"] == 0:
                    behaviour["status"] = None
            raise Failure(code, "UNAVAILABLE", "told to fail", retry_after)
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token in behaviour["refuse"] or behaviour["require"] is not None and token not in behaviour["require"]:
            raise Failure(401, "UNAUTHENTICATED", "missing or wrong token")
        lie = self.lie(behaviour["lie"], path)
        if lie is not None:
            return lie
        root = ROOT.match(path)
        if not root:
            raise Failure(404, "NOT_FOUND", "no such database")
        rest = path[root.end():]
        if rest.startswith(":") or rest.rpartition(":")[2] in ("runQuery",):
            return self.operation(rest.rpartition(":")[2], root.group(0) + rest.rpartition(":")[0], raw)
        name = path
        ids = [part for part in rest.split("/") if part]
        body = json.loads(raw) if raw else {}
        if len(ids) % 2 == 1:
            return self.collection(name, query, body)
        return self.document(name, query, body)

    def count(self, path):
        kind = "%s %s" % (self.command, "commit" if path.endswith(":commit") else path.split("/documents")[-1])
        DATABASE.requests[kind] = DATABASE.requests.get(kind, 0) + 1

    def collection(self, name, query, body):
        if self.command == "GET":
            size = int(query.get("pageSize", ["20"])[0])
            after = query.get("pageToken", [""])[0]
            names = [n for n in DATABASE.children(name) if n.rpartition("/")[2] > after]
            page = {"documents": [DATABASE.view(n) for n in names[:size]]} if names else {}
            if len(names) > size:
                page["nextPageToken"] = names[size - 1].rpartition("/")[2]
            return page
        if self.command == "POST":
            identifier = query.get("documentId", [uuid.uuid4().hex[:20]])[0]
            full = name + "/" + identifier
            if full in DATABASE.documents:
                raise Failure(409, "ALREADY_EXISTS", "Document already exists: " + full)
            DATABASE.write(full, body.get("fields", {}), DATABASE.now())
            return DATABASE.view(full)
        raise Failure(400, "INVALID_ARGUMENT", "a collection cannot be changed")

    def document(self, name, query, body):
        if self.command == "GET":
            if name not in DATABASE.documents:
                raise Failure(404, "NOT_FOUND", 'Document "%s" not found.' % name)
            return DATABASE.view(name)
        if self.command == "PATCH":
            mask = query.get("updateMask.fieldPaths")
            DATABASE.write(name, body.get("fields", {}), DATABASE.now(), mask)
            return DATABASE.view(name)
        if self.command == "DELETE":
            DATABASE.documents.pop(name, None)
            return {}
        raise Failure(400, "INVALID_ARGUMENT", "not for a document")

    def operation(self, operation, parent, raw):
        body = json.loads(raw)
        if operation == "commit":
            writes = body.get("writes", [])
            if len(writes) > 500:
                raise Failure(400, "INVALID_ARGUMENT", "maximum 500 writes allowed per request")
            moment = DATABASE.now()
            for write in writes:
                name = write["update"]["name"] if "update" in write else write["delete"]
                if not ROOT.match(name) or name.split("/documents/")[1].count("/") % 2 == 0:
                    raise Failure(400, "INVALID_ARGUMENT", "not a document: " + name)
                exists = write.get("currentDocument", {}).get("exists")
                if exists is not None and exists != (name in DATABASE.documents):
                    raise Failure(409 if not exists else 404, "FAILED_PRECONDITION", "precondition of " + name)
            results = []
            for write in writes:
                if "update" in write:
                    mask = write.get("updateMask", {}).get("fieldPaths") if "updateMask" in write else None
                    DATABASE.write(write["update"]["name"], write["update"].get("fields", {}), moment, mask)
                    results.append({"updateTime": moment})
                else:
                    DATABASE.documents.pop(write["delete"], None)
                    results.append({})
            return {"writeResults": results, "commitTime": moment}
        if operation == "batchGet":
            moment = DATABASE.now()
            return [
                {"found": DATABASE.view(n), "readTime": moment} if n in DATABASE.documents
                else {"missing": n, "readTime": moment}
                for n in body["documents"]
            ]
        if operation == "runQuery":
            moment = DATABASE.now()
            collection = parent + "/" + body["structuredQuery"]["from"][0]["collectionId"]
            found = [{"document": DATABASE.view(n), "readTime": moment} for n in DATABASE.children(collection)]
            return found or [{"readTime": moment}]
        raise Failure(404, "NOT_FOUND", "no operation " + operation)

    def lie(self, kind, path):
        name = "projects/p/databases/(default)/documents/" + path.split("/documents/")[-1]
        moment = "2026-01-01T00:00:00.000001Z"
        if kind == "json":
            return b'{"documents": [{"name": '
        if kind == "html":
            return b"<html><body>Welcome to the hotel's network</body></html>"
        if kind == "huge":
            return json.dumps({"name": name, "fields": {"sdp": {"stringValue": "v=0 " * 1_000_000}},
                               "updateTime": moment}).encode()
        if kind == "paging":
            return {"documents": [], "name": name, "fields": {}, "updateTime": moment, "commitTime": moment,
                    "nextPageToken": uuid.uuid4().hex}
        if kind == "time":
            return {"name": name, "fields": {}, "updateTime": "yesterday", "commitTime": 7}
        if kind == "fields":
            fields = {"sdp": {"mapValue": {}}, "type": 7, "sdpMid": None, "sdpMLineIndex": {"integerValue": "9" * 40}}
            return {"name": name, "fields": fields, "updateTime": moment, "commitTime": moment,
                    "documents": [1, None, [], {"name": 3}, {"name": name + "/x", "fields": fields,
                                                             "updateTime": moment}]}
        return None

    def sign_in(self, path, raw):
        DATABASE.requests["POST " + path] = DATABASE.requests.get("POST " + path, 0) + 1
        if path != "token" and self.headers.get("X-Goog-Api-Key") != DATABASE.behaviour["apiKey"]:
            raise Failure(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.")
        token = "token-" + uuid.uuid4().hex
        DATABASE.tokens.append(token)
        if DATABASE.behaviour["require"] is not None:
            DATABASE.behaviour["require"].append(token)
        if path == "v1/accounts:signUp":
            return {"idToken": token, "refreshToken": "refresh-1", "expiresIn": "3600", "localId": "x"}
        form = parse_qs(raw.decode())
        if path == "v1/token":
            return {"id_token": token, "refresh_token": form["refresh_token"][0], "expires_in": "3600"}
        DATABASE.behaviour["assertion"] = form["assertion"][0]
        return {"access_token": token, "token_type": "Bearer", "expires_in": 3599}

    def control(self, body):
        if body is not None:
            if body.pop("clear", False):
                DATABASE.documents.clear()
            DATABASE.behaviour.update(body)
        short = {n.split("/documents/")[1]: d["fields"] for n, d in DATABASE.documents.items()}
        return {"documents": short, "requests": DATABASE.requests, "tokens": DATABASE.tokens,
                "assertion": DATABASE.behaviour.get("assertion")}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that closes its connection is no error."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1")
    arguments = parser.parse_args()
    server = Server((arguments.host, arguments.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
