/* SPDX-License-Identifier: MIT */
/*
 * Scenarios: one statement `expect`, and whether it holds.
 *
 *   expect METRIC POLICY RELATION VALUE
 *   expect METRIC POLICY RELATION [FACTOR *] [METRIC] [POLICY] [within N%]
 *   expect order METRIC: POLICY RELATION POLICY ...
 *
 * An order is as many expectations as it has relations. All is compared in integers of 128
 * bits: nothing is rounded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arith.h"
#include "sim/scenario.h"

/* --- Reading --- */

static const char *const relations[] = {
	[IOS_SCN_LESS] = "<",	   [IOS_SCN_AT_MOST] = "<=", [IOS_SCN_EQUAL] = "=",
	[IOS_SCN_AT_LEAST] = ">=", [IOS_SCN_MORE] = ">",     NULL,
};

static int want_relation(struct ios_scn_reader *r, enum ios_scn_relation *out)
{
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "<, <=, =, >= or >", &w);

	if (err != 0)
		return err;
	for (unsigned i = 0; relations[i] != NULL; i++)
		if (strcmp(relations[i], w->text) == 0) {
			*out = (enum ios_scn_relation)i;
			return 0;
		}
	return ios_scn_unknown(r->s, w, -EINVAL, "a relation (with blanks around it)",
			       ios_scn_listed, relations);
}

static bool find_policy(const struct iosched_sim_scenario *s, const char *label, unsigned *out)
{
	for (unsigned i = 0; i < s->policy_count; i++)
		if (strcmp(s->policies[i].label, label) == 0) {
			*out = i;
			return true;
		}
	return false;
}

static int want_policy(struct ios_scn_reader *r, bool each, unsigned *out)
{
	const struct ios_scn_word *w;
	int err = ios_scn_want(r, "a policy's label", &w);

	if (err != 0)
		return err;
	if (each && strcmp(w->text, "each") == 0)
		*out = IOS_SCN_EACH;
	else if (!find_policy(r->s, w->text, out))
		return ios_scn_unknown(r->s, w, -EINVAL, "the label of a policy line",
				       ios_scn_policy_names, r->s);
	return 0;
}

/* The text of the statement, for reports. */
static char *text_of(const struct ios_scn_reader *r)
{
	size_t size = 1;
	size_t used = 0;
	char *text;

	for (unsigned i = 1; i < r->count; i++)
		size += strlen(r->words[i].text) + 1;
	text = malloc(size);
	if (text == NULL)
		return NULL;
	text[0] = '\0';
	for (unsigned i = 1; i < r->count; i++)
		used += (size_t)sprintf(text + used, "%s%s", i > 1 ? " " : "", r->words[i].text);
	return text;
}

static struct ios_scn_expect *add(struct ios_scn_reader *r)
{
	struct iosched_sim_scenario *s = r->s;
	struct ios_scn_expect *all = ios_scn_grow(s->expects, s->expect_count, sizeof(*all));
	char *text = text_of(r);

	if (all != NULL)
		s->expects = all;
	if (all == NULL || text == NULL) {
		free(text);
		return NULL;
	}
	all[s->expect_count] = (struct ios_scn_expect){
		.text = text,
		.line = r->words[0].line,
		.factor_ppm = IOS_SCN_PPM,
		.right_policy = IOS_SCN_SAME,
	};
	return &all[s->expect_count++];
}

/* "0.95 *", "95% *" or "95 % *". */
static int read_factor(struct ios_scn_reader *r, struct ios_scn_expect *e)
{
	struct ios_scn_reader ahead = *r;
	struct ios_scn_amount a;

	if (ios_scn_peek(r) == NULL || ios_scn_amount(&ahead, "a factor", &a) != 0 ||
	    !ios_scn_take(&ahead, "*"))
		return 0;
	if (!ios_scn_parse_ppm(a.text, &e->factor_ppm))
		return ios_scn_fail(r->s, a.word->line, -EINVAL,
				    "\"%.40s\" is not a factor such as 0.95", a.text);
	r->at = ahead.at;
	return 0;
}

