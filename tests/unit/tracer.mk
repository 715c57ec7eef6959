unit-tests += tests/unit/test-ring
unit-tests += tests/unit/test-output
unit-tests += tests/unit/test-ring-page
