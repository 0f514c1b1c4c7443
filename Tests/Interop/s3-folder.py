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

folder, bucket = sys.argv[1:3]
here = os.path.dirname(os.path.abspath(__file__))
moto = subprocess.Popen([sys.executable, "-u", f"{here}/moto-s3.py", "--unchecked", bucket], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, text=True)
store = json.loads(moto.stdout.readline())
host, _, port = store["endpoint"][7:].rpartition(":")
drafts = folder.rstrip("/") + ".drafts"
os.makedirs(folder, exist_ok=True)
os.makedirs(drafts, exist_ok=True)
# The parts of uploads, by upload and number.
parts = {}


async def read_head(reader):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = await reader.readline()
        if not line:
            return None
        head += line
    return head


def field(head, name):
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return None


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


async def serve(reader, writer):
    server = None
    try:
        head = await read_head(reader)
        if head is None:
            return
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        body = await reader.readexactly(int(field(head, b"content-length") or 0))
        answers, server = await asyncio.open_connection(host, int(port))
        server.write(head[:-2] + b"Connection: close\r\n\r\n" + body)
        await server.drain()
        answer = b""
        while True:
            piece = await answers.read(262144)
            if not piece:
                break
            answer += piece
        if answer.split(b" ")[1:2] in ([b"200"], [b"204"]):
            carried_out(method, target, body, answer)
        writer.write(answer)
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass
    finally:
        for end in [writer, server]:
            if end is not None:
                end.close()


async def main():
    listening = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 20)
    store["endpoint"] = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    print(json.dumps(store), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
moto.stdin.close()
moto.wait(10)
