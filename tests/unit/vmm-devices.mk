unit-tests += tests/unit/test-kvm-devices
unit-tests += tests/unit/test-assist
