unit-tests += tests/unit/test-check
unit-tests += tests/unit/test-options
