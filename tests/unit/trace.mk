unit-tests += tests/unit/test-trace
unit-tests += tests/unit/test-trace-running
unit-tests += tests/unit/test-guest-time
unit-tests += tests/unit/test-sched-ticks
