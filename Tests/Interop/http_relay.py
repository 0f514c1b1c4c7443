"""What the proxies of the tests before a store of S3 have in common: they read a request, pass it on by a connection of its own, and
read the answer. It is no program.
"""
import asyncio


class Relay:
    """Listens on this machine, and calls a body for each request.

    server is HOST:PORT. handle(request, writer) answers a request; the connection ends with it. What the other ends do to their
    connections is no failure.
    """

    def __init__(self, server, handle):
        self.host, _, self.port = server.rpartition(":")
        self.handle = handle

    async def listen(self):
        """Returns the port, which the system chooses."""
        self.listening = await asyncio.start_server(self.accept, "127.0.0.1", 0, limit=1 << 20)
        return self.listening.sockets[0].getsockname()[1]

    async def accept(self, reader, writer):
        request = None
        try:
            head = await read_head(reader)
            if head is not None:
                request = Request(self, head, reader)
                await self.handle(request, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            for end in [writer, request and request.server]:
                if end:
                    end.close()


class Request:
    """A request whose body is not read yet."""

    def __init__(self, relay, head, reader):
        self.relay, self.head, self.reader = relay, head, reader
        self.method, self.target, _ = head.split(b"\r\n")[0].decode().split(" ")
        self.length = int(self.field(b"content-length") or 0)
        self.server = None

    def field(self, name):
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.strip().lower() == name:
                return value.strip()
        return None

    async def pass_on(self, body=b""):
        """Sends the head, and what is there of the body, to the server."""
        self.answers, self.server = await asyncio.open_connection(self.relay.host, int(self.relay.port))
        self.server.write(self.head[:-2] + b"Connection: close\r\n\r\n" + body)
        await self.server.drain()

    async def answer(self):
        """Returns the whole answer of the server."""
        answer = b""
        while True:
            piece = await self.answers.read(262144)
            if not piece:
                return answer
            answer += piece


async def read_head(reader):
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = await reader.readline()
        if not line:
            return None
        head += line
    return head
