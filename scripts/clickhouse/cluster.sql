-- SPDX-License-Identifier: GPL-2.0-or-later
-- The tables of all servers as one, in a database of their own and under the same names, so that the same
-- questions may be asked: on any server, where all of them have `hvtrace`, and a cluster `hvtrace` is in their
-- remote_servers, without replicas. `delivered` and `latencies` are of the whole cluster then, which is why
-- questions say GLOBAL.
CREATE DATABASE IF NOT EXISTS fleet;

CREATE TABLE IF NOT EXISTS fleet.records AS hvtrace.records
    ENGINE = Distributed(hvtrace, hvtrace, records);

CREATE TABLE IF NOT EXISTS fleet.batches AS hvtrace.batches
    ENGINE = Distributed(hvtrace, hvtrace, batches);

CREATE TABLE IF NOT EXISTS fleet.latencies AS hvtrace.latencies
    ENGINE = Distributed(hvtrace, hvtrace, latencies);

CREATE VIEW IF NOT EXISTS fleet.delivered AS
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
    FROM fleet.batches
    GROUP BY source, size, number;
