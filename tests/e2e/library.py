# SPDX-License-Identifier: GPL-2.0-or-later
"""The Python package hvtrace, with a recording and with a live guest. Speaks TAP.

usage: library.py file FILE.dat FILE.json      JSON as of hvtrace report --json
       library.py guest TARGET KERNEL FILE.dat
       library.py two TARGET TARGET
       library.py gone TARGET FILE
       library.py declared HEADER
"""

import inspect
import itertools
import json
import os
import re
import sys
import threading
import traceback

import hvtrace
from hvtrace import _library

results = 0
failed = 0


def result(good, name):
    global results, failed
    results += 1
    failed += not good
    print("ok" if good else "not ok", results, "-", name, flush=True)


def raises(kind, words, call):
    try:
        call()
    except kind as error:
        return words in str(error)
    return False


def same_fields(event, wanted):
    """Addresses of pointers are texts in JSON, strings there have other escapes, bytes are lists."""
    for name, value in wanted["fields"].items():
        got = event["fields"][name]
        if isinstance(got, bytes):
            got = list(got)
        if isinstance(value, str) and isinstance(got, int):
            value = int(value, 16)
        if got != value:
            print("#", event, wanted)
            return False
    return True


def same(event, wanted):
    return (
        event["vcpu"] == wanted["cpu"]
        and event["pid"] == wanted["pid"]
        and event["comm"] == wanted["comm"]
        and event["name"] == wanted["event"]
        and event["system"] == wanted["system"]
        and event.get("function") == wanted.get("function")
        and same_fields(event, wanted)
    )


def test_file(path, lines):
    with hvtrace.File(path) as file:
        result(file.vcpus in (2, 4) and "x86_64" in file.uname and file.clock == "global", "what a file says of itself")
        events = list(file)
    with open(lines, encoding="utf-8") as report:
        wanted = [json.loads(line) for line in report]
    result(len(events) == len(wanted) >= 1000, "all its events are there: %d" % len(events))
    result(all(map(same, events, wanted)), "they are what hvtrace report --json says")
    times = [event["time"] for event in events]
    result(times == sorted(times) and times[-1] > times[0], "they come in the order of their times")
    kinds = {event["name"] for event in events}
    result({"funcgraph_entry", "funcgraph_exit", "sys_enter"} <= kinds, "of several kinds")
    result(raises(ValueError, "closed", lambda: next(file)), "a closed file has no events")
    result(raises(hvtrace.Error, "no such", lambda: hvtrace.File(path + ".none")) or
           raises(hvtrace.Error, "No such", lambda: hvtrace.File(path + ".none")), "nor has one that is not there")
    result(raises(hvtrace.Error, "no trace.dat", lambda: hvtrace.File(lines)), "nor one of another kind")


def test_options(target):
    result(raises(hvtrace.Error, "no option colour", lambda: hvtrace.Guest(target, colour="red")), "there is no such option")
    for name, value in {"engine": "steam", "buffer_kb": "much", "max_events": 0, "set": "tracing_on"}.items():
        result(raises(hvtrace.Error, name.replace("_", "-"), lambda: hvtrace.Guest(target, **{name: value})),
               "there is no such value: %s=%s" % (name, value))
    for name, value in {"tracer": "none-such", "event": "none:such", "filter": "none_such", "clock": "sundial"}.items():
        result(raises(hvtrace.Error, value, lambda: hvtrace.Guest(target, **{name: value})),
               "the guest has no such thing: %s=%s" % (name, value))


def some_of(guest, names, least):
    """At least so many events, until there are those of these names, and some of each vCPU."""
    events = []
    for event in itertools.islice(guest.events(60), 1000000):
        events.append(event)
        if (len(events) >= least and names <= {event["name"] for event in events}
                and set(range(guest.vcpus)) <= {event["vcpu"] for event in events}):
            break
    return events


def test_events(target, kernel):
    with hvtrace.Guest(target, kernel=kernel, event=["sched:sched_switch", "raw_syscalls:sys_enter"]) as guest:
        events = some_of(guest, {"sched_switch", "sys_enter"}, 500)
        result(len(events) >= 500, "events of a live guest")
        result({event["name"] for event in events} == {"sched_switch", "sys_enter"}, "of those that were asked for")
        switch = next(event for event in events if event["name"] == "sched_switch")
        result(isinstance(switch["fields"]["next_comm"], str) and isinstance(switch["fields"]["prev_prio"], int)
               and switch["fields"]["next_comm"] in switch["text"], "fields have their types")
        enter = next(event for event in events if event["name"] == "sys_enter")
        result(len(enter["fields"]["args"]) == 6 and enter["comm"] not in ("", "<...>"), "arrays are lists")
        times = [event["time"] for event in events]
        result(times == sorted(times), "they come in the order of their times")
        result({event["vcpu"] for event in events} == set(range(guest.vcpus)), "of all vCPUs")
        result(guest.release.startswith(("6.1", "6.12")) and guest.recorded >= 500, "what is known of the guest")
        guest.stop()
        result(guest.read("tracing_on").strip() == "0", "a file of the trace says that it is stopped")
        while guest.next(0):
            pass
        result(guest.next(0.3) is None, "then there are no events")
        guest.write("events/sched/enable", 0)
        guest.start()
        result(raises(hvtrace.Error, "no such file", lambda: guest.write("none/such", 1)), "there is no such file")
        result(raises(hvtrace.Error, "hvtrace_next", lambda: guest.read("trace_pipe")), "trace_pipe is read as events")
        names = {event["name"] for event in itertools.islice(guest.events(60), 200)}
        result(names == {"sys_enter"}, "what is written changes what is recorded")
        guest.detach()
        rest = list(guest.events())
        result(raises(hvtrace.Error, "Transport endpoint", lambda: guest.write("tracing_on", 1)) and
               all(event["name"] == "sys_enter" for event in rest), "what is left is read when the guest has gone on")
        result(guest.next() is None and guest.ended == "the guest has been let go", "and then it is over")


