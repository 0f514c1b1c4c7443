#!/usr/bin/env python3
"""Measures a network with STUN and TURN, independently of chatbot. It needs only Python's standard library.

  stun-probe.py behaviour SERVER               mapping and filtering of the NAT in front of this host (RFC 5780, 4.3 and
                                               4.4), and whether it hairpins
  stun-probe.py binding TRANSPORT SERVER PORT  the mapped address and the time of the answer; TRANSPORT is udp, tcp or tls
  stun-probe.py allocate TRANSPORT SERVER PORT USER PASSWORD
                                               the relayed address that a TURN server allocates (RFC 8656)

It prints one JSON object: the result, or {"error": SENTENCE}. A server that does not answer within 2 s counts as
unreachable.
"""

import hashlib
import hmac
import json
import os
import socket
import ssl
import struct
import sys
import time

COOKIE = 0x2112A442
BINDING, ALLOCATE = 0x0001, 0x0003
CHANGE_ADDRESS, CHANGE_PORT = 4, 2
PATIENCE = 2.0


def attribute(kind, value):
    return struct.pack("!HH", kind, len(value)) + value + bytes(-len(value) % 4)


def message(method, attributes=b"", key=None):
    """Returns a request and its transaction id; with a key it is signed (RFC 8489, 14.5)."""
    transaction = os.urandom(12)
    signature_length = 24 if key else 0
    head = struct.pack("!HHI", method, len(attributes) + signature_length, COOKIE) + transaction
    signed = head + attributes
    if key:
        signed += attribute(0x0008, hmac.new(key, signed, hashlib.sha1).digest())
    return signed, transaction


def parse(data):
    """Returns the message type, the transaction id and the attributes of a STUN message, or None."""
    if len(data) < 20:
        return None
    kind, length, cookie = struct.unpack("!HHI", data[:8])
    if cookie != COOKIE or len(data) < 20 + length:
        return None
    attributes, at = {}, 20
    while at + 4 <= 20 + length:
        name, size = struct.unpack("!HH", data[at : at + 4])
        attributes.setdefault(name, data[at + 4 : at + 4 + size])
        at += 4 + size + -size % 4
    return kind, data[8:20], attributes


def address(value, transaction=None):
    """Returns the (address, port) of an attribute; with a transaction id, of an XOR attribute."""
    family, port = struct.unpack("!BH", value[1:4])
    raw = value[4:8] if family == 1 else value[4:20]
    if transaction is not None:
        mask = struct.pack("!I", COOKIE) + transaction
        raw = bytes(one ^ other for one, other in zip(raw, mask))
        port ^= COOKIE >> 16
    return socket.inet_ntop(socket.AF_INET if family == 1 else socket.AF_INET6, raw), port


def ask_by_udp(udp, server, request, transaction):
    """Sends a request until it is answered; returns its type and attributes, or None after PATIENCE."""
    deadline, wait = time.monotonic() + PATIENCE, 0.5
    while (now := time.monotonic()) < deadline:
        udp.sendto(request, server)
        until = min(now + wait, deadline)
        wait *= 2
        while (left := until - time.monotonic()) > 0:
            udp.settimeout(left)
            try:
                data, _ = udp.recvfrom(2048)
            except (socket.timeout, ConnectionError):
                break
            answer = parse(data)
            if answer and answer[1] == transaction:
                return answer[0], answer[2]
    return None


def ask_by_stream(stream, request, transaction):
    stream.sendall(request)
    data = b""
    while len(data) < 20 or len(data) < 20 + struct.unpack("!H", data[2:4])[0]:
        more = stream.recv(2048)
        if not more:
            return None
        data += more
    answer = parse(data)
    return (answer[0], answer[2]) if answer and answer[1] == transaction else None


def connection(transport, server, port):
    """Returns a function that sends one request to the server and returns its answer."""
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    if transport == "udp":
        udp = socket.socket(family, socket.SOCK_DGRAM)
        return lambda request, transaction: ask_by_udp(udp, (server, port), request, transaction)
    stream = socket.create_connection((server, port), timeout=PATIENCE)
    if transport == "tls":
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        stream = context.wrap_socket(stream)
    return lambda request, transaction: ask_by_stream(stream, request, transaction)


def mapped(answer, transaction):
    return address(answer[1][0x0020], transaction)


