unit-tests += tests/unit/test-assist
unit-tests += tests/unit/test-assist-fpu
unit-tests += tests/unit/test-kvm-devices
unit-tests += tests/unit/test-kvm-ports
unit-tests += tests/unit/test-kvm-tables
unit-tests += tests/unit/test-syscall-fix
