# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-known-windows
unit-tests += tests/unit/test-load
unit-tests += tests/unit/test-trials
unit-tests += tests/unit/test-trap-index
unit-tests += tests/unit/test-vmm
unit-tests += tests/unit/test-vmm-memory
unit-tests += tests/unit/test-vmm-pause
unit-tests += tests/unit/test-vmm-traps
unit-tests += tests/unit/test-walk

guest-tests := test-known-windows test-vmm test-vmm-memory test-vmm-pause test-vmm-traps
$(addprefix $(O)/tests/unit/,$(guest-tests)): | $(O)/tests/guest/testguest.elf