/* "3 * 40%" of a share. */
static int check_product(struct ios_scn_reader *r, const struct ios_scn_expect *e)
{
	if ((ios_sim_u128)e->value * e->factor_ppm <= (ios_sim_u128)IOS_SCN_PPM * IOS_SCN_PPM)
		return 0;
	return ios_scn_fail(r->s, ios_scn_line(r), -ERANGE,
			    "the product is more than 100 %%, the most it can be");
}

/* A value in what the metric is counted in. */
static int read_value(struct ios_scn_reader *r, struct ios_scn_expect *e)
{
	int err = 0;

	e->plain = true;
	switch (e->left.kind) {
	case IOS_SCN_NS:
		return ios_scn_number(r, "a time", IOS_SIM_UNIT_NS, &e->value);
	case IOS_SCN_RATE:
		return ios_scn_number(r, "a rate", IOS_SIM_UNIT_RATE, &e->value);
	case IOS_SCN_COUNT:
		return ios_scn_number(r, "a count", IOS_SIM_UNIT_NONE, &e->value);
	case IOS_SCN_IOPS:
		err = ios_scn_per_second(r, "a number a second such as 20 or 20/s", false,
					 &e->value);
		e->value /= 1000;
		break;
	case IOS_SCN_PPM_OF_ONE:
		err = ios_scn_share(r, "a share such as 45% or 0.45", &e->value);
		if (err == 0)
			err = check_product(r, e);
		break;
	case IOS_SCN_FACTOR:
		break;
	}
	return err;
}

static int read_other(struct ios_scn_reader *r, struct ios_scn_expect *e)
{
	const struct ios_scn_word *w = ios_scn_peek(r);
	bool metric = ios_scn_is_metric(w->text);
	int err = 0;

	e->right = e->left;
	if (metric) {
		r->at++;
		err = ios_scn_metric(r->s, w, w->text, &e->right);
		w = ios_scn_peek(r);
	}
	if (err == 0 && e->right.kind != e->left.kind)
		return ios_scn_fail(r->s, ios_scn_line(r), -EINVAL,
				    "the two sides are not counted in the same");
	if (err == 0 && (!metric || (w != NULL && strcmp(w->text, "within") != 0)))
		err = want_policy(r, false, &e->right_policy);
	return err;
}

static int read_within(struct ios_scn_reader *r, struct ios_scn_expect *e)
{
	const struct ios_scn_word *w = ios_scn_peek(r);

	if (e->relation != IOS_SCN_EQUAL)
		return 0;
	if (ios_scn_take(r, "within"))
		return ios_scn_share(r, "a tolerance such as 5%", &e->within_ppm);
	if (w != NULL)
		return ios_scn_fail(r->s, w->line, -EINVAL,
				    "\"%.40s\" stands where = needs a tolerance: within 5%%",
				    w->text);
	return ios_scn_fail(r->s, ios_scn_line(r), -EINVAL, "= needs a tolerance: within 5%%");
}

static int read_right(struct ios_scn_reader *r, struct ios_scn_expect *e)
{
	const struct ios_scn_word *w;
	int err = read_factor(r, e);

	if (err != 0)
		return err;
	w = ios_scn_peek(r);
	if (w == NULL)
		return ios_scn_want(r, "what to compare with", &w);
	if (w->text[0] < '0' || w->text[0] > '9' || find_policy(r->s, w->text, &(unsigned){0}))
		err = read_other(r, e);
	else if (strchr(w->text, '*') != NULL)
		err = ios_scn_fail(r->s, w->line, -EINVAL,
				   "\"%.40s\": a * wants blanks around it, as in 0.95 * noop",
				   w->text);
	else
		err = read_value(r, e);
	return err != 0 ? err : read_within(r, e);
}

static int read_comparison(struct ios_scn_reader *r)
{
	struct ios_scn_expect *e = add(r);
	const struct ios_scn_word *w;
	int err;

	if (e == NULL)
		return -ENOMEM;
	err = ios_scn_want(r, "a metric", &w);
	if (err == 0)
		err = ios_scn_metric(r->s, w, w->text, &e->left);
	if (err == 0)
		err = want_policy(r, true, &e->left_policy);
	if (err == 0)
		err = want_relation(r, &e->relation);
	return err != 0 ? err : read_right(r, e);
}

