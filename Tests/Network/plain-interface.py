#!/usr/bin/env python3
"""Makes an interface send complete frames: with checksums, and none larger than its MTU.

  plain-interface.py INTERFACE

Between virtual interfaces the kernel leaves both out, and a program that reads the frames would see wrong checksums. It does
what `ethtool -K INTERFACE tx off tso off gso off` does.
"""

import array
import fcntl
import socket
import struct
import sys

SIOCETHTOOL = 0x8946
TX_CHECKSUM, TSO, GSO = 0x17, 0x1F, 0x24

control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for setting in (TSO, GSO, TX_CHECKSUM):
    value = array.array("I", [setting, 0])
    request = struct.pack("16sP16x", sys.argv[1].encode(), value.buffer_info()[0])
    fcntl.ioctl(control.fileno(), SIOCETHTOOL, request)
