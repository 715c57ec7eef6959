# SPDX-License-Identifier: GPL-2.0-or-later
"""Events of the kernels of running guests, and of trace.dat files, as dicts.

    with hvtrace.Guest("mydomain", event=["sched:*"]) as guest:
        for event in guest.events(seconds=2):
            print(event["comm"], event["name"], event["fields"])

    with hvtrace.File("guest.dat") as file:
        for event in file:
            print(event["time"], event["text"])

An event has the keys time (nanoseconds), vcpu, pid, comm, system, name, instance, lost (events of
its vCPU that were lost just before it; None: it is not known how many), text, and fields, a dict
of its fields by their names: int, str or bytes, and lists of int. What function tracers record
also has function, and parent or stack: names, as far as they are known.

A guest or a file is used by one thread at a time. Needs libhvtrace.so.0; the environment's
HVTRACE_LIBRARY may name another file.
"""

from ._read import Cancelled, Error, File, Guest, version

__all__ = ["Cancelled", "Error", "File", "Guest", "version"]
