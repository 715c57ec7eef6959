unit-tests += tests/unit/test-borrow
unit-tests += tests/unit/test-window
