"""Runs moto as a store behind a proxy that also writes each object that was stored into a folder, so that a test can look at files.

Usage: s3-folder.py FOLDER BUCKET       FOLDER has a file for each object of the bucket, by its key

Writes a line of JSON as moto-s3.py does, whose endpoint is that of the proxy, and ends with its input. Signatures are not checked, so
that links work. A file appears whole, after the store has answered; it goes when the store has deleted the object.
"""
import asyncio
import json
import os
import re
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True  # Nothing is written into the folder of the tests.
from http_relay import Relay

folder, bucket = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))
moto = subprocess.Popen([sys.executable, "-u", f"{here}/moto-s3.py", "--unchecked", bucket], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, text=True)
store = json.loads(moto.stdout.readline())
drafts = folder.rstrip("/") + ".drafts"
os.makedirs(folder, exist_ok=True)
os.makedirs(drafts, exist_ok=True)
# The parts of uploads, by upload and number.
parts = {}


def write(key, content):
    path = os.path.join(folder, key)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = os.path.join(drafts, str(abs(hash(key))))
    with open(draft, "wb") as file:
        file.write(content)
    os.rename(draft, path)


def carried_out(method, target, body, answer):
    """Does to the folder what the store has done to the bucket."""
    path, _, query = target.partition("?")
    query = urllib.parse.parse_qs(query, keep_blank_values=True)
    key = urllib.parse.unquote(path).lstrip("/").partition("/")[2]
    upload = query.get("uploadId", [None])[0]
    if not key or ".." in key.split("/"):
        return
    if method == "PUT" and upload:
        parts[upload, int(query["partNumber"][0])] = body
    elif method == "PUT":
        write(key, body)
    elif method == "POST" and upload and b"<CompleteMultipartUploadResult" in answer:
        numbers = [int(number) for number in re.findall(rb"<PartNumber>(\d+)</PartNumber>", body)]
        write(key, b"".join(parts.pop((upload, number)) for number in numbers))
    elif method == "DELETE" and not upload:
        try:
            os.remove(os.path.join(folder, key))
        except FileNotFoundError:
            pass


async def serve(request, writer):
    body = await request.reader.readexactly(request.length)
    await request.pass_on(body)
    answer = await request.answer()
    if answer.split(b" ")[1:2] in ([b"200"], [b"204"]):
        carried_out(request.method, request.target, body, answer)
    writer.write(answer)
    await writer.drain()


async def main():
    relay = Relay(store["endpoint"][7:], serve)
    store["endpoint"] = f"http://127.0.0.1:{await relay.listen()}"
    print(json.dumps(store), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
moto.stdin.close()
moto.wait(10)
