# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to guests of QEMU.

# make check: each feature on one of the kernels, where a program takes one, and less often over and over than
# make check-full does, which has the other kernel. A row is PROGRAM[,ARGUMENT|,NAME=VALUE]...
# The longest first: when the others are done they should not be waited for.
check-tests += tests/e2e/trampoline,PARTS=first+patching,KILLS=0
check-tests += tests/e2e/run-qemu,PARTS=boots+workload+graph+recordings+pending+errors
check-tests += tests/e2e/run-disks,PARTS=changes+card+seed+errors
check-tests += tests/e2e/run-firmware,SERIES=6.12,PARTS=bios+stub+errors
check-tests += tests/e2e/reboot,ENGINES=auto,PARTS=calls+errors
check-tests += tests/e2e/run-attach,trace,6.1,CYCLES=10,KILLS=2
check-tests += tests/e2e/run-attach,trace-libvirt,6.12,CYCLES=5,KILLS=2
check-tests += tests/e2e/run-attach,graph,6.12
check-tests += tests/e2e/exec,PARTS=graph+statuses+output+root
check-tests += tests/e2e/attach
check-tests += tests/e2e/attach-libvirt
check-tests += tests/e2e/remote,PARTS=text+recording+summary+refused
check-tests += tests/e2e/attach-many,PARTS=choices+views+files
check-tests += tests/e2e/serve,PARTS=refused+counts+demand+reloads+irqsoff+end
check-tests += tests/e2e/interrupts,6.1,50,400
check-tests += tests/e2e/run-attach,qemu,6.1
check-tests += tests/e2e/run-attach,qemu-libvirt,6.12
check-tests += tests/e2e/run-attach,unwind,6.1
check-tests += tests/e2e/run-attach,window,6.12
check-tests += tests/e2e/tracefs-events
check-tests += tests/e2e/run-attach,events,6.12
check-tests += tests/e2e/kprobe-events
check-tests += tests/e2e/tracer-switches,6.12,events
check-tests += tests/e2e/events-traps,6.12
check-tests += tests/e2e/run-attach,sched,6.1
check-tests += tests/e2e/latency-graph,6.12
check-tests += tests/e2e/tracefs-synthetic
check-tests += tests/e2e/record,6.12,PARTS=tracers+pages+instances+killed+summary+losses+disk_full+refused
check-tests += tests/e2e/tutorial
check-tests += tests/e2e/library,6.12,PARTS=installed+example+file+guest
check-tests += tests/e2e/tracefs-clients
check-tests += tests/e2e/run-attach,profile,6.12
check-tests += tests/e2e/irqsoff-trace,6.1
check-tests += tests/e2e/jobs,6.1
check-tests += tests/e2e/boot-chart,6.12
check-tests += tests/e2e/kprobe-names
check-tests += tests/e2e/run-attach,irqsoff,6.12
check-tests += tests/e2e/tracefs-conformance
check-tests += tests/e2e/clocks
check-tests += tests/e2e/merge
check-tests += tests/e2e/exports,6.12,PARTS=events+graph
check-tests += tests/e2e/reports
check-tests += tests/e2e/preemptoff,6.12
check-tests += tests/e2e/options
check-tests += tests/e2e/module-events,6.1
check-tests += tests/e2e/tracefs-dynamic
check-tests += tests/e2e/tracefs-triggers
check-tests += tests/e2e/events-own
check-tests += tests/e2e/run-attach,guest-prints,6.12
check-tests += tests/e2e/latency
check-tests += tests/e2e/branches,6.12
check-tests += tests/e2e/run-attach,hwlat,6.1
check-tests += tests/e2e/mmiotrace,6.1,domain

