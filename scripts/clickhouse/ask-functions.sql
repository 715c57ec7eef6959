-- SPDX-License-Identifier: GPL-2.0-or-later
-- How long functions take, by guest, kernel and minute: the 100 that take most in all.
SELECT
    guest,
    kernel,
    minute,
    function,
    sum(calls) AS n,
    quantilesExactWeighted(0.5, 0.9, 0.99)(ns, calls) AS p50_p90_p99,
    max(longest) AS most,
    sum(total) AS in_all
FROM latencies
GLOBAL ALL INNER JOIN (SELECT sent, guest, kernel FROM delivered) USING sent
WHERE function != ''
GROUP BY guest, kernel, minute, function
ORDER BY in_all DESC
LIMIT 100;
