# SPDX-License-Identifier: GPL-2.0-or-later
"""libhvtrace as cffi sees it: what hvtrace.h declares."""

import os

import cffi

ffi = cffi.FFI()
ffi.cdef(
    """
    const char *hvtrace_version(void);

    struct hvtrace;
    struct hvtrace_file;
    struct hvtrace_event;

    struct hvtrace *hvtrace_new(void);
    void hvtrace_free(struct hvtrace *h);
    const char *hvtrace_error(const struct hvtrace *h);
    int hvtrace_set(struct hvtrace *h, const char *option, const char *value);
    int hvtrace_attach(struct hvtrace *h, const char *target);
    int hvtrace_detach(struct hvtrace *h);
    void hvtrace_cancel(struct hvtrace *h);
    int hvtrace_next(struct hvtrace *h, int timeout_ms, const struct hvtrace_event **ev);
    int hvtrace_start(struct hvtrace *h);
    int hvtrace_stop(struct hvtrace *h);
    int hvtrace_write(struct hvtrace *h, const char *file, const char *text);
    int hvtrace_append(struct hvtrace *h, const char *file, const char *text);
    int hvtrace_read(struct hvtrace *h, const char *file, char **text);
    enum hvtrace_count {
        HVTRACE_RECORDED, HVTRACE_LOST, HVTRACE_OVERWRITTEN, HVTRACE_FUNCTIONS, HVTRACE_VCPUS
    };
    uint64_t hvtrace_count(struct hvtrace *h, enum hvtrace_count which);
    const char *hvtrace_guest(const struct hvtrace *h);
    const char *hvtrace_release(const struct hvtrace *h);
    int hvtrace_confine(struct hvtrace *h);

    struct hvtrace_file *hvtrace_file_open(const char *path, char *err, size_t size);
    void hvtrace_file_close(struct hvtrace_file *f);
    int hvtrace_file_next(struct hvtrace_file *f, const struct hvtrace_event **ev);
    const char *hvtrace_file_error(const struct hvtrace_file *f);
    unsigned int hvtrace_file_vcpus(const struct hvtrace_file *f);
    const char *hvtrace_file_uname(const struct hvtrace_file *f);
    const char *hvtrace_file_clock(const struct hvtrace_file *f);

    uint64_t hvtrace_event_time(const struct hvtrace_event *ev);
    unsigned int hvtrace_event_vcpu(const struct hvtrace_event *ev);
    int hvtrace_event_pid(const struct hvtrace_event *ev);
    const char *hvtrace_event_comm(const struct hvtrace_event *ev);
    const char *hvtrace_event_system(const struct hvtrace_event *ev);
    const char *hvtrace_event_name(const struct hvtrace_event *ev);
    const char *hvtrace_event_instance(const struct hvtrace_event *ev);
    uint64_t hvtrace_event_lost(const struct hvtrace_event *ev);
    const char *hvtrace_event_text(const struct hvtrace_event *ev);
    enum hvtrace_type {
        HVTRACE_NONE, HVTRACE_SIGNED, HVTRACE_UNSIGNED, HVTRACE_ADDRESS, HVTRACE_STRING,
        HVTRACE_BYTES
    };
    size_t hvtrace_event_fields(const struct hvtrace_event *ev);
    const char *hvtrace_field_name(const struct hvtrace_event *ev, size_t field);
    enum hvtrace_type hvtrace_field_type(const struct hvtrace_event *ev, size_t field);
    uint64_t hvtrace_field_number(const struct hvtrace_event *ev, size_t field);
    const char *hvtrace_field_string(const struct hvtrace_event *ev, size_t field);
    const void *hvtrace_field_bytes(const struct hvtrace_event *ev, size_t field, size_t *len);
    size_t hvtrace_field_element(const struct hvtrace_event *ev, size_t field);
    const char *hvtrace_event_symbol(const struct hvtrace_event *ev, uint64_t address);

    void free(void *ptr);
    """
)
lib = ffi.dlopen(os.environ.get("HVTRACE_LIBRARY", "libhvtrace.so.0"))
# What hvtrace_read() gives is the C library's to free.
libc = ffi.dlopen(None)


def text(chars):
    """A str of what the guest or a file says, which may be any bytes."""
    return ffi.string(chars).decode("utf-8", "backslashreplace")
