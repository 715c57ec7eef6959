// SPDX-License-Identifier: GPL-2.0-or-later
/* outlet.c - see outlet.h */
#include "frontend/remote/outlet.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/image/json-find.h"
#include "frontend/lib/cancel.h"
#include "frontend/lib/exit.h"
#include "frontend/lib/json.h"
#include "frontend/lib/meter.h"
#include "frontend/lib/output.h"
#include "frontend/record/incoming.h"
#include "frontend/sandbox/broker.h"
#include "frontend/sandbox/sandbox.h"

#define FILE_MAX (16u << 20) /* a summary, or a picture */

/* Beside what it has: of the journal one record is held, packed, and its pages are listed. */
#define MEMORY_MAX (UINT64_C(1) << 30)

/* --- the beginning -----------------------------------------------------------------------------
 */

static bool is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

static int open_file(struct outlet_file *f, const char *what, const char *path,
		     const struct cancel *cancel, char *err, size_t errlen)
{
	int rc;

	if (!path)
		return 0;
	rc = target_open_file(&f->target, is_stdout(path) ? NULL : path, cancel);
	f->is_open = !rc;
	if (!rc)
		rc = target_keep_rights(&f->target);
	if (!rc)
		return 0;
	snprintf(err, errlen, "cannot write %s%s: %s", what, path, strerror(-rc));
	return -1;
}

/* A file that is not there yet is made, and is nobody's loss. */
static void open_stream(struct outlet *o, const char *path, const struct outlet_signals *signals)
{
	const struct output_as as = {.cancel = signals->cancel,
				     .asked = o->cfg->record ? signals->asked : NULL,
				     .arg = signals->arg,
				     .kept = path,
				     .written = &o->bytes};
	struct stat st;

	o->is_new = path && lstat(path, &st) && errno == ENOENT;
	o->out = output_open_as(path, &as);
	o->is_as_ever = o->out && path && !stat(path, &st) && S_ISREG(st.st_mode);
}

static int open_text(struct outlet *o, const struct outlet_signals *signals, char *err,
		     size_t errlen)
{
	const char *path = o->cfg->output;

	if (o->cfg->record && isatty(STDOUT_FILENO)) {
		snprintf(err, errlen,
			 "a recording is nothing for a terminal: name a file (-o FILE.dat), or "
			 "have a program read it");
		return -1;
	}
	output_paint(o->cfg->paint);
	open_stream(o, is_stdout(path) ? NULL : path, signals);
	if (o->out)
		return 0;
	snprintf(err, errlen, "cannot write %s: %s", is_stdout(path) ? "to standard output" : path,
		 strerror(errno));
	return -1;
}

int outlet_open(struct outlet *o, const struct outlet_config *cfg,
		const struct outlet_signals *signals, char *err, size_t errlen)
{
	*o = (struct outlet){.cfg = cfg};
	if (open_file(&o->picture, "", cfg->file, signals->cancel, err, errlen) ||
	    open_file(&o->summary, "the summary to ", cfg->summary, signals->cancel, err, errlen))
		return -1;
	if (!cfg->record || is_stdout(cfg->output))
		return open_text(o, signals, err, errlen);
	o->recording = incoming_open(cfg->output, err, errlen);
	return o->recording ? 0 : -1;
}

enum { DEED_PLACE, DEED_DISCARD, DEED_REMOVE, NR_DEEDS };

static int do_place(void *arg)
{
	const struct outlet *o = arg;

	return record_place(o->cfg->output);
}

/* As it was when rights were given up: nothing was recorded yet. */
static int do_discard(void *arg)
{
	const struct outlet *o = arg;

	incoming_close(o->recording);
	return 0;
}

/* The file that was made for a text of which nothing has come. */
static int do_remove(void *arg)
{
	const struct outlet *o = arg;
	struct stat st;

	if (lstat(o->cfg->output, &st) || !S_ISREG(st.st_mode) || st.st_size)
		return 0;
	return unlink(o->cfg->output) ? -errno : 0;
}

int outlet_confine(struct outlet *o, char *err, size_t errlen)
{
	const struct broker_deed deeds[NR_DEEDS] = {
		[DEED_PLACE] = {do_place, o, false},
		[DEED_DISCARD] = {do_discard, o, false},
		[DEED_REMOVE] = {do_remove, o, false},
	};
	int rc;

	if (o->cfg->no_sandbox)
		return 0;
	rc = o->recording || o->is_new ? broker_start(&o->broker, deeds, NR_DEEDS) : 0;
	if (!rc)
		return sandbox_enter(MEMORY_MAX, err, errlen) ? -1 : 0;
	snprintf(err, errlen,
		 "no sandbox: a process cannot be started: %s; --no-sandbox does without",
		 strerror(-rc));
	return -1;
}

/* --- what comes --------------------------------------------------------------------------------
 */

/* What the file had before is not wanted any more. */
static int begin_text(struct outlet *o)
{
	int rc = o->is_as_ever ? output_again(o->out) : 0;

	o->is_as_ever = false;
	return rc;
}

