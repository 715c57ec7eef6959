// SPDX-License-Identifier: GPL-2.0-or-later
/* test-label.c - which labels a domain has, and which it does not, though they look like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm/qemu/text/label.h"

/* --- the metadata ----------------------------------------------------------------------------- */

static void finds_metadata(void **state)
{
	static const struct {
		const char *xml, *metadata;
	} cases[] = {
		{"<domain><name>a</name><metadata><x/></metadata><vcpu>1</vcpu></domain>", "<x/>"},
		{"<domain><metadata id='1'>\n text</metadata></domain>", "\n text"},
		{"<domain><metadata><a><metadata>1</metadata><b/></a></metadata></domain>",
		 "<a><metadata>1</metadata><b/></a>"},
		{"<domain><!-- <metadata>a</metadata> --><metadata>b</metadata></domain>", "b"},
		{"<domain><metadata/><metadata-of>a</metadata-of></domain>", ""},
		{"<domain><x:metadata>a</x:metadata></domain>", ""},
		{"<domain><metadata>", ""},
		{"<domain><metadata", ""},
		{"<domain></metadata><metadata>", ""},
		{"<metadata a='", ""},
		{"no XML", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *metadata = label_metadata(cases[i].xml);

		assert_non_null(metadata);
		assert_string_equal(metadata, cases[i].metadata);
		free(metadata);
	}
}

/* --- labels ------------------------------------------------------------------------------------
 */

struct label {
	const char *metadata, *key, *value;
};

static void each_is(const struct label *labels, size_t nr, bool expected)
{
	for (size_t i = 0; i < nr; i++)
		if (label_is(labels[i].metadata, labels[i].key, labels[i].value) != expected)
			fail_msg("%s: %s=%s", labels[i].metadata, labels[i].key, labels[i].value);
}

static void all_forms(void **state)
{
	static const struct label labels[] = {
		{"<f:tier>prod</f:tier>", "tier", "prod"},
		{"<f:tier>prod</f:tier>", "f:tier", "prod"},
		{"<tier xmlns='urn:f' a='b'>prod</tier>", "tier", "prod"},
		{"<f:member tier='prod'/>", "tier", "prod"},
		{"<f:member a=\"b\"\n\ttier=\"prod\">x</f:member>", "tier", "prod"},
		{"<f:member f:tier='prod'/>", "tier", "prod"},
		{"<f:member f:tier='prod'/>", "f:tier", "prod"},
		{"<f:tier value='prod'/>", "tier", "prod"},
		{"<f:label name='tier' value='prod'/>", "tier", "prod"},
		{"<f:label value='prod' name='tier'/>", "tier", "prod"},
		{"<f:label key='tier' value='prod'/>", "tier", "prod"},
		{"<f:label key='tier'>prod</f:label>", "tier", "prod"},
		{"<f:label name=\"tier\">prod</f:label>", "tier", "prod"},
		{"<f:label name='f:tier' value='prod'/>", "f:tier", "prod"},
		/* Wherever it is. */
		{"<a><b><c/><tier>prod</tier></b></a>", "tier", "prod"},
		{"<tier>test</tier><tier>prod</tier>", "tier", "prod"},
		{"<!-- <a --><tier>prod</tier>", "tier", "prod"},
		{"<![CDATA[ <a b=' ]]><tier>prod</tier>", "tier", "prod"},
		{"<?a b='?><tier>prod</tier>", "tier", "prod"},
		{"<a note='it is > 7'/><tier>prod</tier>", "tier", "prod"},
		{"<a note=\"it's\" tier='prod'/>", "tier", "prod"},
		/* Whatever it is. */
		{"<team>R&amp;D &lt;1&gt;</team>", "team", "R&D <1>"},
		{"<a team='R&amp;D &quot;1&quot;'/>", "team", "R&D \"1\""},
		{"<a team=\"it's\"/>", "team", "it's"},
		{"<tier></tier>", "tier", ""},
		{"<a tier=''/>", "tier", ""},
		{"<a tier='a=b'/>", "tier", "a=b"},
	};

	(void)state;
	each_is(labels, sizeof(labels) / sizeof(labels[0]), true);
}

static void near_misses(void **state)
{
	static const struct label labels[] = {
		{"", "tier", "prod"},
		{"<tier>product</tier>", "tier", "prod"},
		{"<tier>pro</tier>", "tier", "prod"},
		{"<tier> prod</tier>", "tier", "prod"},
		{"<tiers>prod</tiers>", "tier", "prod"},
		{"<ier>prod</ier>", "tier", "prod"},
		{"<Tier>prod</Tier>", "tier", "prod"},
		{"<f:tier>prod</f:tier>", "g:tier", "prod"},
		{"<tier>prod</tier>", "f:tier", "prod"},
		{"<tier:f>prod</tier:f>", "tier", "prod"},
		{"<tier><b/>prod</tier>", "tier", "prod"},
		{"<tier/>prod", "tier", "prod"},
		{"<a tier='product'/>", "tier", "prod"},
		{"<a tiers='prod'/>", "tier", "prod"},
		{"<a not-tier='prod'/>", "tier", "prod"},
		{"<label name='tier' value='test'/><label name='rack' value='prod'/>", "tier",
		 "prod"},
		{"<label name='tiers' value='prod'/>", "tier", "prod"},
		{"<label name='tier'/><value>prod</value>", "tier", "prod"},
		{"<label value='tier' name='prod'/>", "tier", "prod"},
		{"<tier>", "tier", ""},
		{"<tier/>", "tier", ""},
		/* What only looks like one. */
		{"<!-- <tier>prod</tier> -->", "tier", "prod"},
		{"<![CDATA[<tier>prod</tier>]]>", "tier", "prod"},
		{"<a note=' tier=\"prod\" '/>", "tier", "prod"},
		{"<a note='<tier>prod</tier>'/>", "tier", "prod"},
		{"<a note=\"b name='tier' value='prod'\"/>", "tier", "prod"},
		{"<?tier prod?>", "tier", "prod"},
		{"tier=prod", "tier", "prod"},
		{"</tier>prod</tier>", "tier", "prod"},
	};

	(void)state;
	each_is(labels, sizeof(labels) / sizeof(labels[0]), false);
}

/* What is damaged says nothing from there on. */
static void damaged(void **state)
{
	static const struct label labels[] = {
		{"<", "tier", "prod"},
		{"<tier", "tier", "prod"},
		{"<tier>prod", "tier", "prod"},
		{"<tier>prod&", "tier", "prod"},
		{"<a tier='prod", "tier", "prod"},
		{"<a tier='prod>", "tier", "prod"},
		{"<a tier=prod>", "tier", "prod"},
		{"<a tier 'prod'>", "tier", "prod"},
		{"<a =tier='prod'>", "tier", "prod"},
		{"<a b'c' tier='prod'>", "tier", "prod"},
		{"<a b=\"><tier>prod</tier>", "tier", "prod"},
		{"<!-- <tier>prod</tier>", "tier", "prod"},
		{"<![CDATA[<tier>prod</tier>", "tier", "prod"},
		{"<?<tier>prod</tier>", "tier", "prod"},
		{"<>prod</>", "", "prod"},
		{"< tier='prod'>", "tier", "prod"},
	};

	(void)state;
	each_is(labels, sizeof(labels) / sizeof(labels[0]), false);
}

/* Longer than any: it is none, and what comes behind it is. */
static void long_values(void **state)
{
	char value[5000], xml[3 * sizeof(value)];

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	snprintf(xml, sizeof(xml), "<a tier='%s' rack='7'><rack>%s</rack></a>", value, value);
	assert_false(label_is(xml, "tier", value));
	assert_false(label_is(xml, "rack", value));
	assert_true(label_is(xml, "rack", "7"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_metadata), cmocka_unit_test(all_forms),
		cmocka_unit_test(near_misses),	  cmocka_unit_test(damaged),
		cmocka_unit_test(long_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
