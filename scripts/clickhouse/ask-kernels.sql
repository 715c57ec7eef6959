-- SPDX-License-Identifier: GPL-2.0-or-later
-- What is slower, or faster, in one kernel than in another: functions with 100 calls or more in both, by how much
-- their medians are apart. Put their releases for KERNEL1 and KERNEL2.
SELECT
    function,
    sumIf(calls, kernel = 'KERNEL1') AS n1,
    sumIf(calls, kernel = 'KERNEL2') AS n2,
    quantileExactWeightedIf(0.5)(ns, calls, kernel = 'KERNEL1') AS median1,
    quantileExactWeightedIf(0.5)(ns, calls, kernel = 'KERNEL2') AS median2,
    quantileExactWeightedIf(0.99)(ns, calls, kernel = 'KERNEL1') AS p99_1,
    quantileExactWeightedIf(0.99)(ns, calls, kernel = 'KERNEL2') AS p99_2,
    round(median2 / median1, 2) AS ratio
FROM latencies
GLOBAL ALL INNER JOIN (SELECT sent, kernel FROM delivered) USING sent
WHERE function != ''
GROUP BY function
HAVING n1 >= 100 AND n2 >= 100
ORDER BY abs(log2(ratio)) DESC
LIMIT 50;