static int put_text(struct outlet *o, const uint8_t *data, size_t len)
{
	int rc = len ? begin_text(o) : 0;

	if (rc)
		return rc;
	errno = 0;
	if (fwrite(data, 1, len, o->out) == len && !fflush(o->out))
		return 0;
	return errno ? -errno : -EIO;
}

int outlet_put(struct outlet *o, const uint8_t *data, size_t len)
{
	if (!o->error)
		o->error = o->recording ? incoming_add(o->recording, data, len)
					: put_text(o, data, len);
	return o->error;
}

int outlet_put_file(struct outlet *o, unsigned int file, const uint8_t *data, size_t len)
{
	struct outlet_file *f = o->cfg->file && !file ? &o->picture : &o->summary;

	if (!f->is_open || len > FILE_MAX - f->said.len)
		return -EBADMSG;
	text_add(&f->said, data, len);
	return f->said.failed ? -ENOMEM : 0;
}

/* --- the picture -------------------------------------------------------------------------------
 */

/* Who was killed has maybe not written all of it. */
static int picture_error(const struct outlet *o, int status)
{
	if (!o->picture.said.len)
		return status ? -ECANCELED : -ENODATA;
	return status < CANCEL_STATUS(0) ? 0 : -ECANCELED;
}

/* status: of the other host. False: it cannot be written, which was said. */
static bool finish_picture(struct outlet *o, int status)
{
	struct outlet_file *f = &o->picture;
	int rc, closed;

	if (!f->is_open)
		return true;
	rc = picture_error(o, status);
	if (!rc)
		rc = target_begin(&f->target);
	if (!rc)
		fwrite(f->said.buf, 1, f->said.len, f->target.out);
	closed = target_close(&f->target, !rc);
	f->is_open = false;
	if (!rc)
		rc = closed;
	/* Of what is not there for its status that host has said why. */
	if (!rc || rc == -EPIPE || rc == -ECANCELED)
		return true;
	fprintf(stderr, "hvtrace: cannot write %s: %s\n", o->cfg->file,
		rc == -ENODATA ? "nothing has come" : strerror(-rc));
	return false;
}

/* --- the summary -------------------------------------------------------------------------------
 */

/* What it says of the file, which is here. */
struct written {
	bool known;
	const struct record_result *recorded; /* NULL: it is text */
	uint64_t bytes;
	int error;
};

static void put_number(FILE *out, const char *key, bool known, uint64_t n)
{
	if (known)
		fprintf(out, ", \"%s\": %" PRIu64, key, n);
	else
		fprintf(out, ", \"%s\": null", key);
}

static void put_file(const struct outlet *o, const struct written *w, FILE *out)
{
	fprintf(out, "{\"file\": ");
	if (is_stdout(o->cfg->output) || o->cfg->prints)
		fprintf(out, "null");
	else
		json_text(o->cfg->output, out);
	put_number(out, "bytes", w->known, w->bytes);
	put_number(out, "record_bytes", w->known && w->recorded,
		   w->recorded ? w->recorded->bytes : 0);
	fprintf(out, ", \"error\": ");
	if (w->error)
		json_text(strerror(-w->error), out);
	else
		fprintf(out, "null");
	fputc('}', out);
}

/* What the other host says, but for what is known better here. False: it makes no sense. */
static bool put_said(const struct outlet *o, int status, const struct written *w, FILE *out)
{
	const struct json_value all = {o->summary.said.buf, o->summary.said.len};
	struct json_value its_status, file;
	const char *end = all.text + all.len, *behind;

	if (!json_find(all, "status", &its_status) || !json_find(all, "output", &file) ||
	    file.text < its_status.text)
		return false;
	behind = its_status.text + its_status.len;
	fwrite(all.text, 1, (size_t)(its_status.text - all.text), out);
	fprintf(out, "%d", status);
	fwrite(behind, 1, (size_t)(file.text - behind), out);
	if (o->cfg->prints)
		fwrite(file.text, 1, file.len, out);
	else
		put_file(o, w, out);
	behind = file.text + file.len;
	fwrite(behind, 1, (size_t)(end - behind), out);
	return true;
}

static void put_own(const struct outlet *o, int status, const char *ended, const char *why,
		    const struct written *w, FILE *out)
{
	fprintf(out, "{\n  \"status\": %d,\n  \"end\": ", status);
	json_text(ended, out);
	fprintf(out, ",\n  \"reason\": ");
	json_text(why, out);
	fprintf(out, ",\n  \"output\": ");
	put_file(o, w, out);
	fprintf(out, "\n}\n");
}