static int want_metric_of_order(struct ios_scn_reader *r, struct ios_scn_metric *m)
{
	const struct ios_scn_word *w;
	char text[80];
	size_t n;
	int err = ios_scn_want(r, "a metric", &w);

	if (err != 0)
		return err;
	n = strlen(w->text);
	if (n < 2 || n > sizeof(text) || w->text[n - 1] != ':')
		return ios_scn_fail(r->s, w->line, -EINVAL,
				    "a colon is missing: order throughput: a > b");
	memcpy(text, w->text, n - 1);
	text[n - 1] = '\0';
	return ios_scn_metric(r->s, w, text, m);
}

static int read_order(struct ios_scn_reader *r)
{
	struct ios_scn_metric metric;
	struct ios_scn_expect *e;
	unsigned left;
	int err = want_metric_of_order(r, &metric);

	if (err == 0)
		err = want_policy(r, false, &left);
	while (err == 0) {
		if (r->s->expect_count == IOS_SCN_MAX_EXPECTS)
			return ios_scn_fail(r->s, ios_scn_line(r), -E2BIG,
					    "more than %d expectations", IOS_SCN_MAX_EXPECTS);
		e = add(r);
		if (e == NULL)
			return -ENOMEM;
		e->left = e->right = metric;
		e->left_policy = left;
		err = want_relation(r, &e->relation);
		if (err == 0 && e->relation == IOS_SCN_EQUAL)
			err = ios_scn_fail(r->s, ios_scn_line(r), -EINVAL,
					   "an order has no =, which needs a tolerance");
		if (err == 0)
			err = want_policy(r, false, &e->right_policy);
		left = e->right_policy;
		if (r->at == r->count)
			break;
	}
	return err;
}

int ios_scn_expect(struct ios_scn_reader *r)
{
	if (r->s->expect_count == IOS_SCN_MAX_EXPECTS)
		return ios_scn_fail(r->s, ios_scn_line(r), -E2BIG, "more than %d expectations",
				    IOS_SCN_MAX_EXPECTS);
	return ios_scn_take(r, "order") ? read_order(r) : read_comparison(r);
}

/* --- Checking --- */

/* One comparison: what was measured in one pair of runs. */
struct outcome {
	uint64_t left;
	uint64_t right;
	bool nothing; /* a latency of no requests */
	bool holds;
	uint64_t margin_ppm; /* less = nearer to failing */
};

#define NO_MARGIN UINT64_MAX

static uint64_t ratio_ppm(uint64_t a, uint64_t b)
{
	ios_sim_u128 r;

	if (b == 0)
		return NO_MARGIN;
	r = (ios_sim_u128)a * IOS_SCN_PPM / b;
	return r > NO_MARGIN ? NO_MARGIN : (uint64_t)r;
}

/* Sides as in LEFT * million RELATION RIGHT * factor. */
static void compare(const struct ios_scn_expect *e, struct outcome *o)
{
	ios_sim_u128 left = (ios_sim_u128)o->left * IOS_SCN_PPM;
	ios_sim_u128 right = (ios_sim_u128)o->right * e->factor_ppm;
	ios_sim_u128 apart = left > right ? left - right : right - left;

	switch (e->relation) {
	case IOS_SCN_LESS:
		o->holds = left < right;
		break;
	case IOS_SCN_AT_MOST:
		o->holds = left <= right;
		break;
	case IOS_SCN_EQUAL:
		/* right / million * within: the product could pass 128 bits */
		o->holds = apart <= right / IOS_SCN_PPM * e->within_ppm +
					    right % IOS_SCN_PPM * e->within_ppm / IOS_SCN_PPM;
		break;
	case IOS_SCN_AT_LEAST:
		o->holds = left >= right;
		break;
	case IOS_SCN_MORE:
		o->holds = left > right;
		break;
	}
	if (e->relation == IOS_SCN_EQUAL)
		o->margin_ppm = NO_MARGIN - ratio_ppm((uint64_t)(apart / IOS_SCN_PPM), o->right);
	else if (e->relation >= IOS_SCN_AT_LEAST)
		o->margin_ppm = ratio_ppm(o->left, o->right);
	else
		o->margin_ppm = ratio_ppm(o->right, o->left);
}

