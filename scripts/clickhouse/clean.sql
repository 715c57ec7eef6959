-- SPDX-License-Identifier: GPL-2.0-or-later
-- Takes away rows of deliveries that no row of `batches` names, which count nowhere, and are a day old, so that
-- none of them is under way: they are left where a server or hvtrace ship ended in the middle of one. On each server,
-- in its own tables. The servers do it later, in their own time.
ALTER TABLE records DELETE
    WHERE sent NOT IN (SELECT sent FROM hvtrace.batches) AND bitShiftRight(sent, 32) < toUnixTimestamp(now()) - 86400;

ALTER TABLE latencies DELETE
    WHERE sent NOT IN (SELECT sent FROM hvtrace.batches) AND bitShiftRight(sent, 32) < toUnixTimestamp(now()) - 86400;
