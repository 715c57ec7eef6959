unit-tests += tests/unit/test-trace