static int measure(const struct iosched_sim_scenario *s, const struct ios_scn_metric *m,
		   const struct iosched_sim_result *r, struct outcome *o, uint64_t *out)
{
	int err = ios_scn_measure(s, m, r, out);

	if (err == -ENODATA)
		o->nothing = true;
	return err == -ENODATA ? 0 : err;
}

/* Of policy line @left with seed number @seed. Returns 1: a result is missing. */
static int judge(const struct iosched_sim_scenario *s, const struct ios_scn_expect *e,
		 struct iosched_sim_result *const *results, unsigned left, unsigned seed,
		 struct outcome *o)
{
	unsigned other = e->right_policy == IOS_SCN_SAME ? left : e->right_policy;
	const struct iosched_sim_result *a = results[left * s->seed_count + seed];
	const struct iosched_sim_result *b = results[other * s->seed_count + seed];
	int err;

	*o = (struct outcome){.right = e->value};
	if (a == NULL || b == NULL)
		return 1;
	err = measure(s, &e->left, a, o, &o->left);
	if (err == 0 && !e->plain)
		err = measure(s, &e->right, b, o, &o->right);
	if (err == 0 && !o->nothing)
		compare(e, o);
	return err;
}

static void describe(const struct iosched_sim_scenario *s, const struct ios_scn_expect *e,
		     unsigned left, unsigned seed, const struct outcome *o,
		     struct iosched_sim_verdict *v)
{
	char a[IOS_SCN_FIGURE], b[IOS_SCN_FIGURE], ratio[IOS_SCN_FIGURE];
	char who[48] = "";
	char when[32] = "";

	if (e->left_policy == IOS_SCN_EACH)
		snprintf(who, sizeof(who), "%.40s: ", s->policies[left].label);
	if (s->seed_count > 1)
		snprintf(when, sizeof(when), ", seed %llu", (unsigned long long)s->seeds[seed]);
	ios_scn_figure(a, e->left.kind, o->left);
	ios_scn_figure(b, e->right.kind, o->right);
	ios_scn_figure(ratio, IOS_SCN_FACTOR, ratio_ppm(o->left, o->right));
	if (o->nothing)
		snprintf(v->figures, sizeof(v->figures), "%snothing was measured%s", who, when);
	else if (e->plain)
		snprintf(v->figures, sizeof(v->figures), "%s%s%s", who, a, when);
	else
		snprintf(v->figures, sizeof(v->figures), "%s%s and %s%s%s%s", who, a, b,
			 o->right == 0 ? "" : ": x ", o->right == 0 ? "" : ratio, when);
}

/* Is @o more worth telling than @worst? */
static bool worse(const struct outcome *o, const struct outcome *worst)
{
	if (o->holds != worst->holds)
		return !o->holds;
	return o->margin_ppm < worst->margin_ppm;
}

/* Is policy line @i on the left? */
static bool meant(const struct ios_scn_expect *e, unsigned i)
{
	return e->left_policy == IOS_SCN_EACH ? i != e->right_policy : i == e->left_policy;
}

int iosched_sim_scenario_check(const struct iosched_sim_scenario *s, unsigned i,
			       struct iosched_sim_result *const *results,
			       struct iosched_sim_verdict *out)
{
	const struct ios_scn_expect *e;
	struct outcome worst = {.holds = true, .margin_ppm = NO_MARGIN};
	bool any = false;

	if (i >= s->expect_count)
		return -ERANGE;
	e = &s->expects[i];
	*out = (struct iosched_sim_verdict){
		.text = e->text, .line = e->line, .state = IOSCHED_SIM_NOT_CHECKED};
	for (unsigned run = 0; run < s->policy_count * s->seed_count; run++) {
		unsigned left = run / s->seed_count;
		struct outcome o;
		int err;

		if (!meant(e, left))
			continue;
		err = judge(s, e, results, left, run % s->seed_count, &o);
		if (err < 0)
			return err;
		if (err > 0 || (any && !worse(&o, &worst)))
			continue;
		any = true;
		worst = o;
		describe(s, e, left, run % s->seed_count, &o, out);
	}
	if (any)
		out->state = worst.holds ? IOSCHED_SIM_HOLDS : IOSCHED_SIM_FAILS;
	return 0;
}

unsigned iosched_sim_scenario_check_count(const struct iosched_sim_scenario *s)
{
	return s->expect_count;
}
