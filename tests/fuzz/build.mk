# SPDX-License-Identifier: GPL-2.0-or-later
# libFuzzer targets: make fuzz [FUZZ_SECONDS=600]; a while of it is part of make check-full.
# Needs clang; without it full-tests skips them and says so.

FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 600
FUZZ_FLAGS   := -std=c11 -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer -pthread -MD -MP

fuzz-targets := $(addprefix $(O)/tests/fuzz/,fuzz-image fuzz-guest fuzz-staging fuzz-stub)
fuzz-targets += $(O)/tests/fuzz/fuzz-boot
fuzz-targets += $(O)/tests/fuzz/fuzz-boot-loader
fuzz-targets += $(O)/tests/fuzz/fuzz-cache
fuzz-targets += $(O)/tests/fuzz/fuzz-config
fuzz-targets += $(O)/tests/fuzz/fuzz-dat
fuzz-targets += $(O)/tests/fuzz/fuzz-decode
fuzz-targets += $(O)/tests/fuzz/fuzz-digest
fuzz-targets += $(O)/tests/fuzz/fuzz-endless
fuzz-targets += $(O)/tests/fuzz/fuzz-exec
fuzz-targets += $(O)/tests/fuzz/fuzz-export
fuzz-targets += $(O)/tests/fuzz/fuzz-filter
fuzz-targets += $(O)/tests/fuzz/fuzz-fleet
fuzz-targets += $(O)/tests/fuzz/fuzz-jobs
fuzz-targets += $(O)/tests/fuzz/fuzz-join
fuzz-targets += $(O)/tests/fuzz/fuzz-journal
fuzz-targets += $(O)/tests/fuzz/fuzz-kvm
fuzz-targets += $(O)/tests/fuzz/fuzz-metrics
fuzz-targets += $(O)/tests/fuzz/fuzz-mmio
fuzz-targets += $(O)/tests/fuzz/fuzz-pairing
fuzz-targets += $(O)/tests/fuzz/fuzz-event-filter
fuzz-targets += $(O)/tests/fuzz/fuzz-events
fuzz-targets += $(O)/tests/fuzz/fuzz-event-print
fuzz-targets += $(O)/tests/fuzz/fuzz-event-trigger
fuzz-targets += $(O)/tests/fuzz/fuzz-probe-event
fuzz-targets += $(O)/tests/fuzz/fuzz-remote
fuzz-targets += $(O)/tests/fuzz/fuzz-report
fuzz-targets += $(O)/tests/fuzz/fuzz-ship
fuzz-targets += $(O)/tests/fuzz/fuzz-snapshot
fuzz-targets += $(O)/tests/fuzz/fuzz-types
fuzz-targets += $(O)/tests/fuzz/fuzz-virtio
fuzz-targets += $(O)/tests/fuzz/fuzz-virtio-fs
fuzz-targets += $(O)/tests/fuzz/fuzz-virtio-net
fuzz-targets += $(O)/tests/fuzz/fuzz-virtio-vsock
fuzz-objs := $(addprefix $(O)/obj/fuzz/,$(guestsym-objs) $(vmm-objs))

full-tests += tests/fuzz/run-short

$(O)/obj/fuzz/%.o: %.c | need-libs
	$(call say,FUZZCC,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_FLAGS) $(WARN) -c -o $@ $<

$(O)/obj/fuzz/%.o: $(O)/gen/%.c | need-libs
	$(call say,FUZZCC,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) $(FUZZ_FLAGS) $(WARN) -c -o $@ $<

