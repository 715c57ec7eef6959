# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-qemu-attach
unit-tests += tests/unit/test-qemu-gdb
unit-tests += tests/unit/test-qemu-keeper
unit-tests += tests/unit/test-qemu-kvm-tsc
unit-tests += tests/unit/test-qemu-monitor
unit-tests += tests/unit/test-qemu-packet
unit-tests += tests/unit/test-qemu-patch
