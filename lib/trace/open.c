/* SPDX-License-Identifier: MIT */
/*
 * open: a reader from a path, a stream or a callback; per-CPU sets are found here.
 *
 * A reader that could not be opened is still handed out, ended, with its
 * error in it: the sentence is worth more than the number.
 */
#include "trace/reader.h"

#include <dirent.h>
#include <stdlib.h>

/* What blktrace makes on the largest machines Linux runs on (NR_CPUS). */
#define SET_MAX 8192
#define WINDOW_MAX (1u << 20)
#define SPC_BLOCK_MAX (1u << 20)

void iosched_trace_options_init(struct iosched_trace_options *o, size_t size)
{
	struct iosched_trace_options defaults = {
		.size = size,
		.window = 4096,
		.spc_block_bytes = 512,
	};

	memset(o, 0, size);
	memcpy(o, &defaults, size < sizeof(defaults) ? size : sizeof(defaults));
}

static bool options_valid(const struct iosched_trace_options *o)
{
	return o->format < IOSCHED_TRACE_FORMATS && o->window >= 1 && o->window <= WINDOW_MAX &&
	       o->select <= IOSCHED_TRACE_SELECT_ARRIVALS &&
	       o->wait <= IOSCHED_TRACE_WAIT_START_MS && o->spc_block_bytes >= 1 &&
	       o->spc_block_bytes <= SPC_BLOCK_MAX && o->one_device <= 1 && o->skip_bad <= 1 &&
	       o->from_zero <= 1;
}

/* An empty reader with the caller's options. */
static int make(struct iosched_trace **out, const struct iosched_trace_options *o)
{
	struct iosched_trace *t = calloc(1, sizeof(*t));

	*out = NULL;
	if (t == NULL)
		return -ENOMEM;
	iosched_trace_options_init(&t->options, sizeof(t->options));
	if (o != NULL)
		memcpy(&t->options, o, o->size < sizeof(t->options) ? o->size : sizeof(t->options));
	if (!options_valid(&t->options)) {
		free(t);
		return -EINVAL;
	}
	*out = t;
	return 0;
}

void iosched_trace_close(struct iosched_trace *t)
{
	if (t == NULL)
		return;
	if (t->state != NULL && t->format->finish != NULL)
		t->format->finish(t);
	for (uint32_t i = 0; i < t->input_count; i++)
		ios_trace_input_fini(&t->inputs[i]);
	free(t->inputs);
	free(t->state);
	ios_trace_names_fini(&t->names);
	ios_trace_window_fini(&t->window);
	free(t);
}

/* A reader that only has an error to tell. */
static int opened_badly(struct iosched_trace **out, struct iosched_trace *t, int err)
{
	if (err == -ENOMEM) {
		iosched_trace_close(t);
		return err;
	}
	t->ended = true;
	t->result = err;
	*out = t;
	return err;
}

static int begin(struct iosched_trace *t)
{
	int err = ios_trace_window_for(t);

	t->id = (enum iosched_trace_format)t->options.format;
	if (err == 0 && t->id == IOSCHED_TRACE_AUTO)
		err = ios_trace_detect(t);
	if (err != 0)
		return err;
	t->format = ios_trace_formats[t->id];
	t->timed = !t->format->untimed;
	t->state = calloc(1, t->format->state_size > 0 ? t->format->state_size : 1);
	if (t->state == NULL)
		return -ENOMEM;
	return t->format->begin != NULL ? t->format->begin(t) : 0;
}

static int begin_one(struct iosched_trace **out, struct iosched_trace *t, int err)
{
	t->input_count = err == 0;
	if (err == 0)
		err = begin(t);
	if (err != 0)
		return opened_badly(out, t, err);
	*out = t;
	return 0;
}

int iosched_trace_open_read(struct iosched_trace **out, iosched_trace_read_fn *read, void *user,
			    const char *name, const struct iosched_trace_options *o)
{
	struct iosched_trace *t;
	int err = make(&t, o);

	*out = NULL;
	if (err != 0)
		return err;
	t->inputs = calloc(1, sizeof(*t->inputs));
	err = t->inputs == NULL ? -ENOMEM : ios_trace_input_init(t->inputs, name, read, user);
	return begin_one(out, t, err);
}

