// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * snapshot-save.c - `hvtrace snapshot save`: a guest that another hvtrace runs is saved, and runs
 * on.
 *
 * It comes over that one's socket as it is, with what the trace has in it. That is taken out of a
 * copy: a machine of what has come goes on for a moment, until nobody is in there any more, as in a
 * guest whose tracer was killed. The guest itself stands for no longer than it takes to read it.
 */
#include "frontend/cmd/command.h"
#include "frontend/control/client.h"
#include "frontend/lib/options.h"
#include "frontend/session/connect.h"
#include "frontend/session/session.h"
#include "frontend/session/snapshot-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct save {
	struct session s; /* of the copy */
	const char *guest, *path, *kernel;
	struct snapshot_file came, clean; /* the second only of a guest with probes */
	bool has_come, is_clean;
	double seconds; /* that the guest has stood */
};

static const struct option_usage save_usage = {
	"hvtrace snapshot save [OPTION]... GUEST FILE",
	"Saves a guest that hvtrace run or hvtrace snapshot restore has in a machine of its own, as it is\n"
	"now but without its probes, to FILE. The guest stands meanwhile, and then goes on, as does its\n"
	"trace. GUEST is its name in hvtrace list, or the pid of its hvtrace.",
	"hvtrace snapshot save hvtrace-4711 now.snap\n"
	"hvtrace snapshot restore now.snap -t function_graph --for 2s",
};

static int save_fail(struct save *v, const char *what, int rc)
{
	snprintf(v->s.err, sizeof(v->s.err), "%s: %s%s", v->path, what,
		 rc == -EINVAL ? "not a regular file" : strerror(-rc));
	return -1;
}

/* Whoever asks us to end has the other end find us gone. */
static int save_put(void *arg, const void *data, size_t len, uint64_t at)
{
	struct save *v = arg;

	return session_cancelled(&v->s) ? -ECANCELED : snapshot_file_put(&v->came, data, len, at);
}