# What takes long, and tells something only now and then.
full-tests  += tests/e2e/remote,PARTS=stream+options+jobs+output+interrupted+broken+hostile
full-tests  += tests/e2e/attach-many,PARTS=live+killed+gone
full-tests  += tests/e2e/serve,PARTS=restart+collector+daemon+end
full-tests  += tests/e2e/migration
full-tests  += tests/e2e/exec,PARTS=children+boots+recorded+ends+interrupted+refused
full-tests  += tests/e2e/run-qemu,PARTS=engines+events+windows+settings+modules+ends+lists+autos
full-tests  += tests/e2e/run-disks,PARTS=formats+full
full-tests  += tests/e2e/run-firmware,PARTS=kaslr+uefi+whole+resets
full-tests  += tests/e2e/reboot,SERIES=6.12,ENGINES=trap,PARTS=calls+panics+firmware
full-tests  += tests/e2e/trampoline
full-tests  += tests/e2e/run-attach,trace,6.1
full-tests  += tests/e2e/run-attach,trace,6.12
full-tests  += tests/e2e/run-attach,trace-libvirt,6.12
full-tests  += tests/e2e/run-attach,vcpus,6.1,1
full-tests  += tests/e2e/run-attach,vcpus,6.1,8
full-tests  += tests/e2e/run-attach,vcpus,6.12,1
full-tests  += tests/e2e/run-attach,vcpus,6.12,8
full-tests  += tests/e2e/vcpus,6.1
full-tests  += tests/e2e/branches,6.1
full-tests  += tests/e2e/tracefs-dynamic,6.12
full-tests  += tests/e2e/vcpus,6.12
full-tests  += tests/e2e/run-attach,qemu,6.12
full-tests  += tests/e2e/events-traps,6.1
full-tests  += tests/e2e/run-attach,unwind,6.12
full-tests  += tests/e2e/run-attach,profile,6.1
full-tests  += tests/e2e/run-attach,window,6.1
full-tests  += tests/e2e/run-attach,graph,6.1
full-tests  += tests/e2e/run-attach,sched,6.12
full-tests  += tests/e2e/run-attach,events,6.1
full-tests  += tests/e2e/preemptoff,6.1
full-tests  += tests/e2e/irqsoff-trace,6.12
full-tests  += tests/e2e/latency-graph,6.1
full-tests  += tests/e2e/module-events,6.12
full-tests  += tests/e2e/run-attach,irqsoff,6.1
full-tests  += tests/e2e/run-attach,guest-prints,6.1
full-tests  += tests/e2e/run-attach,hwlat,6.12
full-tests  += tests/e2e/attach,6.12
full-tests  += tests/e2e/attach-libvirt,6.12
full-tests  += tests/e2e/serve,6.12
full-tests  += tests/e2e/interrupts,6.12,20,50,80,110,150,200,260,330,410,500,600,700,800
full-tests  += tests/e2e/kprobe-events,6.12
full-tests  += tests/e2e/uprobe-events,6.1
full-tests  += tests/e2e/uprobe-events,6.12
full-tests  += tests/e2e/uprobe-events,6.1,trap
full-tests  += tests/e2e/crash,6.1
full-tests  += tests/e2e/crash,6.12
full-tests  += tests/e2e/boot-chart,6.1
full-tests  += tests/e2e/jobs,6.12
full-tests  += tests/e2e/latency,6.12
full-tests  += tests/e2e/options,6.12
full-tests  += tests/e2e/exports,6.1
full-tests  += tests/e2e/exports,6.12,1
full-tests  += tests/e2e/exports,6.12,4
full-tests  += tests/e2e/reports,6.12
full-tests  += tests/e2e/record,6.1,1
full-tests  += tests/e2e/record,6.1
full-tests  += tests/e2e/record,6.12,4
full-tests  += tests/e2e/library,6.1
full-tests  += tests/e2e/library,6.1,4
full-tests  += tests/e2e/tracefs-clients,6.12
full-tests  += tests/e2e/tracefs-synthetic,6.12
full-tests  += tests/e2e/tracefs-triggers,6.12
full-tests  += tests/e2e/graph-own,1
full-tests  += tests/e2e/graph-own,2
full-tests  += tests/e2e/blk-own,6.1
full-tests  += tests/e2e/blk-own,6.12
full-tests  += tests/e2e/blk-own,6.1,trap
full-tests  += tests/e2e/compat-tasks,6.1
full-tests  += tests/e2e/compat-tasks,6.12
full-tests  += tests/e2e/tracer-switches,6.1
full-tests  += tests/e2e/tracer-switches,6.12
full-tests  += tests/e2e/mmiotrace,6.1
full-tests  += tests/e2e/mmiotrace,6.12
full-tests  += tests/e2e/mmiotrace,6.12,domain
full-tests  += tests/e2e/killed-tracers,6.1
full-tests  += tests/e2e/killed-tracers,6.12
full-tests  += tests/e2e/seed-snippets
full-tests  += tests/e2e/check-host
full-tests  += tests/e2e/tracefs-large
full-tests  += tests/e2e/tracefs-crowd,CROWD_SECONDS=60

coverage-tests += tests/e2e/check-host
coverage-tests += tests/e2e/run-qemu,PARTS=lists+autos