$(O)/obj/fuzz/%.o: %.S | need-libs
	$(call say,FUZZAS,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(CPPFLAGS) -MD -MP -c -o $@ $<

$(fuzz-targets): $(O)/tests/fuzz/%: $(O)/obj/fuzz/tests/fuzz/%.o $(fuzz-objs)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# The objects of these rooms of tracer/.
fuzz-rooms = $(addprefix $(O)/obj/fuzz/,$(filter $(foreach r,$(1),tracer/$(r)/%.o),$(tracer-objs)))

$(O)/tests/fuzz/fuzz-decode: private LDLIBS += -lcmocka
$(O)/tests/fuzz/fuzz-types: private LDLIBS += $(count-steps)
$(O)/tests/fuzz/fuzz-staging: $(O)/obj/fuzz/tracer/payload/staging.o
$(O)/tests/fuzz/fuzz-pairing: $(addprefix $(O)/obj/fuzz/tracer/graph/,merge.o pairing.o)
$(O)/tests/fuzz/fuzz-boot-loader: $(addprefix $(O)/obj/fuzz/,$(filter frontend/image/boot/%.o frontend/image/json-find.o,$(frontend-objs))) \
	$(call fuzz-rooms,lib)
$(O)/tests/fuzz/fuzz-config: $(addprefix $(O)/obj/fuzz/,$(filter frontend/config/%.o,$(frontend-objs)) \
	$(addprefix frontend/lib/,escape.o file.o json.o)) $(call fuzz-rooms,lib)
$(O)/tests/fuzz/fuzz-digest: $(addprefix $(O)/obj/fuzz/frontend/,serve/digest.o serve/json-library.o serve/requests.o lib/file.o report/latency.o) \
	$(call fuzz-rooms,lib)
$(O)/tests/fuzz/fuzz-exec: $(O)/obj/fuzz/frontend/exec/stream.o
$(O)/tests/fuzz/fuzz-remote: $(addprefix $(O)/obj/fuzz/frontend/,dat/bytes.o dat/journal.o dat/journal-stream.o dat/pack.o \
	lib/options-words.o remote/peer.o remote/request.o remote/uri.o) $(call fuzz-rooms,lib)
$(O)/tests/fuzz/fuzz-fleet: $(O)/obj/fuzz/frontend/fleet/lines.o
$(O)/tests/fuzz/fuzz-filter: $(call fuzz-rooms,lib filter)
$(O)/tests/fuzz/fuzz-event-filter: $(call fuzz-rooms,lib events/filter)
$(O)/tests/fuzz/fuzz-event-trigger: $(call fuzz-rooms,lib events/filter events/define events/trigger events/hist)
$(O)/tests/fuzz/fuzz-probe-event: $(call fuzz-rooms,lib events/filter events/define)
$(O)/tests/fuzz/fuzz-event-print: $(call fuzz-rooms,lib ring output) $(O)/obj/fuzz/tracer/guest/comms.o

$(addprefix $(O)/tests/fuzz/fuzz-,dat journal): $(O)/obj/fuzz/tracer/lib/text.o \
	$(addprefix $(O)/obj/fuzz/,$(filter frontend/dat/%.o,$(frontend-objs)))
$(O)/tests/fuzz/fuzz-decode: $(addprefix $(O)/obj/fuzz/,$(filter frontend/dat/%.o frontend/decode/%.o,$(frontend-objs))) \
	$(addprefix $(O)/obj/fuzz/,frontend/lib/json.o frontend/api/event.o tracer/ring/page.o) $(call fuzz-rooms,lib)

fuzz-export-objs := $(addprefix $(O)/obj/fuzz/,$(filter $(foreach r,dat decode export html lib report,frontend/$(r)/%.o),$(frontend-objs)))
$(O)/tests/fuzz/fuzz-export: private LDLIBS += -lcmocka
$(O)/tests/fuzz/fuzz-export: $(fuzz-export-objs) $(call fuzz-rooms,lib ring)
$(fuzz-export-objs) $(O)/obj/fuzz/tests/fuzz/fuzz-export.o: | $(export-messages:.c=.h)

$(O)/tests/fuzz/fuzz-join: private LDLIBS += -lcmocka
$(O)/tests/fuzz/fuzz-join: $(addprefix $(O)/obj/fuzz/,$(filter-out %/join/files.o,$(filter $(foreach r,dat decode join,frontend/$(r)/%.o),$(frontend-objs)))) \
	$(O)/obj/fuzz/frontend/lib/json.o $(call fuzz-rooms,lib ring)

$(O)/tests/fuzz/fuzz-jobs: private LDLIBS += -lcmocka
$(O)/tests/fuzz/fuzz-jobs: $(addprefix $(O)/obj/fuzz/,$(filter $(foreach r,dat decode jobs lib report,frontend/$(r)/%.o),$(frontend-objs))) \
	$(call fuzz-rooms,lib ring)
$(O)/obj/fuzz/frontend/jobs/syscall-names.o: $(syscall-names)

$(O)/tests/fuzz/fuzz-metrics: $(addprefix $(O)/obj/fuzz/frontend/,metrics/accept.o metrics/families.o metrics/labels.o \
	metrics/metrics.o metrics/print.o lib/escape.o report/latency.o) $(call fuzz-rooms,lib)
$(O)/tests/fuzz/fuzz-ship: $(addprefix $(O)/obj/fuzz/frontend/ship/,curl-library.o http.o inbox.o pack.o there.o)

fuzz-report-objs := calls calltree duration flame-script graph-text latency order render render-flame render-folded \
	render-graph render-latency render-latency-svg render-top saved select subsystem weight
$(O)/tests/fuzz/fuzz-report: $(fuzz-report-objs:%=$(O)/obj/fuzz/frontend/report/%.o) \
	$(call fuzz-rooms,lib)

# On a made-up guest, whose machine and symbols take the place of the real ones: what of them is needed all the same,
# and files that the trace is looked at through, come from this library.
fuzz-made := $(addprefix $(O)/tests/fuzz/,fuzz-control fuzz-fuse fuzz-modules fuzz-racing fuzz-text fuzz-unwind \
	fuzz-user fuzz-window)
fuzz-made-lib := $(O)/obj/fuzz/made.a
$(fuzz-made-lib): $(addprefix $(O)/obj/fuzz/,$(filter-out tracer/payload/payload.o,$(tracer-objs)) $(guestsym-objs) \
	vmm/thread.o frontend/control/peer.o frontend/control/wire.o \
	$(filter frontend/tracefs/%.o frontend/mount/%.o frontend/report/%.o,$(frontend-objs))) \
	$(O)/obj/tracer/payload/payload.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(fuzz-made): $(O)/tests/fuzz/%: $(O)/obj/fuzz/tests/fuzz/%.o $(fuzz-made-lib)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(LDLIBS) -lcmocka
fuzz-targets += $(fuzz-made)

.PHONY: fuzz-targets
fuzz-targets: $(fuzz-targets)

ifneq ($(shell command -v $(FUZZ_CC) 2>/dev/null),)
check-full-built: $(fuzz-targets)
endif

fuzz: fuzz-targets
	@tests/fuzz/run-long $(FUZZ_SECONDS) $(fuzz-targets)
