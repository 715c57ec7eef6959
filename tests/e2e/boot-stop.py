#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that QEMU has not started yet runs until it comes to an address, and stands there.

usage: boot-stop.py SOCKET ADDRESS
       boot-stop.py SOCKET              it goes on

SOCKET is of its gdb stub, ADDRESS in hex. The breakpoint is one of the processor's, so that nothing is
written into the guest, and it is gone afterwards. Speaks the remote protocol of gdb(1).
"""

import socket
import sys


def packet(text):
    return b"$%s#%02x" % (text, sum(text) % 256)


def answer(stub):
    """The next packet. What comes in front of it are acknowledgements."""
    byte = stub.read(1)
    while byte and byte != b"$":
        byte = stub.read(1)
    text = b""
    while (byte := stub.read(1)) not in (b"#", b""):
        text += byte
    if len(stub.read(2)) != 2:
        sys.exit("boot-stop: the stub has closed the connection")
    return text


def ask(connection, stub, text, wanted):
    connection.sendall(packet(text))
    said = answer(stub)
    connection.sendall(b"+")
    if not said.startswith(wanted):
        sys.exit(f"boot-stop: '{text.decode()}': the stub says '{said.decode()}'")


def until(connection, stub, where):
    ask(connection, stub, b"Z1,%s,1" % where, b"OK")
    ask(connection, stub, b"c", b"T05")
    ask(connection, stub, b"z1,%s,1" % where, b"OK")


def main():
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        stub = connection.makefile("rb")
        ask(connection, stub, b"?", b"T")
        if len(sys.argv) > 2:
            until(connection, stub, sys.argv[2].encode().lstrip(b"0"))
        else:
            ask(connection, stub, b"D;1", b"OK")


main()
