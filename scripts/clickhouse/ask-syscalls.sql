-- SPDX-License-Identifier: GPL-2.0-or-later
-- The slowest system calls of all guests: the 20 whose 99th percentile is the longest.
SELECT
    call,
    sum(calls) AS n,
    sum(errors) AS failed,
    quantilesExactWeighted(0.5, 0.99)(ns, calls) AS p50_p99,
    max(longest) AS most,
    argMax(guest, longest) AS most_in,
    round(sum(total) / sum(calls)) AS mean
FROM latencies
GLOBAL ALL INNER JOIN (SELECT sent, guest FROM delivered) USING sent
WHERE call != ''
GROUP BY call
ORDER BY p50_p99[2] DESC
LIMIT 20;
