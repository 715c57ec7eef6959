# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
# For tests that run the Debian image of scripts/build-guest-image with hvtrace, in a machine of $MACHINE: qemu, in
# a domain of a libvirtd of the test's own, whose user hvtrace runs as; or kvm. Behind qemu-lib.sh and complaints.sh.
# shellcheck disable=SC2034,SC2154 # variables of those who source this, and of qemu-lib.sh

HVTRACE=${HVTRACE:-build/hvtrace}
MACHINE=${MACHINE:-qemu}
qemu_wait=600
run_pid='' asked=0 answer='' firmware=''
# A tenth of the boot, or more, is the kernel's tests of its own ciphers.
readonly IMAGE_APPEND="cryptomgr.notests no_timer_check tsc=reliable ${GUEST_APPEND-}"
readonly ROOT_AT=33554432 # of the image's root file system

details()
{
	tail -n 30 "$qemu_dir/err"
}

on_qemu() # ARGS...
{
	exec_as_user env TMPDIR="$qemu_dir/tmp" "$qemu_dir/hvtrace" run --machine qemu --connect "$libvirt_uri" "$@"
}

on_kvm() # ARGS...
{
	exec env TMPDIR="$qemu_dir/tmp" "$qemu_dir/hvtrace" run --machine kvm "$@"
}

# image FORMAT VCPUS ARGS...: the process becomes hvtrace run. With $firmware the image's boot loader has the kernel.
image()
{
	local from=(-k "$qemu_dir/vmlinuz" -i "$qemu_dir/initrd" -a "root=LABEL=root ro $IMAGE_APPEND")
	[ -z "$firmware" ] || from=(--firmware "$firmware")
	"on_$MACHINE" "${from[@]}" -m 1G -c "$2" "$qemu_dir/disk.$1" "${@:3}"
}

# boot FORMAT VCPUS ARGS...: until the guest says login:
boot()
{
	rm -f "$qemu_dir/in" "$qemu_dir/err"
	mkfifo -m 666 "$qemu_dir/in" || return
	(image "$@" --console -o "$qemu_dir/out") <"$qemu_dir/in" >/dev/null 2>"$qemu_dir/err" &
	run_pid=$!
	exec 9>"$qemu_dir/in"
	wait_until said_or_ended '^guest login:' && said '^guest login:'
}

# What is on stderr, without what moves a terminal's cursor and colours it.
plain()
{
	[ ! -e "$qemu_dir/err" ] || sed 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/\r//g' "$qemu_dir/err"
}

said() # PATTERN
{
	plain | grep -aqE "$1"
}

said_or_ended()
{
	said "$1" || ! kill -0 "$run_pid"
}

# From then on there is nothing on the console but what is asked for.
log_in()
{
	echo root >&9
	wait_until said_or_ended 'root@guest:~#' && ask 'dmesg -n 1'
}

# ask COMMAND: what the guest's shell says to it is in $answer
ask()
{
	asked=$((asked + 1))
	echo "echo begin-$asked; $1; echo end-$asked" >&9
	wait_until said_or_ended "^end-$asked"
	answer=$(plain | sed -n "/^begin-$asked\$/,/^end-$asked\$/{/^begin-/d;/^end-/d;p}")
}

# The guest powers itself off, and the trace is there.
ends()
{
	echo poweroff >&9
	exec 9>&-
	wait "$run_pid" && run_pid='' && grep -aq ': the guest powered itself off after' "$qemu_dir/err" &&
		no_complaints_in <"$qemu_dir/err" && [ -z "$(ls -A "$qemu_dir/tmp")" ]
}

# $qemu_dir/disk.raw and disk.qcow2. The lab, which has neither network nor time to make them, has them already.
find_images()
{
	local format path
	for format in raw qcow2; do
		path=/share/disks/debian-12.$format
		if [ ! -e "$path" ]; then
			"$qemu_root/scripts/build-guest-image" --format "$format" &&
				path=$("$qemu_root/scripts/build-guest-image" --format "$format" --path) || return
		fi
		if [ "$MACHINE" = kvm ]; then
			ln -s "$path" "$qemu_dir/disk.$format" || return
		else # a user reads it who cannot look into root's folders
			cp --sparse=always "$path" "$qemu_dir/disk.$format" && chmod 644 "$qemu_dir/disk.$format" || return
		fi
	done
}

# Its kernel and initrd, without an appliance, which takes as long as the boot where a processor is emulated.
take_kernel()
{
	local root="$qemu_dir/disk.raw?offset=$ROOT_AT" version
	version=$(debugfs -R 'ls -p /boot' "$root" 2>/dev/null | sed -n 's/.*vmlinuz-\([^/]*\).*/\1/p' | head -n 1)
	debugfs -R "dump /boot/vmlinuz-$version $qemu_dir/vmlinuz" "$root" 2>/dev/null &&
		debugfs -R "dump /boot/initrd.img-$version $qemu_dir/initrd" "$root" 2>/dev/null &&
		[ -s "$qemu_dir/vmlinuz" ] && [ -s "$qemu_dir/initrd" ] &&
		chmod 644 "$qemu_dir/vmlinuz" "$qemu_dir/initrd"
}

image_exit()
{
	[ -z "$run_pid" ] || { kill -INT "$run_pid" && wait "$run_pid"; } 2>/dev/null
	qemu_exit
}

# Call image_exit at the end.
image_init()
{
	need qemu-img debugfs
	[ "$MACHINE" = kvm ] || need qemu-system-x86_64 libvirtd virsh
	qemu_init && mkdir -m 777 "$qemu_dir/tmp" && find_images && take_kernel &&
		install -m 755 "$HVTRACE" "$qemu_dir/hvtrace" && { [ "$MACHINE" = kvm ] || libvirtd_start; }
}
