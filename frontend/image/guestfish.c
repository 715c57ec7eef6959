// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guestfish.c - reads images by libguestfs: a kernel in a virtual machine of its own mounts the
 * file systems, so that what is wrong with them can harm that one only.
 *
 * guestfish gets commands on its standard input. Behind each comes "echo MARKER", so that the end
 * of what it answers is known; the marker cannot be guessed by those who have made the image. One
 * launch of the machine is for all, as that takes the most time.
 */
#include "frontend/image/child.h"
#include "frontend/image/reader.h"
#include "frontend/lib/tree.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MAX  (1u << 20)
#define PATIENCE_MS 300000 /* for all of it */
/* What the machine starts from is a file of 4 GB, with holes, which is made when it is not there.
 */
#define FILE_SIZE   (UINT64_C(8) << 30)
#define NOT_MOUNTED UINT_MAX
#define TMP_DEPTH   16 /* folders of libguestfs within each other */
#define ENV_SIZE    (PATH_MAX + 32)

struct guestfish {
	struct child child;
	char marker[24];
	char tmp[PATH_MAX];	/* a folder of the host's */
	char scratch[PATH_MAX]; /* a file there, for what is read */
	struct boot_volume volumes[BOOT_VOLUMES_MAX];
	unsigned int mounted;	    /* a volume */
	bool bad[BOOT_VOLUMES_MAX]; /* cannot be mounted */
	int64_t said;		    /* where the last command's errors begin */
};

/* --- commands --------------------------------------------------------------------------------- */

/* Behind the last answer there comes nothing before the next command. */
static bool is_answered(const struct text *answer, const char *marker, size_t len)
{
	const char *at;

	if (answer->len < len)
		return false;
	at = answer->buf + answer->len - len;
	return !memcmp(at, marker, len) && (answer->len == len || at[-1] == '\n');
}

static int read_answer(struct guestfish *g, struct text *answer)
{
	size_t len = strlen(g->marker);
	char buf[4096];
	ssize_t n;

	while (!is_answered(answer, g->marker, len)) {
		n = child_read(&g->child, buf, sizeof(buf));
		if (n <= 0)
			return n ? (int)n : -EPIPE;
		text_add(answer, buf, (size_t)n);
		if (answer->failed || answer->len > ANSWER_MAX)
			return -EFBIG;
	}
	answer->len -= len;
	text_putc(answer, '\0');
	answer->len--;
	return answer->failed ? -ENOMEM : 0;
}

/* Commands, each with its line's end; what they print, and a 0 behind that. 0 or -errno. */
static int ask(struct guestfish *g, struct text *answer, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int ask(struct guestfish *g, struct text *answer, const char *format, ...)
{
	struct text commands = {0};
	char *words = NULL;
	va_list ap;
	int ret;

	va_start(ap, format);
	ret = vasprintf(&words, format, ap) < 0 ? -ENOMEM : 0;
	va_end(ap);
	if (ret)
		return ret;
	/* The marker has a line's end. */
	text_printf(&commands, "%secho %s", words, g->marker);
	free(words);
	g->said = child_said(&g->child);
	ret = commands.failed ? -ENOMEM : child_write(&g->child, commands.buf, commands.len);
	text_free(&commands);
	return ret ? ret : read_answer(g, answer);
}

/* As a word of a command, in double quotes. */
static bool can_be_quoted(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || strchr("\"\\\x7f", *word))
			return false;
	return true;
}

/* A line for err: what guestfish said about the last command, mostly. Gives ret. */
static int why_not(const struct guestfish *g, int ret, char *err, size_t errlen)
{
	const char *help = "";
	char said[256];

	child_error(&g->child, g->said, "error: ", said, sizeof(said));
	if (strstr(said, "supermin"))
		help = " (libguestfs needs a kernel in /boot, or LIBGUESTFS_PATH: see hvtrace-run(1))";
	if (ret == -ECANCELED)
		snprintf(err, errlen, "guestfish was told to end");
	else if (ret == -ETIMEDOUT)
		snprintf(err, errlen, "guestfish does not answer");
	else if (*said)
		snprintf(err, errlen, "guestfish: %s%s", said, help);
	else
		snprintf(err, errlen, "guestfish: %s", strerror(-ret));
	return ret;
}

/* --- files of the image ----------------------------------------------------------------------- */