def test_functions(target, kernel, path):
    """A file and a guest at once, each with formats and symbols of its own."""
    with hvtrace.Guest(target, kernel=kernel, filter=["vfs_*"]) as guest, hvtrace.File(path) as file:
        pairs = [(guest.next(60), next(file)) for _ in range(200)]
    result(all(a["function"].startswith("vfs_") and a["parent"] for a, _ in pairs), "functions have their names")
    result(all(b["name"] != "function" for _, b in pairs), "a file is read beside it")


def test_cancel(target, kernel):
    with hvtrace.Guest(target, kernel=kernel, tracer="nop") as guest:
        timer = threading.Timer(0.3, guest.cancel)
        timer.start()
        result(raises(hvtrace.Cancelled, "", guest.next), "another thread has it give up")
        timer.join()
        result(guest.next(0) is None, "once")


def test_confined(target, kernel):
    """The last one: the process has no rights any more."""
    with hvtrace.Guest(target, kernel=kernel, event="sched:*") as guest:
        guest.confine()
        result(raises(PermissionError, "", lambda: open(kernel, "rb")), "who is confined opens no file")
        result(len(list(itertools.islice(guest.events(60), 200))) == 200, "but traces")


def test_guest(target, kernel, path):
    test_options(target)
    test_events(target, kernel)
    test_functions(target, kernel, path)
    test_cancel(target, kernel)
    test_confined(target, kernel)


def declarations(text):
    """Functions and enums of a piece of C, each in one line."""
    text = re.sub(r"/\*.*?\*/|^\s*#.*?$|\bHVTRACE_API\b", " ", text, flags=re.S | re.M)
    found = re.findall(r"(?:const )?\w[\w ]*?[ *]+hvtrace_\w+\([^;]*;|enum \w+ \{[^}]*\}", text)
    return {re.sub(r",? ?\}", " }", re.sub(r"\s+", " ", one)) for one in found}


def test_declared(header):
    with open(header, encoding="utf-8") as text:
        there = declarations(text.read())
    used = declarations(inspect.getsource(_library))
    result(len(used) > 40, "the package declares what it uses")
    for one in sorted(used - there):
        print("#", one)
    result(used <= there, "as the header does")


def test_gone(target, attached):
    """The guest powers off once there is that file."""
    with hvtrace.Guest(target, event="sched:*") as guest:
        with open(attached, "w", encoding="ascii"):
            pass
        events = list(guest.events(60))
        result(len(events) > 100, "what a guest has done before it was powered off")
        result(guest.ended not in (None, "the guest has been let go"), "it has ended: %s" % guest.ended)


def test_two(*targets):
    """Two guests at once, each by a thread of its own, three times."""
    done = []

    def watch(target):
        for options in {"event": "sched:sched_switch"}, {"filter": "vfs_*"}, {"tracer": "function_graph", "filter": "vfs_*"}:
            with hvtrace.Guest(target, **options) as guest:
                names = {event["name"] for event in itertools.islice(guest.events(60), 2000)}
                done.append((target, guest.release, names))

    threads = [threading.Thread(target=watch, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for target in targets:
        names = [found for where, _, found in done if where == target]
        result(names == [{"sched_switch"}, {"function"}, {"funcgraph_entry", "funcgraph_exit"}], "one of two guests is traced")
    result(len({release for _, release, _ in done}) == 2, "they have kernels of their own")
    names = [open("/proc/self/task/%s/comm" % thread, encoding="ascii").read().strip() for thread in os.listdir("/proc/self/task")]
    result(all(name.startswith("python") for name in names), "no thread of the library is left")


try:
    {"file": test_file, "guest": test_guest, "two": test_two, "gone": test_gone, "declared": test_declared}[sys.argv[1]](*sys.argv[2:])
except Exception:
    for line in traceback.format_exc().splitlines():
        print("#", line)
    result(False, "it came to its end")
print("1..%d" % results, flush=True)
sys.exit(1 if failed else 0)
