# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-ret-insns
unit-tests += tests/unit/test-returns
unit-tests += tests/unit/test-graph-threads
