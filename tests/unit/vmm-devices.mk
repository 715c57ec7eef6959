unit-tests += tests/unit/test-kvm-devices
