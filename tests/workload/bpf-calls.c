// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bpf-calls.c - a user of BPF in a guest: has a program run at the entry and one at the exit of a
 * function of the kernel's (the kernel patches its text for that), makes system calls, and prints
 * how often each program has seen this process call the function.
 *
 * usage: bpf-calls FUNCTION OPENATS
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSN(c, d, s, o, i)                                                                        \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}
#define NR_INSNS 14

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "bpf-calls: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Add one to map[0] when this process is the current one. */
static int program_load(int map, enum bpf_attach_type type, int func)
{
	const struct bpf_insn insns[NR_INSNS] = {
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_get_current_pid_tgid),
		INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32),
		INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 9, getpid()),
		INSN(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, 2, 10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, 2, 0, 0, -4),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 1, 0, 0, 1),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 1, 0, BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	const struct bpf_prog_load_opts opts = {
		.sz = sizeof(opts), .expected_attach_type = type, .attach_btf_id = (__u32)func};
	int prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "calls", "GPL", insns, NR_INSNS, &opts);

	if (prog < 0)
		die("the program cannot be loaded");
	return prog;
}

/* Returns the map; the program stays attached as long as this process lives. */
static int count_calls(enum bpf_attach_type type, int func)
{
	int map =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "calls", sizeof(__u32), sizeof(__u64), 1, NULL);

	if (map < 0)
		die("no map");
	if (bpf_raw_tracepoint_open(NULL, program_load(map, type, func)) < 0)
		die("the program cannot be attached");
	return map;
}

static unsigned long long counted(int map)
{
	const __u32 key = 0;
	__u64 value;

	if (bpf_map_lookup_elem(map, &key, &value))
		die("the map cannot be read");
	return value;
}

int main(int argc, char **argv)
{
	int func, entries, exits;
	struct btf *btf;

	if (argc != 3) {
		fprintf(stderr, "usage: bpf-calls FUNCTION OPENATS\n");
		return 2;
	}
	btf = btf__load_vmlinux_btf();
	if (!btf)
		die("no types of the kernel");
	func = btf__find_by_name_kind(btf, argv[1], BTF_KIND_FUNC);
	if (func < 0)
		die(argv[1]);
	entries = count_calls(BPF_TRACE_FENTRY, func);
	exits = count_calls(BPF_TRACE_FEXIT, func);
	for (long i = strtol(argv[2], NULL, 10); i > 0; i--)
		close(open("/proc/version", O_RDONLY));
	printf("bpf: %llu entries, %llu exits\n", counted(entries), counted(exits));
	return 0;
}
