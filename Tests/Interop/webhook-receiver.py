"""A receiver of webhooks that verifies each by the package standardwebhooks, and does what its paths say.

Usage: webhook-receiver.py SECRET… [--tls CERTIFICATE KEY] [--store FOLDER]

It writes a line of JSON for each request, with the result of the verification by each secret, and whether the object that the event
names is a file of the store, and ends with its input. Paths:
/ok; /half fails every second request; /hang answers the first two requests after a minute; /redirect answers with 302 to /stolen;
/gone answers with 410; /large answers with more than anybody reads, without an end; /lost does what /ok does, and closes
every third connection before the answer.
"""
import argparse
import http.server
import json
import os
import ssl
import sys
import threading
import time

from standardwebhooks import Webhook, WebhookVerificationError

options = argparse.ArgumentParser()
options.add_argument("secrets", nargs="+")
options.add_argument("--tls", nargs=2)
options.add_argument("--store")
options = options.parse_args()
webhooks = [Webhook(secret) for secret in options.secrets]
lock = threading.Lock()
counts = {}


def write(value):
    with lock:
        print(json.dumps(value), flush=True)


def is_valid(webhook, body, headers):
    try:
        webhook.verify(body, headers)
        return True
    except WebhookVerificationError:
        return False


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = self.path.split("?")[0]
        with lock:
            counts[path] = counts.get(path, 0) + 1
            count = counts[path]
        status = 204
        if path == "/half" and count % 2 == 1:
            status = 503
        elif path == "/redirect":
            status = 302
        elif path == "/gone":
            status = 410
        elif path == "/large":
            status = 200
        elif path == "/hang" and count <= 2:
            status = 0
        elif path == "/lost" and count % 3 == 0:
            status = -1
        event = json.loads(body)
        key = event["data"].get("object")
        write({
            "exists": key is None or options.store is None or os.path.exists(os.path.join(options.store, key)),
            "path": path, "host": headers.get("host"), "agent": headers.get("user-agent"), "type": headers.get("content-type"),
            "id": headers.get("webhook-id"), "valid": [is_valid(webhook, body, headers) for webhook in webhooks],
            "changed": is_valid(webhooks[0], body + b" ", headers), "event": event, "status": status,
        })
        if status == 0:
            time.sleep(60)
            status = 204
        if status == -1:
            self.close_connection = True
            return
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/stolen")
        if path == "/large":
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"x" * 65536)
            except OSError:
                self.close_connection = True
            return
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
if options.tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*options.tls)
    context.sni_callback = lambda _, name, __: write({"sni": name})
    server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
write({"listening": server.server_port})
sys.stdin.read()
os._exit(0)
