# SPDX-License-Identifier: GPL-2.0-or-later
"""An event of libhvtrace as a dict."""

import sys

from ._library import ffi, lib, text

_LOST_SOME = 2**64 - 1

# Of the function tracers' events: fields that hold addresses, and the keys that their names get.
_FUNCTIONS = {
    "function": {"ip": "function", "parent_ip": "parent"},
    "funcgraph_entry": {"func": "function"},
    "funcgraph_exit": {"func": "function"},
}


def _bytes(event, i):
    size = ffi.new("size_t *")
    at = lib.hvtrace_field_bytes(event, i, size)
    return ffi.buffer(at, size[0])[:] if size[0] else b""


def _array(event, i):
    """Bytes, or the numbers of an array of longer ones."""
    size = lib.hvtrace_field_element(event, i)
    data = _bytes(event, i)
    if size == 1:
        return data
    return [
        int.from_bytes(data[at : at + size], sys.byteorder)
        for at in range(0, len(data) - size + 1, size)
    ]


def _signed(event, i):
    number = lib.hvtrace_field_number(event, i)
    return number - 2**64 if number >= 2**63 else number


_VALUES = {
    lib.HVTRACE_SIGNED: _signed,
    lib.HVTRACE_UNSIGNED: lib.hvtrace_field_number,
    lib.HVTRACE_ADDRESS: lib.hvtrace_field_number,
    lib.HVTRACE_STRING: lambda event, i: text(lib.hvtrace_field_string(event, i)),
    lib.HVTRACE_BYTES: _array,
}


def _fields(event):
    return {
        text(lib.hvtrace_field_name(event, i)): _VALUES[lib.hvtrace_field_type(event, i)](event, i)
        for i in range(lib.hvtrace_event_fields(event))
    }


def _symbol(event, address):
    name = lib.hvtrace_event_symbol(event, address)
    return text(name) if name else hex(address)


def _stack(event, addresses):
    """From the innermost on, up to the number that ends it."""
    end = addresses.index(_LOST_SOME) if _LOST_SOME in addresses else len(addresses)
    return [_symbol(event, address) for address in addresses[:end]]


def _names(event, name, fields):
    if name == "kernel_stack":
        return {"stack": _stack(event, fields["caller"])} if "caller" in fields else {}
    keys = _FUNCTIONS.get(name, {})
    return {key: _symbol(event, fields[field]) for field, key in keys.items() if field in fields}


def to_dict(event):
    lost = lib.hvtrace_event_lost(event)
    made = {
        "time": lib.hvtrace_event_time(event),
        "vcpu": lib.hvtrace_event_vcpu(event),
        "pid": lib.hvtrace_event_pid(event),
        "comm": text(lib.hvtrace_event_comm(event)),
        "system": text(lib.hvtrace_event_system(event)),
        "name": text(lib.hvtrace_event_name(event)),
        "instance": text(lib.hvtrace_event_instance(event)),
        "lost": None if lost == _LOST_SOME else lost,
        "text": text(lib.hvtrace_event_text(event)),
        "fields": _fields(event),
    }
    if made["system"] == "ftrace":
        made.update(_names(event, made["name"], made["fields"]))
    return made
