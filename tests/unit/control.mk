# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-control
unit-tests += tests/unit/test-control-peers
unit-tests += tests/unit/test-registry