/* One at a time, so that links go where they go in a guest. */
static int mount_volume(struct guestfish *g, unsigned int volume)
{
	struct text answer = {0};
	int ret;

	if (g->mounted == volume)
		return 0;
	if (g->bad[volume])
		return -ENOENT;
	g->mounted = NOT_MOUNTED;
	ret = ask(g, &answer, "-umount-all\n-mount-ro \"%s\" /\n-mounts\n",
		  g->volumes[volume].device);
	if (!ret && !answer.len) {
		g->bad[volume] = true;
		ret = -ENOENT;
	}
	if (!ret)
		g->mounted = volume;
	text_free(&answer);
	return ret;
}

/* A line "NAME: NUMBER" of a structure. */
static bool find_number(const char *answer, const char *name, int64_t *to)
{
	const char *at = strstr(answer, name);
	char *end;

	if (!at)
		return false;
	errno = 0;
	*to = strtoll(at + strlen(name), &end, 10);
	return !errno && *end == '\n' && *to >= 0;
}

static int prepare(struct guestfish *g, unsigned int volume, const char *path)
{
	return can_be_quoted(path) ? mount_volume(g, volume) : -ENOENT;
}

static int64_t guestfish_size(void *arg, unsigned int volume, const char *path)
{
	struct guestfish *g = arg;
	struct text answer = {0};
	int64_t mode, size = -ENOENT, ret = prepare(g, volume, path);

	if (!ret)
		ret = ask(g, &answer, "-stat \"%s\"\n", path);
	if (!ret && (!find_number(answer.buf, "mode: ", &mode) || !S_ISREG(mode) ||
		     !find_number(answer.buf, "size: ", &size)))
		ret = -ENOENT;
	text_free(&answer);
	return ret ? ret : size;
}

/* Of so many bytes, to a new file of the host's. */
static int download(struct guestfish *g, const char *path, const char *to, int64_t size)
{
	struct text answer = {0};
	struct stat st;
	int ret = can_be_quoted(to) ? 0 : -EINVAL;

	if (!ret)
		ret = ask(g, &answer, "-download \"%s\" \"%s\"\n", path, to);
	text_free(&answer);
	if (!ret && (stat(to, &st) || !S_ISREG(st.st_mode) || st.st_size != size))
		ret = -EIO;
	return ret;
}

static int read_scratch(const char *path, size_t size, struct text *to)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *at = fd < 0 ? NULL : text_begin(to, size);
	ssize_t n = at ? pread(fd, at, size, 0) : -1;
	int ret = at ? 0 : -ENOMEM;

	if (n == (ssize_t)size)
		text_end(to, at + size);
	else if (!ret)
		ret = -EIO;
	if (fd >= 0)
		close(fd);
	return ret;
}

static int guestfish_read(void *arg, unsigned int volume, const char *path, size_t max,
			  struct text *to)
{
	struct guestfish *g = arg;
	int64_t size = guestfish_size(g, volume, path);
	int ret;

	if (size < 0)
		return (int)size;
	if ((uint64_t)size > max)
		return -EFBIG;
	if (!size)
		return 0;
	ret = download(g, path, g->scratch, size);
	if (!ret)
		ret = read_scratch(g->scratch, (size_t)size, to);
	unlink(g->scratch);
	return ret;
}

static int guestfish_list(void *arg, unsigned int volume, const char *folder, struct text *to)
{
	struct guestfish *g = arg;
	struct text answer = {0};
	int ret = prepare(g, volume, folder);

	if (!ret)
		ret = ask(g, &answer, "-ls \"%s\"\n", folder);
	if (!ret)
		text_add(to, answer.buf, answer.len);
	text_free(&answer);
	return ret;
}

static const struct boot_disk_ops guestfish_disk_ops = {
	.size = guestfish_size,
	.read = guestfish_read,
	.list = guestfish_list,
};

static int guestfish_copy(const struct boot_disk *disk, const struct boot_file *from,
			  const char *to, uint64_t max, char *err, size_t errlen)
{
	struct guestfish *g = disk->arg;
	int64_t size = guestfish_size(g, from->volume, from->path);
	int ret;

	if (size == -ENOENT) {
		snprintf(err, errlen, "there is no such file");
		return -ENOENT;
	}
	if (size < 0)
		return why_not(g, (int)size, err, errlen);
	if ((uint64_t)size > max) {
		snprintf(err, errlen,
			 "it has %" PRId64 " MB, more than the %" PRIu64 " that it may have",
			 size >> 20, max >> 20);
		return -EFBIG;
	}
	ret = download(g, from->path, to, size);
	return ret ? why_not(g, ret, err, errlen) : 0;
}

