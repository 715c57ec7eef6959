unit-tests += tests/unit/test-borrow
