"""A store of S3 that keeps sizes and metadata only, for measuring who sends. Writes its endpoint, and runs until its input ends."""
import re
import socket
import sys
import threading

objects, uploads, lock = {}, {}, threading.Lock()


def answer(connection, status, headers=(), body=b"", head_only=False):
    lines = [f"HTTP/1.1 {status}", *headers]
    if not any(line.startswith("Content-Length") for line in lines):
        lines.append(f"Content-Length: {len(body)}")
    connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if head_only else body))


def handle(connection, method, path, query, head, length, buffered):
    meta = re.search(r"x-amz-meta-chatbot-sha256: *([0-9a-f]+)", head, re.I)
    upload = re.search(r"uploadId=(\w+)", query)
    kept, rest, view = bytearray(buffered), length - len(buffered), memoryview(bytearray(1 << 20))
    while rest > 0:
        count = connection.recv_into(view, min(rest, 1 << 20))
        if count == 0:
            return False
        if length <= 1 << 16:
            kept += view[:count]
        rest -= count
    condition = re.search(r"if-none-match: *\*", head, re.I)
    with lock:
        if condition and path in objects:
            answer(connection, "412 Precondition Failed", body=b"<Error><Code>PreconditionFailed</Code></Error>")
        elif method == "PUT" and upload:
            uploads[upload[1]][int(re.search(r"partNumber=(\d+)", query)[1])] = length
            answer(connection, "200 OK", ['ETag: "x"'])
        elif method == "PUT":
            objects[path] = (length, meta[1] if meta else "", bytes(kept))
            answer(connection, "200 OK", ['ETag: "x"'])
        elif method == "POST" and upload:
            parts = uploads.pop(upload[1])
            objects[path] = (sum(size for number, size in parts.items() if number), parts[0], b"")
            answer(connection, "200 OK", body=b"<CompleteMultipartUploadResult/>")
        elif method == "POST":
            name = f"u{len(uploads)}{len(objects)}"
            uploads[name] = {0: meta[1] if meta else ""}
            answer(connection, "200 OK", body=b"<InitiateMultipartUploadResult><UploadId>%s</UploadId>"
                   b"</InitiateMultipartUploadResult>" % name.encode())
        elif method == "GET" and upload:
            answer(connection, "200 OK", body=b"<ListPartsResult/>")
        elif method == "GET" and "list-type" in query:
            answer(connection, "200 OK", body=b"<ListBucketResult/>")
        elif method == "DELETE":
            objects.pop(path, None) if not upload else uploads.pop(upload[1], None)
            answer(connection, "204 No Content")
        elif path not in objects:
            answer(connection, "404 Not Found", head_only=method == "HEAD")
        elif method == "HEAD":
            size, digest, _ = objects[path]
            answer(connection, "200 OK", [f"Content-Length: {size}", f"x-amz-meta-chatbot-sha256: {digest}"], head_only=True)
        else:
            answer(connection, "206 Partial Content", body=objects[path][2])
    return True


def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return
            data += piece
        head, _, data = data.partition(b"\r\n\r\n")
        text = head.decode("latin-1")
        method, target, _ = text.split("\r\n")[0].split(" ")
        path, _, query = target.partition("?")
        found = re.search(r"\r\ncontent-length: *(\d+)", text, re.I)
        length = int(found[1]) if found else 0
        body, data = data[:length], data[length:]
        if not handle(connection, method, path, query, text, length, body):
            return


def listen(listener):
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
threading.Thread(target=listen, args=(listener,), daemon=True).start()
sys.stdin.read()
