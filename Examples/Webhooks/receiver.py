"""Receives the webhooks of chatbot-service, and prints each event once.

Usage: CHATBOT_WEBHOOK_SECRET=whsec_… python3 receiver.py [PORT]        (pip install standardwebhooks)
"""
import http.server
import json
import os
import sys

from standardwebhooks import Webhook, WebhookVerificationError

secret = Webhook(os.environ["CHATBOT_WEBHOOK_SECRET"])
seen = set()  # A real receiver keeps these in its database, in the transaction of what it does for an event.


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1 << 20))
        try:
            secret.verify(body, {name.lower(): value for name, value in self.headers.items()})
        except WebhookVerificationError:
            return self.answer(401)
        event = json.loads(body)
        # The same event may come twice: after a lost answer, or because somebody replayed it.
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            print(event["job"]["id"], event["sequence"], event["type"], json.dumps(event["data"]), flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver) as server:
        print("listening on port", server.server_port, flush=True)
        server.serve_forever()
