// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ship.c - `hvtrace ship`: takes what is in trace.dat files to ClickHouse.
 *
 * Three kinds of processes: one that delivers, which never looks into a file; one that reads a
 * file, in the sandbox, and has neither a connection nor a password; and between them one that
 * starts the readers one after another, before any of these is there to be inherited.
 */
#include "frontend/ship/ship.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/cmd/command.h"
#include "frontend/cmd/dat-file.h"
#include "frontend/lib/file.h"
#include "frontend/lib/json.h"
#include "frontend/lib/options.h"
#include "frontend/lib/output.h"

enum {
	PIPE_SIZE = 1 << 20,
	PASSWORD_MAX = 512,
	HOST_MAX = 256,
};

struct ship_options {
	struct option_list to;
	const char *database, *user, *password_file, *host, *guest, *spool, *summary;
	uint64_t spool_max, rows, for_ms, retry_ms;
	bool create, fields, no_sandbox;
	char password[PASSWORD_MAX], own_host[HOST_MAX];
};

static const struct option_usage ship_usage = {
	"hvtrace ship [OPTION]... FILE...",
	"Takes the records of each FILE, a trace.dat file, to ClickHouse servers, in batches of columns. A\n"
	"record counts once, however often FILE is shipped and whatever fails meanwhile. What cannot be\n"
	"delivered goes to --spool, and first of all when something is shipped the next time.",
	"hvtrace ship --create trace.dat\n"
	"hvtrace ship --to http://store1:8123 --to http://store2:8123 --spool /var/spool/hvtrace *.dat\n"
	"hvtrace ship --to https://store:8443 --user me --password-file password trace.dat",
};

/* --- who reads ---------------------------------------------------------------------------------
 */

static uint32_t written_at(const char *path)
{
	struct stat st;

	return stat(path, &st) || st.st_mtime < 0 || st.st_mtime > UINT32_MAX
		       ? 0
		       : (uint32_t)st.st_mtime;
}

static int feed(const struct ship_options *opt, struct dat_file *f, const char *guest,
		uint32_t written, int fd)
{
	const struct ship_source source = {
		.dat = f->dat,
		.formats = f->formats,
		.records = f->records,
		.host = opt->host,
		.guest = guest,
		.rows = (uint32_t)opt->rows,
		.fields = opt->fields,
		.written = written,
		.fd = fd,
	};
	int rc = ship_feed(&source);

	if (!rc)
		return dat_file_tell_damage(f);
	/* Why nobody takes them any more is said by who does not. */
	if (rc != -EPIPE)
		fprintf(stderr, "hvtrace: %s: %s\n", dat_info(f->dat)->name, strerror(-rc));
	return EXIT_FAILED;
}

static int feed_all(const struct ship_options *opt, struct dat_file *files, size_t nr,
		    uint32_t written, int fd)
{
	int status = EXIT_OK;

	if (nr == 1 && files->part < 0)
		return feed(opt, files, opt->guest, written, fd);
	if (opt->guest) {
		fprintf(stderr,
			"hvtrace: %s: it has %zu guests, which go by their own names: without "
			"--guest\n",
			files->path, nr);
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < nr; i++)
		if (feed(opt, &files[i], dat_title(files[i].dat), written, fd))
			status = EXIT_FAILED;
	return status;
}

static int read_one(const struct ship_options *opt, const char *path, int fd)
{
	const struct dat_file_options all = {.no_sandbox = opt->no_sandbox};
	const struct formats_config no_plugins = {.no_plugins = true};
	/* One of several guests becomes several. */
	struct dat_file *files = calloc(DAT_FILES_MAX, sizeof(*files));
	uint32_t written = written_at(path);
	int status = EXIT_FAILED;
	size_t nr = files ? 1 : 0;

	if (!files)
		fprintf(stderr, "hvtrace: %s: no memory\n", path);
	else if (dat_files_open(files, &path, &nr, &all, &no_plugins))
		status = feed_all(opt, files, nr, written, fd);
	for (size_t i = 0; i < nr; i++)
		status = dat_file_close(&files[i], status);
	free(files);
	return status;
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* What is run there ends with this process. -1: it was not started, which is said. */
static pid_t start(void)
{
	pid_t child, parent = getpid();

	fflush(NULL);
	child = fork();
	if (child < 0)
		fprintf(stderr, "hvtrace: cannot start a process: %s\n", strerror(errno));
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_FAILED);
	}
	return child;
}

