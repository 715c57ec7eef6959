unit-tests += tests/unit/test-ring
unit-tests += tests/unit/test-output
unit-tests += tests/unit/test-ring-page
unit-tests += tests/unit/test-comms
unit-tests += tests/unit/test-merge
unit-tests += tests/unit/test-ring-random
unit-tests += tests/unit/test-ring-threads
