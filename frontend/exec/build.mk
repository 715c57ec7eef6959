# What runs a command in the guest: a program of its own, without a library, and that in hvtrace.
exec-guest      := $(O)/gen/frontend/exec/init
exec-guest-objs := $(addprefix $(O)/guest/frontend/exec/guest/,init.o port.o root.o run.o sys.o up.o)
exec-guest-flags := -std=c11 -Os -ffreestanding -fno-pic -fno-pie -fno-stack-protector -fno-builtin -mno-sse \
	-fno-asynchronous-unwind-tables $(call compiles,-fcf-protection=none) $(WARN) -MD -MP

frontend-objs += frontend/exec/image.o
frontend-objs += frontend/exec/overlay.o
frontend-objs += frontend/exec/stream.o

$(exec-guest-objs): $(O)/guest/%.o: %.c $(O)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. $(exec-guest-flags) -c -o $@ $<
-include $(exec-guest-objs:.o=.d)

$(exec-guest): $(exec-guest-objs)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -static -nostdlib -no-pie -Wl,--build-id=none,-z,noexecstack,-z,norelro,-s -o $@ $^

# Found there by the name that image.S has for it. ccache does not see that it has changed.
exec-objs := $(addprefix $(O)/obj/,frontend/exec/image.o fuzz/frontend/exec/image.o)
$(exec-objs): $(exec-guest)
$(exec-objs): private CPPFLAGS += -Wa,-I$(O)/gen
$(exec-objs): private export CCACHE_DISABLE := 1
