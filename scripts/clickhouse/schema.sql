-- SPDX-License-Identifier: GPL-2.0-or-later
-- What hvtrace ship fills, on each server: hvtrace ship --create makes it. For ClickHouse 18.16 and later.
--
-- Rows of `records` and `latencies` count if their `sent` is in `delivered`, and no others do:
--     ... WHERE sent IN (SELECT sent FROM delivered)

-- A record of a trace in each row. Its own place is (source, nr).
CREATE TABLE IF NOT EXISTS records (
    host String,
    guest String,
    kernel String,          -- its release
    source UInt64,          -- the file: of host, guest, and what is in it
    nr UInt64,              -- the record's number in that
    time UInt64,            -- of the trace, in nanoseconds
    at DateTime,            -- the same of the wall clock, see hvtrace-ship(1)
    cpu UInt16,
    pid Int32,
    comm String,
    event String,           -- "system:name"
    function String,        -- of the function tracers
    depth UInt16,           -- of function_graph
    call String,            -- a system call
    call_nr Int32,          -- its number; -1: none
    ret Int64,              -- what it has returned
    duration Int64,         -- of a function or system call that ends here, in nanoseconds; -1: none
    info String,            -- what the event says, with --fields
    sent UInt64             -- the delivery
) ENGINE = MergeTree PARTITION BY toYYYYMM(at) ORDER BY (guest, source, nr);

-- A batch that has been delivered in each row; a batch is (source, size, number).
CREATE TABLE IF NOT EXISTS batches (
    host String,
    guest String,
    kernel String,
    file String,
    trace_id UInt64,
    source UInt64,
    size UInt32,            -- records in the batches of this source
    number UInt32,          -- from 0 on
    rows UInt32,            -- records in it
    first UInt64,           -- their times
    last UInt64,
    lost UInt64,            -- records that the trace has lost between them
    sent UInt64,
    shipped DateTime DEFAULT now()
) ENGINE = MergeTree PARTITION BY tuple() ORDER BY (source, number, sent);

-- Of each batch one delivery, whatever there are.
CREATE VIEW IF NOT EXISTS delivered AS
    SELECT
        min(sent) AS sent,
        source,
        size,
        number,
        any(host) AS host,
        any(guest) AS guest,
        any(kernel) AS kernel,
        any(rows) AS rows,
        any(lost) AS lost
    FROM batches
    GROUP BY source, size, number;

-- How long functions and system calls take: a histogram of each minute, of each delivery. A column of it is an
-- eighth of a power of two of nanoseconds; ns is its middle, so it is at most 6 % off.
CREATE TABLE IF NOT EXISTS latencies (
    sent UInt64,
    minute DateTime,
    function String,        -- of a function; else ''
    call String,            -- of a system call; else ''
    ns UInt64,
    calls UInt64,
    errors UInt64,          -- of these, that have failed
    total UInt64,           -- nanoseconds of all of them
    longest UInt64
) ENGINE = MergeTree PARTITION BY toYYYYMM(minute) ORDER BY (function, call, minute, sent, ns);

CREATE MATERIALIZED VIEW IF NOT EXISTS latencies_of_records TO latencies AS
    WITH greatest(intDiv(roundToExp2(toUInt64(duration)), 8), 1) AS step
    SELECT
        sent,
        toStartOfMinute(at) AS minute,
        function,
        call,
        toUInt64(intDiv(toUInt64(duration), step) * step + intDiv(step, 2)) AS ns,
        count() AS calls,
        countIf(ret < 0 AND ret >= -4095) AS errors,
        toUInt64(sum(toUInt64(duration))) AS total,
        max(toUInt64(duration)) AS longest
    FROM records
    WHERE duration >= 0
    GROUP BY sent, minute, function, call, ns;
