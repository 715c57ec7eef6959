# SPDX-License-Identifier: GPL-2.0-or-later
# The bare-metal test guest. gcc always: other compilers do not record their fentry sites.

GUEST_CC ?= gcc
GUEST_CFLAGS := -std=gnu11 -O2 -g -Wall -Wextra -ffreestanding -fno-pic -fno-pie -mcmodel=kernel \
	-mno-red-zone -mgeneral-regs-only -fno-stack-protector -fcf-protection=none \
	-fno-asynchronous-unwind-tables -fno-strict-aliasing -Itests/guest
GUEST_PROFILE := -pg -mfentry -mrecord-mcount
# Functions return by jumping to __x86_return_thunk(), as those of kernels do.
GUEST_RETURNS := -mfunction-return=thunk-extern

guest-objs :=
guest-objs += apic.o
guest-objs += console.o
guest-objs += interrupt.o
guest-objs += irqs.o
guest-objs += jobs.o
guest-objs += kernel.o
guest-objs += main.o
guest-objs += mmio.o
guest-objs += params.o
guest-objs += start.o
guest-objs += tree.o
guest-objs += work.o

# Types for the image, of this one file: the linker only puts them one behind the other.
$(O)/obj/tests/guest/kernel.o: GUEST_CFLAGS += -gbtf

guest-dir := $(O)/obj/tests/guest
testguest := $(O)/tests/guest/testguest.elf

$(guest-dir)/%.o: tests/guest/%.c tests/guest/guest.h
	$(call say,GUESTCC,$@)
	@mkdir -p $(@D)
	$(Q)$(GUEST_CC) $(GUEST_CFLAGS) $(GUEST_PROFILE) $(GUEST_RETURNS) -c -o $@ $<

$(guest-dir)/%.o: tests/guest/%.S tests/guest/guest.h
	$(call say,GUESTAS,$@)
	@mkdir -p $(@D)
	$(Q)$(GUEST_CC) $(GUEST_CFLAGS) -c -o $@ $<

$(testguest): $(addprefix $(guest-dir)/,$(guest-objs)) tests/guest/guest.lds
	$(call say,GUESTLD,$@)
	@mkdir -p $(@D)
	$(Q)$(GUEST_CC) -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack \
		-Wl,-z,max-page-size=4096 -T tests/guest/guest.lds -o $@ $(filter %.o,$^)