def bind(udp, server, change=0):
    """Sends a binding request; returns the mapped address and the server's other address, or None."""
    request, transaction = message(BINDING, attribute(0x0003, struct.pack("!I", change)) if change else b"")
    answer = ask_by_udp(udp, server, request, transaction)
    if answer is None or 0x0020 not in answer[1]:
        return None
    other = answer[1].get(0x802C)
    return mapped(answer, transaction), address(other) if other else None


def new_udp():
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("", 0))
    return udp


def mapping_of(server):
    udp = new_udp()
    first = bind(udp, (server, 3478))
    if first is None:
        return None, None
    own, other = first
    if other is None:
        return "unknown: the server has no second address", own
    second = bind(udp, (other[0], 3478))
    if second is None:
        return "unknown: the second address does not answer", own
    if second[0] == own:
        return "endpoint-independent", own
    third = bind(udp, other)
    return ("address-dependent" if third and third[0] == second[0] else "address-and-port-dependent"), own


def filtering_of(server):
    udp = new_udp()
    if bind(udp, (server, 3478)) is None:
        return None
    if bind(udp, (server, 3478), CHANGE_ADDRESS | CHANGE_PORT):
        return "endpoint-independent"
    # A new port, because a symmetric NAT may have mapped the first one to another address meanwhile.
    udp = new_udp()
    if bind(udp, (server, 3478)) is None:
        return None
    return "address-dependent" if bind(udp, (server, 3478), CHANGE_PORT) else "address-and-port-dependent"


def hairpins(server):
    """Whether a datagram of this host to the mapped address of its other socket arrives."""
    sender, receiver = new_udp(), new_udp()
    found = bind(receiver, (server, 3478)) and bind(sender, (server, 3478))
    target = bind(receiver, (server, 3478))
    if not found or target is None:
        return None
    for _ in range(5):
        sender.sendto(b"hairpin", target[0])
        receiver.settimeout(0.2)
        try:
            if receiver.recvfrom(64)[0] == b"hairpin":
                return True
        except (socket.timeout, ConnectionError):
            pass
    return False


def behaviour(server):
    mapping, own = mapping_of(server)
    if mapping is None:
        return {"error": f"No answer by UDP from {server}."}
    return {
        "mapped": own[0],
        "mapping": mapping,
        "filtering": filtering_of(server),
        "hairpin": hairpins(server),
    }


def binding(transport, server, port):
    request, transaction = message(BINDING)
    start = time.monotonic()
    answer = connection(transport, server, port)(request, transaction)
    if answer is None:
        return {"error": f"No answer by {transport} from {server}, port {port}."}
    milliseconds = round(1000 * (time.monotonic() - start), 1)
    return {"mapped": mapped(answer, transaction)[0], "milliseconds": milliseconds}


def allocate(transport, server, port, user, password):
    ask = connection(transport, server, port)
    wanted = attribute(0x0019, bytes([17, 0, 0, 0]))
    request, transaction = message(ALLOCATE, wanted)
    challenge = ask(request, transaction)
    if challenge is None:
        return {"error": f"No answer by {transport} from {server}, port {port}."}
    realm, nonce = challenge[1].get(0x0014, b""), challenge[1].get(0x0015, b"")
    key = hashlib.md5(user.encode() + b":" + realm + b":" + password.encode()).digest()
    wanted += attribute(0x0006, user.encode()) + attribute(0x0014, realm) + attribute(0x0015, nonce)
    request, transaction = message(ALLOCATE, wanted, key)
    answer = ask(request, transaction)
    if answer is None:
        return {"error": f"No answer by {transport} from {server}, port {port}."}
    if 0x0009 in answer[1]:
        code = answer[1][0x0009]
        return {"error": f"The server refused: {code[2] * 100 + code[3]} {code[4:].decode(errors='replace')}."}
    return {"relayed": address(answer[1][0x0016], transaction)[0], "lifetime": struct.unpack("!I", answer[1][0x000D])[0]}


def main(arguments):
    command = arguments[0]
    if command == "behaviour":
        return behaviour(arguments[1])
    if command == "binding":
        return binding(arguments[1], arguments[2], int(arguments[3]))
    if command == "allocate":
        return allocate(arguments[1], arguments[2], int(arguments[3]), *arguments[4:6])
    return {"error": f"\"{command}\" is not one of behaviour, binding and allocate."}


try:
    print(json.dumps(main(sys.argv[1:])))
except OSError as error:
    print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
