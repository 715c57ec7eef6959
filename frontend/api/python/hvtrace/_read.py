# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests and files, whose events are dicts."""

import errno
import os
import time

from ._event import to_dict
from ._library import ffi, lib, libc, text

# How long one wait takes: Python looks for Ctrl-C between them.
_WAIT_MS = 100


class Error(Exception):
    """What went wrong, in one line; errno says how."""

    def __init__(self, number, line):
        super().__init__(line or os.strerror(number))
        self.errno = number


class Cancelled(Error):
    """cancel() was called."""


def version():
    """Of the library."""
    return text(lib.hvtrace_version())


class _Handle:
    """What the library has given, up to close(), the end of a with, or that of all that knows it."""

    _handle = None

    def _open(self):
        if not self._handle:
            raise ValueError("it is closed")
        return self._handle

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self.close()


class Guest(_Handle):
    """A running guest that is traced, from its making to close() or the end of a with.

    target is a domain of libvirt, or the gdb stub of a QEMU: gdb:unix:PATH, gdb:HOST:PORT. Options
    are those of hvtrace_set(), with _ for -: event=["sched:*", "irq:*"], filter="vfs_*",
    tracer="function_graph", buffer_kb=65536.

    ended is None, and once the trace is over and all of it has been read, a line that says why.
    """

    ended = None

    def __init__(self, target, **options):
        self._handle = lib.hvtrace_new()
        if not self._handle:
            raise MemoryError
        try:
            for option, value in options.items():
                for one in value if isinstance(value, (list, tuple)) else [value]:
                    self._set(option.replace("_", "-"), one)
            self._check(lib.hvtrace_attach(self._handle, target.encode()))
        except BaseException:
            self.close()
            raise

    def _set(self, option, value):
        value = str(int(value) if isinstance(value, bool) else value)
        self._check(lib.hvtrace_set(self._handle, option.encode(), value.encode()))

    def _check(self, number):
        if number >= 0:
            return number
        kind = Cancelled if number == -errno.ECANCELED else Error
        raise kind(-number, text(lib.hvtrace_error(self._handle)))

    def __iter__(self):
        return self.events()

    def next(self, seconds=None):
        """The next event; None: none has come in so many seconds, or the trace has ended."""
        deadline = None if seconds is None else time.monotonic() + seconds
        event = ffi.new("const struct hvtrace_event **")
        while True:
            left = _WAIT_MS
            if deadline is not None:
                left = max(0, min(left, int((deadline - time.monotonic()) * 1000) + 1))
            got = lib.hvtrace_next(self._open(), left, event)
            if got == 1:
                return to_dict(event[0])
            if got == -errno.ENODATA:
                self.ended = text(lib.hvtrace_error(self._handle))
                return None
            self._check(got)
            if deadline is not None and time.monotonic() >= deadline:
                return None

    def events(self, seconds=None):
        """All events up to the end of the trace, or for so many seconds."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while deadline is None or time.monotonic() < deadline:
            event = self.next(None if deadline is None else max(0, deadline - time.monotonic()))
            if event is None:
                return
            yield event

    def detach(self):
        """Let the guest go; what was recorded can still be read."""
        self._check(lib.hvtrace_detach(self._open()))

    def close(self):
        """Let the guest go, and free all."""
        if self._handle:
            lib.hvtrace_free(self._handle)
        self._handle = None

    def cancel(self):
        """Have whoever waits in another thread give up."""
        lib.hvtrace_cancel(self._open())

    def start(self):
        self._check(lib.hvtrace_start(self._open()))

    def stop(self):
        self._check(lib.hvtrace_stop(self._open()))

    def write(self, file, value, append=False):
        """Write to a file of the trace, such as set_ftrace_filter."""
        write = lib.hvtrace_append if append else lib.hvtrace_write
        self._check(write(self._open(), file.encode(), str(value).encode()))

    def read(self, file):
        """What a file of the trace says."""
        chars = ffi.new("char **")
        self._check(lib.hvtrace_read(self._open(), file.encode(), chars))
        try:
            return text(chars[0])
        finally:
            libc.free(chars[0])

    def confine(self):
        """Give up, for the whole process, every right that tracing does not need."""
        self._check(lib.hvtrace_confine(self._open()))

    def _count(self, which):
        return lib.hvtrace_count(self._open(), which)

    name = property(lambda self: text(lib.hvtrace_guest(self._open())))
    release = property(lambda self: text(lib.hvtrace_release(self._open())))
    vcpus = property(lambda self: self._count(lib.HVTRACE_VCPUS))
    recorded = property(lambda self: self._count(lib.HVTRACE_RECORDED))
    lost = property(lambda self: self._count(lib.HVTRACE_LOST))
    overwritten = property(lambda self: self._count(lib.HVTRACE_OVERWRITTEN))
    functions = property(lambda self: self._count(lib.HVTRACE_FUNCTIONS))


class File(_Handle):
    """A trace.dat file: an iterator over its events, in the order of their times."""

    def __init__(self, path):
        line = ffi.new("char[512]")
        self._handle = lib.hvtrace_file_open(os.fsencode(path), line, len(line))
        if not self._handle:
            raise Error(errno.EINVAL, text(line))

    def __iter__(self):
        return self

    def __next__(self):
        event = ffi.new("const struct hvtrace_event **")
        got = lib.hvtrace_file_next(self._open(), event)
        if got < 0:
            raise Error(-got, text(lib.hvtrace_file_error(self._handle)))
        if not got:
            raise StopIteration
        return to_dict(event[0])

    def close(self):
        if self._handle:
            lib.hvtrace_file_close(self._handle)
        self._handle = None

    vcpus = property(lambda self: lib.hvtrace_file_vcpus(self._open()))
    uname = property(lambda self: text(lib.hvtrace_file_uname(self._open())))
    clock = property(lambda self: text(lib.hvtrace_file_clock(self._open())))
