# SPDX-License-Identifier: GPL-2.0-or-later
# libFuzzer targets: make fuzz [FUZZ_SECONDS=600]; a few seconds of it are part of the tests.
# Needs clang; without it check-tests skips them and says so.

FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 600
FUZZ_FLAGS   := -std=c11 -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer -pthread -MD -MP

fuzz-targets := $(addprefix $(O)/tests/fuzz/,fuzz-image fuzz-guest fuzz-staging fuzz-stub)
fuzz-targets += $(O)/tests/fuzz/fuzz-filter
fuzz-targets += $(O)/tests/fuzz/fuzz-kvm
fuzz-targets += $(O)/tests/fuzz/fuzz-pairing
fuzz-targets += $(O)/tests/fuzz/fuzz-event-filter
fuzz-targets += $(O)/tests/fuzz/fuzz-events
fuzz-targets += $(O)/tests/fuzz/fuzz-event-print
fuzz-targets += $(O)/tests/fuzz/fuzz-event-trigger
fuzz-targets += $(O)/tests/fuzz/fuzz-probe-event
fuzz-targets += $(O)/tests/fuzz/fuzz-report
fuzz-objs := $(addprefix $(O)/obj/fuzz/,$(guestsym-objs) $(vmm-objs))

# Before the guests of QEMU, so that a long one is not waited for in the end
check-tests := tests/fuzz/run-short $(check-tests)

$(O)/obj/fuzz/%.o: %.c | need-libs
	$(call say,FUZZCC,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_FLAGS) $(WARN) -c -o $@ $<

$(fuzz-targets): $(O)/tests/fuzz/%: $(O)/obj/fuzz/tests/fuzz/%.o $(fuzz-objs)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

$(O)/tests/fuzz/fuzz-staging: $(O)/obj/fuzz/tracer/staging.o
$(O)/tests/fuzz/fuzz-pairing: $(addprefix $(O)/obj/fuzz/tracer/,graph-merge.o pairing.o)
$(O)/tests/fuzz/fuzz-filter: $(addprefix $(O)/obj/fuzz/tracer/,func-actions.o func-commands.o func-event.o \
	func-filter.o func-mod.o func-request.o func-set.o funcs.o glob.o pid-filter.o pid-list.o \
	text.o word.o)

fuzz-event-objs := $(addprefix $(O)/obj/fuzz/tracer/,event-data.o event-filter.o event-filter-cpus.o \
	event-filter-parse.o event-filter-term.o glob.o text.o word.o)
$(O)/tests/fuzz/fuzz-event-filter: $(fuzz-event-objs)
$(O)/tests/fuzz/fuzz-event-trigger: $(fuzz-event-objs) $(addprefix $(O)/obj/fuzz/tracer/,error-log.o \
	event-hist.o event-hist-action.o event-hist-action-make.o event-hist-expr.o event-hist-field.o \
	event-hist-hit.o event-hist-map.o event-hist-parse.o event-hist-print.o event-hist-sort.o \
	event-hist-value.o event-hist-vars.o event-trigger.o event-trigger-actions.o \
	event-trigger-enable.o fetch-arg.o probe-args.o probe-event-format.o probe-event-parse.o \
	probe-words.o synth-event-format.o synth-event-parse.o)

$(O)/tests/fuzz/fuzz-probe-event: $(addprefix $(O)/obj/fuzz/tracer/,error-log.o event-data.o \
	event-probe-parse.o fetch-arg.o probe-args.o probe-event-format.o probe-event-parse.o \
	probe-words.o synth-event-format.o synth-event-parse.o text.o word.o)

$(O)/tests/fuzz/fuzz-event-print: $(addprefix $(O)/obj/fuzz/,$(filter tracer/output%.o tracer/kprintf%.o \
	tracer/event-eval.o tracer/event-expr%.o tracer/event-print.o tracer/comms.o tracer/text.o, \
	$(tracer-objs)))

fuzz-report-objs := calls calltree duration graph-text latency order render render-flame render-folded \
	render-graph render-latency render-latency-svg render-top saved select subsystem weight
$(O)/tests/fuzz/fuzz-report: $(fuzz-report-objs:%=$(O)/obj/fuzz/frontend/report/%.o) \
	$(O)/obj/fuzz/tracer/text.o

# On a made-up guest, whose machine and symbols take the place of the real ones
fuzz-made := $(addprefix $(O)/tests/fuzz/,fuzz-text fuzz-unwind fuzz-user fuzz-window)
fuzz-made-lib := $(O)/obj/fuzz/made.a
$(fuzz-made-lib): $(addprefix $(O)/obj/fuzz/,$(filter-out tracer/payload/payload.o,$(tracer-objs)) \
	$(addprefix guestsym/,complain.o decode.o elf.o)) $(O)/obj/tracer/payload/payload.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(fuzz-made): $(O)/tests/fuzz/%: $(O)/obj/fuzz/tests/fuzz/%.o $(fuzz-made-lib)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS) -lcmocka
fuzz-targets += $(fuzz-made)

# The same for a trace that is looked at through its files
fuzz-control := $(O)/tests/fuzz/fuzz-control
$(fuzz-control): $(O)/obj/fuzz/tests/fuzz/fuzz-control.o $(O)/obj/tracer/payload/payload.o \
	$(addprefix $(O)/obj/fuzz/,$(filter-out tracer/payload/payload.o,$(tracer-objs)) \
	frontend/control/peer.o frontend/control/wire.o \
	frontend/report/calls.o frontend/report/calltree.o frontend/report/saved.o \
	$(filter frontend/tracefs/%.o,$(frontend-objs)) $(addprefix guestsym/,complain.o decode.o elf.o))
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)
fuzz-targets += $(fuzz-control)

.PHONY: fuzz-targets
fuzz-targets: $(fuzz-targets)

ifneq ($(shell command -v $(FUZZ_CC) 2>/dev/null),)
check-built: $(fuzz-targets)
endif

fuzz: fuzz-targets
	@tests/fuzz/run-long $(FUZZ_SECONDS) $(fuzz-targets)
