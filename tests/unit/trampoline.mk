# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-trampoline
unit-tests += tests/unit/test-collect
unit-tests += tests/unit/test-record-options
unit-tests += tests/unit/test-text-lock
unit-tests += tests/unit/test-quiesce
unit-tests += tests/unit/test-leftover
unit-tests += tests/unit/test-detour