static int save_receive(struct save *v)
{
	struct control_client *c = connect_to_trace(v->guest, -1);
	struct timespec begin, end;
	char err[256];
	int rc;

	if (!c)
		return -2; /* a line has said why */
	control_client_until(c, v->s.cancel.fd);
	rc = snapshot_file_open(&v->came, v->path);
	v->has_come = !rc;
	if (rc) {
		control_client_free(c);
		return save_fail(v, "cannot be written: ", rc);
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	rc = control_save(c, save_put, v, err, sizeof(err));
	clock_gettime(CLOCK_MONOTONIC, &end);
	v->seconds =
		(double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	control_client_free(c);
	if (!rc)
		return 0;
	snprintf(v->s.err, sizeof(v->s.err), "%s is not written: %s", v->path, err);
	return -1;
}

/* It shows that the file can be restored, too. */
static int save_make_copy(struct save *v)
{
	char path[64];
	const struct machine_config cfg = {
		.snapshot = path,
		.cancelled = session_cancelled,
		.trap = session_trap,
		.mmio = session_mmio,
		.arg = &v->s,
	};

	snprintf(path, sizeof(path), "/proc/self/fd/%d", v->came.fd);
	v->s.m = machine_new("kvm", &cfg, v->s.err, sizeof(v->s.err));
	return v->s.m ? 0 : -1;
}

static int save_open_kernel(struct save *v)
{
	struct machine_info info;

	machine_get_info(v->s.m, &info);
	if (!v->kernel)
		v->kernel = info.kernel_path;
	if (!v->kernel) {
		snprintf(v->s.err, sizeof(v->s.err),
			 "it is not known which kernel %s runs: name its image with -k", v->guest);
		return -1;
	}
	v->s.gs = guestsym_open(v->s.parsers, v->kernel, 0, v->s.err, sizeof(v->s.err));
	return v->s.gs ? session_new_trace(&v->s, info.vcpus, true) : -1;
}

/* Attaching takes away what there is, as after a tracer that was killed. */
static int save_take_probes_out(struct save *v)
{
	int rc;

	if (save_open_kernel(v) || machine_start(v->s.m, v->s.err, sizeof(v->s.err)) ||
	    trace_attach_running(v->s.trace, v->s.m, v->s.err, sizeof(v->s.err)))
		return -1;
	rc = trace_detach(v->s.trace);
	return rc ? save_fail(v, "the copy of the guest cannot be put in order: ", rc) : 0;
}

static int save_clean(struct save *v)
{
	struct machine_save save = {.put = snapshot_file_put, .arg = &v->clean};
	struct machine_info info;
	char id[64];
	int rc;

	if (save_take_probes_out(v))
		return -1;
	machine_get_info(v->s.m, &info);
	snprintf(id, sizeof(id), "%s", guestsym_build_id(v->s.gs));
	save.kernel_path = info.kernel_path;
	save.kernel_id = id;
	rc = snapshot_file_open(&v->clean, v->path);
	v->is_clean = !rc;
	if (rc)
		return save_fail(v, "cannot be written: ", rc);
	return machine_save(v->s.m, &save, v->s.err, sizeof(v->s.err)) ? -1 : 0;
}

static int save_all(struct save *v)
{
	struct machine_info info;
	int rc = save_receive(v);

	if (rc || save_make_copy(v))
		return rc ? rc : -1;
	machine_get_info(v->s.m, &info);
	return info.left_windows ? save_clean(v) : 0;
}

/* Where nothing went wrong, the last of the two files is the one. 0, or -1 and the session says
 * why. */
static int save_finish(struct save *v, bool whole)
{
	struct snapshot_file *last = v->is_clean ? &v->clean : &v->came;
	struct stat st = {0};
	int rc = 0;

	if (v->is_clean)
		snapshot_file_close(&v->came, false);
	if (v->has_come) {
		fstat(last->fd, &st);
		rc = snapshot_file_close(last, whole);
	}
	if (!whole)
		return 0;
	if (rc)
		return save_fail(v, "cannot be written: ", rc);
	fprintf(stderr,
		"hvtrace: saved to %s: %lld MB; the guest stood %.2f s (hvtrace snapshot restore "
		"%s)\n",
		v->path, (long long)st.st_blocks * 512 >> 20, v->seconds, v->path);
	return 0;
}

static void save_hear_nothing(struct session *s, enum machine_msg_level level, const char *text)
{
	(void)s, (void)level, (void)text; /* what is done to the copy is nobody's concern */
}

static int save_guest(const char *guest, const char *path, const char *kernel)
{
	struct session_options opt = SESSION_OPTIONS_DEFAULT;
	struct save v = {.guest = guest, .path = path, .kernel = kernel};
	int rc, status = EXIT_OK;

	opt.tracer = "nop";
	opt.engine = "trap";
	v.s.message = save_hear_nothing;
	rc = session_init(&v.s, &opt) ? -1 : save_all(&v);
	if (save_finish(&v, !rc))
		rc = -1;
	if (rc)
		status = rc == -1 ? session_give_up(&v.s) : EXIT_FAILED;
	session_exit(&v.s);
	return status;
}

int cmd_snapshot_save(int argc, char **argv)
{
	char name[] = "hvtrace snapshot save";
	const char *kernel = NULL;
	const struct option_row rows[] = {
		OPT_STRING('k', "kernel", &kernel, "FILE",
			   "the image of its kernel (default: the one that it was booted from)"),
		OPT_OPERANDS(COMPLETE_FILE),
	};
	int first;

	argv[0] = name;
	first = options_parse(argc, argv, rows, &save_usage);
	if (first == OPTIONS_HELP)
		return EXIT_OK;
	if (first < 0)
		return EXIT_USAGE;
	if (argc - first != 2) {
		fprintf(stderr, "hvtrace: snapshot save takes a guest and a file (%s --help)\n",
			argv[0]);
		return EXIT_USAGE;
	}
	return save_guest(argv[first], argv[first + 1], kernel);
}