static void leave(int status)
{
	fflush(NULL);
	_exit(status);
}

/* Each in a process of its own, as a sandbox is not left. */
static int read_all(const struct ship_options *opt, char **paths, int nr, int fd)
{
	int status = EXIT_OK;

	for (int i = 0; i < nr; i++) {
		pid_t child = start();

		if (!child)
			leave(read_one(opt, paths[i], fd));
		if (child < 0 || wait_for(child))
			status = EXIT_FAILED;
	}
	return status;
}

/* --- who delivers ------------------------------------------------------------------------------
 */

static void say(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "hvtrace: %s\n", line);
}

static double megabytes(uint64_t n)
{
	return (double)n / 1e6;
}

static void tell_delivered(const struct ship_result *r)
{
	printf("%" PRIu64 " records delivered in %" PRIu64
	       " batches: %.1f MB, %.1f MB compressed\n",
	       r->records, r->batches, megabytes(r->raw), megabytes(r->packed));
	if (r->there_batches)
		printf("%" PRIu64 " records in %" PRIu64 " batches were there already\n", r->there,
		       r->there_batches);
	if (r->lost)
		printf("%" PRIu64 " records or more were lost when the trace was made\n", r->lost);
}

static void put_summary(const struct ship_result *r, FILE *out)
{
	struct json j = {.out = out};

	json_begin_object(&j, NULL);
	json_put_number(&j, "records", r->records);
	json_put_number(&j, "batches", r->batches);
	json_put_number(&j, "bytes", r->raw);
	json_put_number(&j, "packed_bytes", r->packed);
	json_put_number(&j, "there_already", r->there);
	json_put_number(&j, "spooled", r->spooled);
	json_put_number(&j, "missed", r->missed);
	json_put_number(&j, "spool_batches", r->left);
	json_put_number(&j, "lost", r->lost);
	json_put_text(&j, "reason", *r->why ? r->why : NULL);
	json_end_object(&j);
}

static int write_summary(const struct ship_options *opt, const struct ship_result *r)
{
	FILE *out = output_open(strcmp(opt->summary, "-") ? opt->summary : NULL, NULL);

	if (out) {
		put_summary(r, out);
		if (!(ferror(out) | fclose(out)))
			return EXIT_OK;
	}
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", opt->summary, strerror(errno));
	return EXIT_FAILED;
}

static int tell(const struct ship_options *opt, const struct ship_result *r)
{
	const char *colon = *r->why ? ": " : "";
	int status = opt->summary ? write_summary(opt, r) : EXIT_OK;

	if (!opt->summary || strcmp(opt->summary, "-") != 0)
		tell_delivered(r);
	if (r->left)
		fprintf(stderr,
			"hvtrace: %" PRIu64 " batches are in the spool %s, and go first the next "
			"time%s%s\n",
			r->left, opt->spool, colon, r->why);
	if (r->missed_batches)
		fprintf(stderr,
			"hvtrace: %" PRIu64 " records in %" PRIu64
			" batches were not delivered%s%s%s\n",
			r->missed, r->missed_batches,
			r->stopped ? ", nor what may come behind them" : "", colon, r->why);
	return r->left || r->missed_batches || r->stopped || r->refused ? EXIT_FAILED : status;
}

static struct ship_config config_of(const struct ship_options *opt)
{
	return (struct ship_config){
		.urls = opt->to.values,
		.nr_urls = opt->to.nr,
		.database = opt->database,
		.user = opt->user,
		.password = *opt->password ? opt->password : NULL,
		.spool = opt->spool,
		.spool_max = opt->spool_max,
		.retry_ms = opt->retry_ms,
		.for_ms = opt->for_ms,
		.say = say,
	};
}