/* --- what is in the image ----------------------------------------------------------------------
 */

/* "/dev/sda1": 1. Of logical volumes and whole disks 0. */
static unsigned int partition_of(const char *device)
{
	size_t letters;

	if (strncmp(device, "/dev/sd", 7) != 0)
		return 0;
	device += 7;
	letters = strspn(device, "abcdefghijklmnopqrstuvwxyz");
	return (unsigned int)strtoul(device + letters, NULL, 10);
}

static bool is_mountable(const char *type)
{
	static const char *const others[] = {
		"unknown", "swap", "crypto_LUKS", "LVM2_member", "linux_raid_member", "BitLocker"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i], type))
			return false;
	return *type;
}

/* "btrfsvol:/dev/sda2/root", "btrfsvol:/dev/group/volume/root": what is behind the device. */
static void take_subvolume(struct boot_volume *v)
{
	const char *name = v->device + strlen("btrfsvol:/dev/");
	bool is_disk;

	if (strncmp(v->device, "btrfsvol:/dev/", strlen("btrfsvol:/dev/")) != 0)
		return;
	is_disk = !strncmp(name, "sd", 2) || !strncmp(name, "md", 2);
	name = strchr(name, '/');
	if (name && !is_disk)
		name = strchr(name + 1, '/');
	if (name && strlen(name + 1) < sizeof(v->subvolume))
		snprintf(v->subvolume, sizeof(v->subvolume), "%s", name + 1);
}

/* "/dev/sda1: ext4". Snapshots of openSUSE's are many, and none is booted by itself. */
static void take_volume(struct guestfish *g, unsigned int *nr, char *line)
{
	struct boot_volume *v = &g->volumes[*nr];
	char *colon = strstr(line, ": ");

	if (!colon || *nr == BOOT_VOLUMES_MAX || strstr(line, "/.snapshots/"))
		return;
	*colon = '\0';
	if (!can_be_quoted(line) || !is_mountable(colon + 2) || strlen(line) >= sizeof(v->device) ||
	    strlen(colon + 2) >= sizeof(v->type))
		return;
	*v = (struct boot_volume){.partition = partition_of(line)};
	snprintf(v->device, sizeof(v->device), "%s", line);
	snprintf(v->type, sizeof(v->type), "%s", colon + 2);
	take_subvolume(v);
	++*nr;
}

/* What stands behind a name at the beginning of a line. */
static void take_word(const char *answer, const char *name, char *to, size_t size)
{
	size_t len = strlen(name), n = 0;

	while (answer && strncmp(answer, name, len) != 0) {
		answer = strchr(answer, '\n');
		answer += answer != NULL;
	}
	*to = '\0';
	if (!answer)
		return;
	answer += len;
	while (isalnum((unsigned char)answer[n]) || (answer[n] && strchr("-_.+ ", answer[n])))
		n++;
	if (n < size)
		snprintf(to, size, "%.*s", (int)n, answer);
}

static int ask_names(struct guestfish *g, struct boot_volume *v)
{
	const char *device = *v->subvolume ? v->device + strlen("btrfsvol:") : v->device;
	int len = (int)(strlen(device) - (*v->subvolume ? strlen(v->subvolume) + 1 : 0));
	struct text answer = {0};
	int ret = ask(g, &answer, "-blkid \"%.*s\"\n", len, device);

	if (!ret) {
		take_word(answer.buf, "UUID: ", v->uuid, sizeof(v->uuid));
		take_word(answer.buf, "LABEL: ", v->label, sizeof(v->label));
	}
	text_free(&answer);
	return ret;
}

static int find_volumes(struct guestfish *g, struct boot_disk *disk)
{
	struct text answer = {0};
	int ret = ask(g, &answer, "-list-filesystems\n");
	char *line = answer.buf, *end;

	for (; !ret && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		take_volume(g, &disk->nr_volumes, line);
	}
	text_free(&answer);
	for (unsigned int v = 0; !ret && v < disk->nr_volumes; v++)
		ret = ask_names(g, &g->volumes[v]);
	return ret;
}

/* --- its beginning and end ----------------------------------------------------------------------
 */

static bool guestfish_usable(void)
{
	char path[PATH_MAX];

	return child_find("guestfish", path, sizeof(path));
}