qemu-programs := $(addprefix $(O)/tests/e2e/,events-attach guest-memory guest-prints-attach hwlat-attach irqsoff-attach qemu-attach qemu-trace graph-attach profile-attach sched-attach unwind-attach window-attach)

$(qemu-programs): $(O)/tests/%: $(O)/obj/tests/%.o $(LIBS)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ -Wl,--start-group $^ -Wl,--end-group $(LDLIBS) -lcmocka

running-guest-programs := $(addprefix $(O)/tests/e2e/,events-attach graph-attach guest-memory guest-prints-attach hwlat-attach irqsoff-attach profile-attach qemu-attach qemu-trace sched-attach)
$(running-guest-programs): $(O)/obj/tests/e2e/running-guest.o
$(O)/tests/e2e/sched-attach: $(O)/obj/tests/e2e/sched-watch.o

check-programs: $(qemu-programs) $(O)/tests/bench/bench-calls $(O)/tests/workload/bpf-calls \
	$(O)/tests/workload/graph-calls $(O)/tests/workload/nbd-calls $(O)/tests/workload/read-register \
	$(O)/tests/e2e/frames $(O)/tests/e2e/frames32 $(O)/tests/e2e/read-clock

# Every guest has the first one; what is known of its text comes from the second.
check-programs bench-built: $(O)/tests/workload/workload $(O)/tests/workload/workload.map \
	$(O)/tests/e2e/guest-memory

$(O)/tests/workload/workload $(O)/tests/workload/workload.map &: tests/workload/workload.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -s -Wl,-Map=$(O)/tests/workload/workload.map \
		-o $(O)/tests/workload/workload $<

$(O)/tests/workload/bpf-calls: tests/workload/bpf-calls.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -s -o $@ $< -lbpf -lelf -lz -lzstd

$(O)/tests/e2e/read-clock: tests/e2e/read-clock.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -o $@ $<

# Its stack can be followed by frame pointers.
$(O)/tests/e2e/frames: tests/e2e/frames.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O0 -fno-omit-frame-pointer -fno-pie -no-pie -Wall -Wextra -static -o $@ $<

# Without a library there is nothing of 32 bits that has to be installed for it.
$(O)/tests/e2e/frames32: tests/e2e/frames32.S
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -m32 -nostdlib -static -Wl,--build-id=none -o $@ $<

$(O)/tests/workload/graph-calls: tests/workload/graph-calls.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -s -o $@ $<

$(O)/tests/workload/read-register: tests/workload/read-register.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -s -o $@ $<

$(O)/tests/workload/nbd-calls: tests/workload/nbd-calls.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -D_GNU_SOURCE $(WARN) -static -s -o $@ $<

# A client of other people's libraries, of none of ours. Without them its test is skipped.
TRACEFS_PKGS := libtracefs libtraceevent
TRACEFS_CLIENT := $(addprefix tests/e2e/tracefs-client,.c -decode.c -pipe.c -records.c)
$(O)/tests/e2e/tracefs-client: $(TRACEFS_CLIENT) tests/e2e/tracefs-client.h
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -g -D_GNU_SOURCE -I. $(WARN) $(shell pkg-config --cflags $(TRACEFS_PKGS)) \
		-pthread -o $@ $(TRACEFS_CLIENT) $(shell pkg-config --libs $(TRACEFS_PKGS))

ifeq ($(shell pkg-config --exists $(TRACEFS_PKGS) 2>/dev/null && echo yes),yes)
check-programs: $(O)/tests/e2e/tracefs-client
endif

# The same of who reads what is recorded.
DAT_PKGS := libtracecmd libtraceevent
$(O)/tests/e2e/dat-client: tests/e2e/dat-client.c
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -g -D_GNU_SOURCE $(WARN) $(shell pkg-config --cflags $(DAT_PKGS)) -o $@ $< \
		$(shell pkg-config --libs $(DAT_PKGS))

ifeq ($(shell pkg-config --exists $(DAT_PKGS) 2>/dev/null && echo yes),yes)
check-programs: $(O)/tests/e2e/dat-client
endif

# So many who open, read and write everything, from outside.
CROWD := $(addprefix tests/soak/crowd,.c -check.c -do.c)
$(O)/tests/soak/crowd: $(CROWD) tests/soak/crowd.h
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c11 -O2 -g -D_GNU_SOURCE -I. $(WARN) -pthread -o $@ $(CROWD)

check-programs soak-built: $(O)/tests/soak/crowd
