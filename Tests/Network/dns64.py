#!/usr/bin/env python3
"""A DNS server of an IPv6-only network with NAT64 (RFC 6147), for the network laboratory.

  dns64.py ADDRESS PREFIX NAME=IPV4 ...

ADDRESS is the IPv6 address to listen at, port 53. PREFIX is that of the NAT64, a /96. Each NAME has an IPv4 address; the
AAAA record with the prefix is synthesised. `ipv4only.arpa` has 192.0.0.170 and 192.0.0.171 (RFC 7050). Other names do not
exist. PREFIX may be `none`: then there is no NAT64, and names have only their IPv4 addresses.
"""

import ipaddress
import socket
import struct
import sys

A, AAAA = 1, 28
NO_SUCH_NAME = 3


def question(query):
    """Returns the name, the type, and where the question ends; raises an error for what is none."""
    labels, position = [], 12
    while query[position] != 0:
        length = query[position]
        labels.append(query[position + 1 : position + 1 + length].decode("ascii").lower())
        position += 1 + length
    kind = struct.unpack_from("!H", query, position + 1)[0]
    return ".".join(labels), kind, position + 5


def answer(query, names, prefix):
    name, kind, end = question(query)
    addresses = names.get(name)
    data = []
    if addresses and kind == A:
        data = [address.packed for address in addresses]
    elif addresses and kind == AAAA and prefix is not None:
        data = [prefix.packed[:12] + address.packed for address in addresses]
    flags = 0x8580 | (0 if addresses else NO_SUCH_NAME)
    response = query[:2] + struct.pack("!HHHHH", flags, 1, len(data), 0, 0) + query[12:end]
    for record in data:
        response += struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(record)) + record
    return response


def main():
    prefix = None if sys.argv[2] == "none" else ipaddress.IPv6Network(sys.argv[2]).network_address
    names = {"ipv4only.arpa": [ipaddress.IPv4Address("192.0.0.170"), ipaddress.IPv4Address("192.0.0.171")]}
    for argument in sys.argv[3:]:
        name, address = argument.split("=")
        names[name.lower()] = [ipaddress.IPv4Address(address)]
    server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    server.bind((sys.argv[1], 53))
    print("ready", flush=True)
    while True:
        query, client = server.recvfrom(512)
        try:
            server.sendto(answer(query, names, prefix), client)
        except (IndexError, struct.error, UnicodeDecodeError):
            continue


main()