static int deliver(const struct ship_options *opt, int fd)
{
	const struct ship_config cfg = config_of(opt);
	struct ship_result result;
	char err[512];

	if (!ship_deliver(&cfg, fd, &result, err, sizeof(err)))
		return tell(opt, &result);
	fprintf(stderr, "hvtrace: %s\n", err);
	return EXIT_FAILED;
}

/*
 * Before anything is read. Where there is a spool, a server that does not answer yet may get its
 * tables the next time.
 */
static bool prepare(const struct ship_options *opt)
{
	const struct ship_config cfg = config_of(opt);
	const char *missing = ship_missing();
	char err[512];

	if (missing) {
		fprintf(stderr, "hvtrace: %s\n", missing);
		return false;
	}
	if (!opt->create || !ship_create(&cfg, err, sizeof(err)))
		return true;
	fprintf(stderr, "hvtrace: %s\n", err);
	return opt->spool;
}

static int ship(const struct ship_options *opt, char **paths, int nr)
{
	int fds[2], status;
	pid_t reader;

	signal(SIGPIPE, SIG_IGN);
	if (!prepare(opt))
		return EXIT_FAILED;
	if (pipe2(fds, O_CLOEXEC)) {
		fprintf(stderr, "hvtrace: no pipe: %s\n", strerror(errno));
		return EXIT_FAILED;
	}
	/* Without it there are more turns for the same. */
	if (fcntl(fds[0], F_SETPIPE_SZ, PIPE_SIZE) < 0)
		errno = 0;
	reader = start();
	if (!reader) {
		close(fds[0]);
		leave(read_all(opt, paths, nr, fds[1]));
	}
	close(fds[1]);
	if (reader < 0) {
		close(fds[0]);
		return EXIT_FAILED;
	}
	status = deliver(opt, fds[0]);
	return wait_for(reader) ? EXIT_FAILED : status;
}

/* --- options -----------------------------------------------------------------------------------
 */

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

static bool set_password(struct ship_options *opt, const char *from, const char *text, size_t len)
{
	while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	snprintf(opt->password, sizeof(opt->password), "%.*s", (int)(len < INT32_MAX ? len : 0),
		 text ? text : "");
	if (len < sizeof(opt->password) && strlen(opt->password) == len && is_plain(opt->password))
		return true;
	fprintf(stderr,
		"hvtrace: %s: it is no password: it has control characters, or is too long\n",
		from);
	return false;
}

/* Of a file, or of the variable that clickhouse-client knows. */
static bool take_password(struct ship_options *opt)
{
	const char *value = getenv("CLICKHOUSE_PASSWORD");
	struct file_bytes file;
	bool good;
	int rc;

	if (!opt->password_file)
		return !value || set_password(opt, "CLICKHOUSE_PASSWORD", value, strlen(value));
	rc = file_read(&file, opt->password_file);
	if (rc) {
		fprintf(stderr, "hvtrace: cannot read %s: %s\n", opt->password_file,
			file_strerror(rc));
		return false;
	}
	good = set_password(opt, opt->password_file, file.data, file.len);
	file_free(&file);
	return good;
}

static bool check_urls(const struct ship_options *opt)
{
	for (size_t i = 0; i < opt->to.nr; i++) {
		if (ship_url_good(opt->to.values[i]))
			continue;
		fprintf(stderr,
			"hvtrace: --to %s: it is no URL of a server, such as http://HOST:8123, with "
			"neither a name nor a password in it (--user, --password-file)\n",
			opt->to.values[i]);
		return false;
	}
	if (opt->to.nr <= SHIP_SERVERS_MAX)
		return true;
	fprintf(stderr, "hvtrace: --to: %d servers at most\n", SHIP_SERVERS_MAX);
	return false;
}