int iosched_trace_open_file(struct iosched_trace **out, FILE *file, const char *name,
			    const struct iosched_trace_options *o)
{
	struct iosched_trace *t;
	int err = make(&t, o);

	*out = NULL;
	if (err != 0)
		return err;
	t->inputs = calloc(1, sizeof(*t->inputs));
	err = t->inputs == NULL ? -ENOMEM : ios_trace_input_stream(t->inputs, name, file);
	return begin_one(out, t, err);
}

static char *joined(const char *a, const char *b)
{
	size_t n = strlen(a) + strlen(b) + 1;
	char *text = malloc(n);

	if (text != NULL)
		snprintf(text, n, "%s%s", a, b);
	return text;
}

/* Is @name "prefix" and then only digits? */
static bool is_part(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	uint64_t cpu;

	return strncmp(name, prefix, n) == 0 && ios_number_u64(ios_span_of(name + n), &cpu) == 0;
}

static int add_part(struct iosched_trace *t, const char *folder, const char *name)
{
	struct ios_trace_input *inputs;
	char *path;
	int err;

	if (t->input_count == SET_MAX)
		return -E2BIG;
	inputs = realloc(t->inputs, (t->input_count + 1) * sizeof(*inputs));
	if (inputs == NULL)
		return -ENOMEM;
	t->inputs = inputs;
	path = joined(folder, name);
	if (path == NULL)
		return -ENOMEM;
	err = ios_trace_input_open(&t->inputs[t->input_count], path);
	if (err == 0)
		t->input_count++;
	free(path);
	return err;
}

static int add_parts(struct iosched_trace *t, const char *folder, const char *prefix)
{
	DIR *dir = opendir(folder[0] != '\0' ? folder : ".");
	const struct dirent *entry;
	int err = 0;

	if (dir == NULL)
		return -errno;
	while (err == 0 && (entry = readdir(dir)) != NULL)
		if (is_part(entry->d_name, prefix))
			err = add_part(t, folder, entry->d_name);
	closedir(dir);
	return err;
}

static int compare_inputs(const void *a, const void *b)
{
	const char *left = ((const struct ios_trace_input *)a)->name;
	const char *right = ((const struct ios_trace_input *)b)->name;
	size_t n = strlen(left), m = strlen(right);

	/* Only the digits at the end differ: shorter is smaller. */
	return n != m ? (n < m ? -1 : 1) : strcmp(left, right);
}

/* The files path.blktrace.N or path.N, in order of N: 0, or -ENOENT if there are none. */
static int open_set(struct iosched_trace *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t n = strlen(name);
	bool has_suffix = n > 9 && strcmp(name + n - 9, ".blktrace") == 0;
	char *folder = joined(path, "");
	char *prefix = joined(name, has_suffix ? "." : ".blktrace.");
	int err = -ENOMEM;

	if (folder != NULL && prefix != NULL) {
		folder[name - path] = '\0';
		err = add_parts(t, folder, prefix);
	}
	free(folder);
	free(prefix);
	if (err == 0 && t->input_count == 0)
		err = -ENOENT;
	if (t->input_count > 1)
		qsort(t->inputs, t->input_count, sizeof(*t->inputs), compare_inputs);
	return err;
}

int iosched_trace_open(struct iosched_trace **out, const char *path,
		       const struct iosched_trace_options *o)
{
	struct iosched_trace *t;
	int err = make(&t, o);

	*out = NULL;
	if (err != 0)
		return err;
	t->inputs = calloc(1, sizeof(*t->inputs));
	err = t->inputs == NULL ? -ENOMEM : ios_trace_input_open(t->inputs, path);
	t->input_count = err == 0;
	if (err == -ENOENT && (err = open_set(t, path)) == 0 &&
	    t->options.format == IOSCHED_TRACE_AUTO)
		t->options.format = IOSCHED_TRACE_BLKTRACE;
	if (err != 0)
		snprintf(t->error, sizeof(t->error), "%.300s: %s", path, strerror(-err));
	else
		err = begin(t);
	if (err != 0)
		return opened_badly(out, t, err);
	*out = t;
	return 0;
}