static int make_marker(struct guestfish *g)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	snprintf(g->marker, sizeof(g->marker), "=%016" PRIx64 "\n", random);
	return 0;
}

/* "NAME=VALUE" for the program, but what the user has set stays. */
static void add_env(const char **env, unsigned int *n, char *to, const char *name,
		    const char *value)
{
	if (getenv(name))
		return;
	snprintf(to, ENV_SIZE, "%s=%s", name, value);
	env[(*n)++] = to;
}

/*
 * Its temporary files go to the folder. What the machine starts from is kept where it is kept
 * otherwise, which TMPDIR would change. libvirt, as what starts the machine, would often do so as a
 * user who cannot read the image.
 */
static int start(struct guestfish *g, const struct image_boot_config *cfg, const char *path)
{
	const char *tmp = getenv("TMPDIR"), *env[8];
	char program[PATH_MAX], format[64], words[5][ENV_SIZE];
	const char *const argv[] = {"guestfish", "--ro", format, "-a", path, NULL};
	unsigned int n = 0;
	const struct child_config child = {
		.program = program,
		.argv = argv,
		.env = env,
		.file_max = FILE_SIZE,
		.time_ms = PATIENCE_MS,
		.ends_last = true,
		.cancel = cfg->cancel,
	};

	if (!child_find("guestfish", program, sizeof(program)))
		return -ENOENT;
	if (mkdir(g->tmp, 0700))
		return -errno;
	snprintf(format, sizeof(format), "--format=%s", cfg->format);
	env[n++] = "LC_ALL=C";
	snprintf(words[0], ENV_SIZE, "TMPDIR=%s", g->tmp);
	env[n++] = words[0];
	snprintf(words[1], ENV_SIZE, "LIBGUESTFS_TMPDIR=%s", g->tmp);
	env[n++] = words[1];
	add_env(env, &n, words[2], "LIBGUESTFS_CACHEDIR", tmp ? tmp : "/var/tmp");
	add_env(env, &n, words[3], "LIBGUESTFS_BACKEND", "direct");
	if (cfg->no_kvm)
		add_env(env, &n, words[4], "LIBGUESTFS_BACKEND_SETTINGS", "force_tcg");
	env[n] = NULL;
	return child_start(&g->child, &child);
}

static int launch(struct guestfish *g, struct boot_disk *disk)
{
	struct text answer = {0};
	int ret = ask(g, &answer, "run\n");

	text_free(&answer);
	return ret ? ret : find_volumes(g, disk);
}

static void guestfish_close(struct boot_disk *disk)
{
	struct guestfish *g = disk->arg;

	child_free(&g->child);
	tree_remove(AT_FDCWD, g->tmp, TMP_DEPTH);
	free(g);
}

static int set_up(struct guestfish *g, const struct image_boot_config *cfg)
{
	char *real;
	int ret = make_marker(g);

	if (ret)
		return ret;
	if (snprintf(g->tmp, sizeof(g->tmp), "%s/tmp", cfg->dir) >= (int)sizeof(g->tmp) ||
	    snprintf(g->scratch, sizeof(g->scratch), "%s/config", g->tmp) >=
		    (int)sizeof(g->scratch))
		return -ENAMETOOLONG;
	/* Absolute: it takes a path with a colon for an address. */
	real = realpath(cfg->path, NULL);
	ret = real ? start(g, cfg, real) : -errno;
	free(real);
	if (ret)
		rmdir(g->tmp);
	return ret;
}

static int guestfish_open(const struct image_boot_config *cfg, struct boot_disk *disk, char *err,
			  size_t errlen)
{
	struct guestfish *g = calloc(1, sizeof(*g));
	int ret = g ? set_up(g, cfg) : -ENOMEM;

	if (ret) {
		snprintf(err, errlen, "cannot start guestfish: %s", strerror(-ret));
		free(g);
		return ret;
	}
	g->mounted = NOT_MOUNTED;
	*disk = (struct boot_disk){
		.ops = &guestfish_disk_ops,
		.arg = g,
		.volumes = g->volumes,
	};
	ret = launch(g, disk);
	if (ret) {
		why_not(g, ret, err, errlen);
		guestfish_close(disk);
	}
	return ret;
}

const struct image_reader guestfish_reader = {
	.name = "guestfish",
	.package = "guestfish",
	.usable = guestfish_usable,
	.open = guestfish_open,
	.copy = guestfish_copy,
	.close = guestfish_close,
};