static bool check_names(const struct ship_options *opt)
{
	const struct {
		const char *option, *value;
	} all[] = {
		{"host", opt->host},
		{"guest", opt->guest},
		{"user", opt->user},
		{"database", opt->database},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const char *value = all[i].value;

		if (!value || (*value && strlen(value) < 128 && is_plain(value)))
			continue;
		fprintf(stderr, "hvtrace: --%s %s: it is no name\n", all[i].option, value);
		return false;
	}
	if (!strchr(opt->database, '`') && !strchr(opt->database, '\\'))
		return true;
	fprintf(stderr, "hvtrace: --database %s: it is no name of a database\n", opt->database);
	return false;
}

static int ship_checked(struct ship_options *opt, char **paths, int nr)
{
	static const char *const here[] = {"http://127.0.0.1:8123"};
	const struct ship_options given = *opt;
	int status;

	if (!opt->to.nr)
		opt->to = (struct option_list){(const char **)(uintptr_t)here, 1};
	if (!opt->host && !gethostname(opt->own_host, sizeof(opt->own_host) - 1))
		opt->host = opt->own_host;
	status = check_urls(opt) && check_names(opt) ? EXIT_OK : EXIT_USAGE;
	if (!status)
		status = take_password(opt) ? ship(opt, paths, nr) : EXIT_FAILED;
	opt->to = given.to;
	return status;
}

int cmd_ship(int argc, char **argv)
{
	struct ship_options opt = {
		.database = "hvtrace",
		.spool_max = UINT64_C(1) << 30,
		.rows = SHIP_BATCH_ROWS,
		.retry_ms = 30000,
	};
	const struct option_row rows[] = {
		OPT_LIST(0, "to", &opt.to, "URL",
			 "a server (default: http://127.0.0.1:8123); several share the batches"),
		OPT_STRING(0, "database", &opt.database, "NAME",
			   "where tables are (default: hvtrace)"),
		OPT_FLAG(0, "create", &opt.create, "make the database and tables, if need be"),
		OPT_STRING(0, "user", &opt.user, "NAME", "who we are there (default: default)"),
		OPT_STRING_OF(COMPLETE_FILE, 0, "password-file", &opt.password_file, "FILE",
			      "what has the password (default: $CLICKHOUSE_PASSWORD)"),
		OPT_STRING(0, "host", &opt.host, "NAME",
			   "where the guest ran (default: this host's name)"),
		OPT_STRING(0, "guest", &opt.guest, "NAME",
			   "what the guest is called (default: what FILE says)"),
		OPT_FLAG(0, "fields", &opt.fields, "what events say, too, as text; takes long"),
		OPT_STRING_OF(COMPLETE_DIRECTORY, 0, "spool", &opt.spool, "DIR",
			      "where batches go that cannot be delivered"),
		OPT_SIZE_MB(0, "spool-max", &opt.spool_max, 1 << 20, UINT64_C(1) << 50, "MB",
			    "how much of that (default: 1024)"),
		OPT_NUMBER(0, "batch-rows", &opt.rows, 1, SHIP_BATCH_ROWS_MAX, "N",
			   "records in a batch (default: 1048576)"),
		OPT_TIME(0, "retry", &opt.retry_ms, "TIME",
			 "for how long servers are tried that take nothing (default: 30s)"),
		OPT_TIME(0, "for", &opt.for_ms, "TIME", "how long it may take in all"),
		OPT_STRING(0, "summary", &opt.summary, "FILE",
			   "for programs: write an object of JSON with what came of it (-: to "
			   "stdout)"),
		OPT_FLAG(0, "no-sandbox", &opt.no_sandbox,
			 "keep all rights while files are read; for debugging hvtrace"),
		OPT_END,
	};
	int first = options_parse(argc, argv, rows, &ship_usage), status = EXIT_USAGE;

	if (first == OPTIONS_HELP)
		status = EXIT_OK;
	else if (first >= 0 && argc == first)
		fprintf(stderr, "hvtrace: ship takes trace.dat files (hvtrace ship --help)\n");
	else if (first >= 0)
		status = ship_checked(&opt, &argv[first], argc - first);
	option_list_free(&opt.to);
	return status;
}