/* ended NULL: a summary is the other host's. The exit status. */
static int finish_summary(struct outlet *o, int status, const char *ended, const char *why,
			  const struct written *w)
{
	struct target *t = &o->summary.target;
	int rc, closed;

	if (!o->summary.is_open)
		return status;
	rc = target_begin(t);
	if (!rc && (ended || !put_said(o, status, w, t->out)))
		put_own(o, status, ended ? ended : "error",
			why ? why : "the other host has said nothing of it", w, t->out);
	closed = target_close(t, !rc);
	o->summary.is_open = false;
	if (!rc)
		rc = closed;
	if (!rc || rc == -EPIPE)
		return status;
	fprintf(stderr, "hvtrace: cannot write the summary to %s: %s\n", o->cfg->summary,
		strerror(-rc));
	return status ? status : EXIT_FAILED;
}

/* --- the end -----------------------------------------------------------------------------------
 */

static int place(struct outlet *o)
{
	return o->broker ? broker_ask(o->broker, DEED_PLACE) : record_place(o->cfg->output);
}

static void show_percent(void *arg, unsigned int percent)
{
	meter_show(arg, percent, 100, 0);
}

static int make_recording(struct outlet *o, struct record_result *result)
{
	struct meter meter;
	const struct record_watch watch = {show_percent, &meter};
	int rc;

	meter_begin(&meter, o->cfg->output, NULL);
	rc = incoming_finish(o->recording, &watch, result);
	meter_end(&meter);
	return rc ? rc : place(o);
}

/* Where nothing has come the other host has said why. */
static int finish_recording(struct outlet *o, struct record_result *result, int status)
{
	const char *path = o->cfg->output;
	char size[RECORD_SIZE_LEN], bytes[RECORD_SIZE_LEN];
	int rc;

	if (!incoming_has_begun(o->recording) && status && !o->error)
		return EXIT_OK;
	rc = make_recording(o, result);
	if (result->lost)
		fprintf(stderr, "hvtrace: cannot write all of %s: %s: it ends before the trace\n",
			path, strerror(-result->lost));
	if (rc && !incoming_has_begun(o->recording))
		fprintf(stderr, "hvtrace: cannot write %s: %s\n", path,
			rc == -ENODATA ? "nothing has come" : strerror(-rc));
	else if (rc)
		fprintf(stderr,
			"hvtrace: %s is not finished: %s; what is recorded is there: hvtrace repair %s\n",
			path, strerror(-rc), path);
	if (rc)
		return EXIT_FAILED;
	if (!o->cfg->unheard)
		fprintf(stderr, "hvtrace: %s: %s, %s of records\n", path,
			record_size(result->size, size), record_size(result->bytes, bytes));
	if (result->lost || incoming_is_whole(o->recording))
		return result->lost ? EXIT_FAILED : EXIT_OK;
	fprintf(stderr, "hvtrace: %s: what has come ends within a record\n", path);
	return EXIT_FAILED;
}

/* Of a command that has ended well nothing is all that it has printed. */
static int finish_text(struct outlet *o, int status)
{
	const char *path = o->cfg->output;

	if (!status && !o->error)
		o->error = begin_text(o);
	if (fclose(o->out) && !o->error)
		o->error = -errno;
	o->out = NULL;
	/* Whoever has read as much as he wanted. */
	if (!o->error || o->error == -EPIPE)
		return EXIT_OK;
	fprintf(stderr, "hvtrace: cannot write %s: %s\n",
		is_stdout(path) ? "to standard output" : path, strerror(-o->error));
	return EXIT_FAILED;
}

int outlet_finish(struct outlet *o, int status)
{
	struct record_result result = {0};
	struct written w = {0};
	int own = o->recording ? finish_recording(o, &result, status) : finish_text(o, status);

	if (!finish_picture(o, status))
		own = EXIT_FAILED;
	w.known = !o->cfg->prints && !o->is_as_ever;
	if (o->recording) {
		w.known = !own && result.size;
		w.recorded = &result;
	}
	w.bytes = o->recording ? result.size : o->bytes;
	w.error = o->error == -EPIPE ? 0 : o->error;
	return finish_summary(o, status ? status : own, NULL, NULL, &w);
}

void outlet_give_up(struct outlet *o, int status, const char *end, const char *why)
{
	const struct written w = {.error = o->error};

	if (o->out)
		fclose(o->out);
	o->out = NULL;
	finish_summary(o, status, end, why, &w);
}

bool outlet_has_journal(const struct outlet *o)
{
	return o->recording && incoming_has_begun(o->recording);
}

static void close_file(struct outlet_file *f)
{
	if (f->is_open)
		target_close(&f->target, false);
	f->is_open = false;
	text_free(&f->said);
}

static void remove_new(struct outlet *o)
{
	if (o->broker)
		broker_ask(o->broker, DEED_REMOVE);
	else
		do_remove(o);
}

void outlet_close(struct outlet *o)
{
	close_file(&o->picture);
	close_file(&o->summary);
	if (o->out)
		fclose(o->out);
	if (o->is_new && o->is_as_ever)
		remove_new(o);
	if (o->broker && o->recording && !incoming_has_begun(o->recording))
		broker_ask(o->broker, DEED_DISCARD);
	incoming_close(o->recording);
	broker_stop(o->broker);
}
