#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers that are no good ones, for tests/e2e/ship.

usage: ship-server.py PORT-FILE HOW [URL]

Listens on a port of its own, which it writes into PORT-FILE. With `lossy` it hands requests on to the ClickHouse at
URL, and hangs up instead of giving every second answer to an INSERT; with `counting` it gives all of them. With
`picky` it does not take the first batch, however often it comes, and all others. Beside
PORT-FILE, in PORT-FILE.log, is a line for each request.
"""
import http.client
import http.server
import os
import socketserver
import sys
import urllib.parse

port_file, how = sys.argv[1:3]
upstream = urllib.parse.urlsplit(sys.argv[3]).netloc if len(sys.argv) > 3 else ""
inserts = 0
disliked = b""

ANSWERS = {
    "denies": (401, b"Code: 516. DB::Exception: default: Authentication failed\n"),
    "old-denies": (500, b"Code: 193, e.displayText() = DB::Exception: Wrong password for user default, e.what() = DB::Exception\n"),
    "no-table": (404, b"Code: 60, e.displayText() = DB::Exception: Table hvtrace.records doesn't exist., e.what() = DB::Exception\n"),
    "full": (500, b"Code: 243, e.displayText() = DB::Exception: Cannot reserve 1.00 MiB, not enough space, e.what() = DB::Exception\n"),
    "lies": (200, b"Code: 60. DB::Exception: it was not taken after all\n"),
    "other": (404, b""),
    "long": (500, b"x" * 1000000),
}


class Server(http.server.BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing on stderr."""

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True
        self.connection.shutdown(2)

    def hand_on(self, body):
        global inserts
        to = http.client.HTTPConnection(upstream)
        to.request("POST", self.path, body)
        answer = to.getresponse()
        text = answer.read()
        inserts += "INSERT" in self.path
        if how == "lossy" and "INSERT" in self.path and inserts % 2:
            self.hang_up()
        else:
            self.answer(answer.status, text)

    # Behind the numbers of a delivery, which are others each time, a batch is the same.
    def pick(self, body):
        global disliked
        if "INSERT INTO records" in urllib.parse.unquote(self.path):
            disliked = disliked or body[:4096]
            if body[:4096] == disliked:
                self.answer(500, b"Code: 53, e.displayText() = DB::Exception: Type mismatch, e.what() = DB::Exception\n")
                return
        self.answer(200, b"")

    def do_POST(self):  # noqa: N802 (its name is http.server's)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with open(port_file + ".log", "a", encoding="utf-8") as log:
            user, key = (self.headers.get("X-ClickHouse-" + name, "") for name in ("User", "Key"))
            log.write(f"{urllib.parse.unquote(self.path)} {len(body)} {user}:{key}\n")
        if how in ("lossy", "counting"):
            self.hand_on(body)
        elif how == "picky":
            self.pick(body)
        elif how in ANSWERS:
            self.answer(*ANSWERS[how])
        elif how == "garbage":
            self.wfile.write(b"\0\xff no HTTP at all\r\n" * 100)
            self.hang_up()
        elif how == "elsewhere":
            self.send_response(307)
            self.send_header("Location", "http://127.0.0.1:9/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif how == "endless":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b"x" * 65536)
        elif how == "silent":
            self.rfile.read(1)


class Servers(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Who asks may leave."""


server = Servers(("127.0.0.1", 0), Server)
with open(port_file + ".new", "w", encoding="utf-8") as f:
    f.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
