# SPDX-License-Identifier: GPL-2.0-or-later
unit-tests += tests/unit/test-payload
unit-tests += tests/unit/test-payload-code
unit-tests += tests/unit/test-payload-depth
unit-tests += tests/unit/test-payload-exit
unit-tests += tests/unit/test-pairing
unit-tests += tests/unit/test-payload-nest
unit-tests += tests/unit/test-staging
