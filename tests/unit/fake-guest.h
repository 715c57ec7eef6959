/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fake-guest.h - a made-up guest for tests of tracer/, which takes the place of vmm/ and guestsym/.
 * Included by one test program, which is then linked without the real ones.
 */
#ifndef HVTRACE_TESTS_FAKE_GUEST_H
#define HVTRACE_TESTS_FAKE_GUEST_H

#include "tests/unit/fake-guestsym.h"
#include "tests/unit/fake-machine.h"
#include "tests/unit/fake-state.h"

#endif
