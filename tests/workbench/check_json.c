/* SPDX-License-Identifier: MIT */
/*
 * check_json: looks at JSON from standard input for the workbench's tests.
 *
 *   check_json get A.B.0.C    print the value there (an array: its length); exit 1 if there is none
 *   check_json timeline       is it a good trace-event file? Prints what it holds
 *
 * A good timeline: times in order; on each track every E ends the last B still open; of each
 * request every "e" ends the last "b" of the same name; all that began has ended.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *why, size_t event)
{
	fprintf(stderr, "event %zu: %s\n", event, why);
	return 1;
}

/* --- get --- */

static json_t *step(json_t *at, const char *key)
{
	char *end;
	unsigned long i;

	if (!json_is_array(at))
		return json_object_get(at, key);
	i = strtoul(key, &end, 10);
	return *key != '\0' && *end == '\0' ? json_array_get(at, i) : NULL;
}

static int print(const json_t *value)
{
	if (json_is_string(value))
		return puts(json_string_value(value)) < 0;
	if (json_is_array(value))
		return printf("%zu\n", json_array_size(value)) < 0;
	if (json_dumpf(value, stdout, JSON_ENCODE_ANY) != 0)
		return 1;
	return putchar('\n') == EOF;
}

static int get(json_t *root, char *path)
{
	for (char *key = strtok(path, "."); key != NULL && root != NULL; key = strtok(NULL, "."))
		root = step(root, key);
	return root == NULL ? 1 : print(root);
}

/* --- timeline --- */

#define DEPTH 8

/* Names of what is open on one track. */
struct stack {
	const char *names[DEPTH];
	double began[DEPTH];
	unsigned depth;
};

/* Tracks and requests by a key; a JSON object is the map, its values are indices. */
struct stacks {
	json_t *index;
	struct stack *all;
	size_t count;
};

static struct stack *stack_of(struct stacks *s, const char *key)
{
	json_t *at = json_object_get(s->index, key);

	if (at == NULL) {
		struct stack *all = realloc(s->all, (s->count + 1) * sizeof(*all));

		if (all == NULL)
			abort();
		s->all = all;
		s->all[s->count] = (struct stack){.depth = 0};
		at = json_integer((json_int_t)s->count++);
		json_object_set_new(s->index, key, at);
	}
	return &s->all[json_integer_value(at)];
}

static const char *text_of(json_t *event, const char *key)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text != NULL ? text : "";
}

static long long number_of(json_t *event, const char *key)
{
	return json_integer_value(json_object_get(event, key));
}

static int begin(struct stack *s, json_t *event, double ts, size_t i)
{
	if (text_of(event, "name")[0] == '\0')
		return fail("it has no name", i);
	if (s->depth == DEPTH)
		return fail("nested too deep", i);
	s->names[s->depth] = text_of(event, "name");
	s->began[s->depth++] = ts;
	return 0;
}

static int end(struct stack *s, json_t *event, double ts, size_t i)
{
	const char *name = text_of(event, "name");

	if (s->depth == 0)
		return fail("it ends what has not begun", i);
	s->depth--;
	if (name[0] != '\0' && strcmp(name, s->names[s->depth]) != 0)
		return fail("it ends another than began last", i);
	return ts < s->began[s->depth] ? fail("it ends before it began", i) : 0;
}

struct counts {
	unsigned long requests, slices, rules, counters;
};

static int take(struct stacks *s, struct counts *c, json_t *event, double ts, size_t i)
{
	const char *phase = text_of(event, "ph");
	char key[64];

	if (number_of(event, "pid") <= 0)
		return fail("it has no process", i);
	snprintf(key, sizeof(key), "track %lld %lld", number_of(event, "pid"),
		 number_of(event, "tid"));
	if (strcmp(phase, "b") == 0 || strcmp(phase, "e") == 0)
		snprintf(key, sizeof(key), "request %lld %lld", number_of(event, "pid"),
			 number_of(event, "id"));
	switch (phase[0]) {
	case 'B':
		c->slices++;
		return begin(stack_of(s, key), event, ts, i);
	case 'b':
		c->requests += stack_of(s, key)->depth == 0;
		return begin(stack_of(s, key), event, ts, i);
	case 'E':
	case 'e':
		return end(stack_of(s, key), event, ts, i);
	case 'i':
		c->rules++;
		return 0;
	case 'C':
		c->counters++;
		return 0;
	case 'M':
		return 0;
	default:
		return fail("a phase that is not known", i);
	}
}

static int all_ended(const struct stacks *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->all[i].depth != 0)
			return fail("the file ends before something that began", i);
	return 0;
}

static int timeline(json_t *root)
{
	json_t *events = json_object_get(root, "traceEvents");
	struct stacks s = {json_object(), NULL, 0};
	struct counts c = {0};
	double last = 0;
	json_t *event;
	size_t i;
	int bad = 0;

	if (!json_is_array(events))
		return fail("there is no array traceEvents", 0);
	json_array_foreach(events, i, event)
	{
		double ts = json_number_value(json_object_get(event, "ts"));

		if (!json_is_number(json_object_get(event, "ts")) || ts < last)
			bad = fail("no time, or before the event before it", i);
		last = ts;
		bad = bad != 0 ? bad : take(&s, &c, event, ts, i);
		if (bad != 0)
			break;
	}
	if (bad == 0)
		bad = all_ended(&s);
	printf("%lu requests, %lu slices, %lu rules, %lu counters\n", c.requests, c.slices, c.rules,
	       c.counters);
	free(s.all);
	json_decref(s.index);
	return bad;
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *root = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
	int bad;

	if (root == NULL) {
		fprintf(stderr, "line %d: %s\n", error.line, error.text);
		return 1;
	}
	if (argc == 3 && strcmp(argv[1], "get") == 0)
		bad = get(root, argv[2]);
	else if (argc == 2 && strcmp(argv[1], "timeline") == 0)
		bad = timeline(root);
	else
		bad = 2;
	json_decref(root);
	return bad;
}
