unit-tests += tests/unit/test-options
