// SPDX-License-Identifier: GPL-2.0-or-later
/* test-uri.c - URIs of libvirt: which are of another host, how ssh is called, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "frontend/remote/remote.h"
#include "frontend/remote/uri.h"

static void which(void **state)
{
	(void)state;
	assert_true(remote_is("qemu+ssh://host/system"));
	assert_false(remote_is(NULL));
	assert_false(remote_is("qemu:///system"));
	assert_false(remote_is("qemu+unix:///system"));
	assert_false(remote_is("qemu+tcp://host/system"));
	assert_false(remote_is("xen+ssh://host/"));
}

/* The words from the first that depends on the URI on, each behind a space. */
static void assert_ssh(const char *uri, const char *far, const char *words)
{
	const char *argv[REMOTE_SSH_WORDS];
	struct remote_uri u;
	char err[256], got[512];
	size_t len = 0;

	assert_int_equal(remote_uri_parse(uri, &u, err, sizeof(err)), 0);
	assert_string_equal(u.far, far);
	remote_uri_ssh(&u, "REMOTE", argv);
	len = (size_t)snprintf(got, sizeof(got), "%s", argv[0]);
	for (size_t i = 14; argv[i]; i++)
		len += (size_t)snprintf(got + len, sizeof(got) - len, " %s", argv[i]);
	assert_string_equal(got, words);
}

static void parts(void **state)
{
	(void)state;
	assert_ssh("qemu+ssh://host/system", "qemu:///system", "ssh -- host REMOTE");
	assert_ssh("qemu+ssh://me@host.example:2222/session", "qemu:///session",
		   "ssh -p 2222 -l me -- host.example REMOTE");
	assert_ssh("qemu+ssh://host:/system", "qemu:///system", "ssh -- host REMOTE");
	assert_ssh("qemu+ssh://[fe80::1%25eth0]:22/system", "qemu:///system",
		   "ssh -p 22 -- fe80::1%eth0 REMOTE");
	assert_ssh("qemu+ssh://h\xc3\xb6st_1.example/system", "qemu:///system",
		   "ssh -- h\xc3\xb6st_1.example REMOTE");
	assert_ssh("qemu+ssh://a%40b@host/system", "qemu:///system", "ssh -l a@b -- host REMOTE");
	assert_ssh(
		"qemu+ssh://host/system?keyfile=/a%20b&command=/bin/my%3Fssh&no_tty=1&"
		"no_verify=1&netcat=nc&proxy=native&mode=auto",
		"qemu:///system",
		"/bin/my?ssh -i /a b -o StrictHostKeyChecking=no -o BatchMode=yes -- host REMOTE");
	assert_ssh("qemu+ssh://host/session?no_tty=0;socket=/run/a%26b&no_verify=0",
		   "qemu+unix:///session?socket=/run/a%26b", "ssh -- host REMOTE");
}

static void refused(void **state)
{
	static const char *const bad[] = {
		"qemu+ssh://",
		"qemu+ssh:///system",
		"qemu+ssh://host",
		"qemu+ssh://host/",
		"qemu+ssh://host/other",
		"qemu+ssh://host/system/",
		"qemu+ssh://-oProxyCommand=x/system",
		"qemu+ssh://%2doProxyCommand=x/system",
		"qemu+ssh://-l@host/system",
		"qemu+ssh://@host/system",
		"qemu+ssh://host:0/system",
		"qemu+ssh://host:-1/system",
		"qemu+ssh://host:1x/system",
		"qemu+ssh://host:65536/system",
		"qemu+ssh://host:111111/system",
		"qemu+ssh://[::1/system",
		"qemu+ssh://[::1]x/system",
		"qemu+ssh://[]/system",
		"qemu+ssh://ho%0ast/system",
		"qemu+ssh://ho%00st/system",
		"qemu+ssh://ho%2/system",
		"qemu+ssh://ho%zzst/system",
		"qemu+ssh://host/system?x=1",
		"qemu+ssh://host/system?keyfile=",
		"qemu+ssh://host/system?command",
		"qemu+ssh://host/system?no_tty=yes",
		"qemu+ssh://host/system?no_tty=",
		"qemu+ssh://host/system?keyfile=%1f",
		"qemu+ssh://host/system#x",
	};
	char text[2 * REMOTE_URI_MAX] = "qemu+ssh://", err[64] = "";
	struct remote_uri u;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!remote_uri_parse(bad[i], &u, err, sizeof(err)))
			fail_msg("%s is taken", bad[i]);
	memset(text + strlen(text), 'h', REMOTE_URI_MAX);
	assert_int_equal(remote_uri_parse(text, &u, err, sizeof(err)), -1);
}

/* What a shell would make something of that ssh starts for its configuration. */
static void metacharacters(void **state)
{
	static const char host[] = "'`\"$\\;&<>|(){}! \t*?[]~#=,+^@/",
			  user[] = "'`\"$\\;&<>|(){} \t\n";
	char text[64], err[256];
	struct remote_uri u;

	(void)state;
	for (const char *c = host; *c; c++) {
		snprintf(text, sizeof(text), "qemu+ssh://h%%%02x/system", (unsigned int)*c);
		if (!remote_uri_parse(text, &u, err, sizeof(err)))
			fail_msg("%s is taken", text);
	}
	for (const char *c = user; *c; c++) {
		snprintf(text, sizeof(text), "qemu+ssh://me%%%02x@h/system", (unsigned int)*c);
		if (!remote_uri_parse(text, &u, err, sizeof(err)))
			fail_msg("%s is taken", text);
	}
	assert_int_equal(remote_uri_parse("qemu+ssh://$(x)/system", &u, err, sizeof(err)), -1);
	assert_string_equal(err,
			    "--connect qemu+ssh://$(x)/system: in the name of a host are letters, "
			    "digits and . _ : % - alone");
	assert_int_equal(remote_uri_parse("qemu+ssh://a|b@h/system", &u, err, sizeof(err)), -1);
	assert_string_equal(err, "--connect qemu+ssh://a|b@h/system: in the name of a user are no "
				 "blanks, and none of '`\"$\\;&<>|(){}");
}

static void shell(void **state)
{
	char to[64];

	(void)state;
	assert_int_equal(remote_uri_shell(NULL, to, sizeof(to)), 0);
	assert_string_equal(to, "exec 'hvtrace' remote");
	assert_int_equal(remote_uri_shell("/a b/$(c)'`d`", to, sizeof(to)), 0);
	assert_string_equal(to, "exec '/a b/$(c)'\\''`d`' remote");
	assert_int_equal(remote_uri_shell("a\nb", to, sizeof(to)), -1);
	for (size_t size = 1; size < strlen("exec 'hvtrace' remote") + 1; size++)
		assert_int_equal(remote_uri_shell(NULL, to, size), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which),   cmocka_unit_test(parts),
		cmocka_unit_test(refused), cmocka_unit_test(metacharacters),
		cmocka_unit_test(shell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
