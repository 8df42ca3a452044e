/* SPDX-License-Identifier: MIT */
/*
 * gnuplot gets a script with the numbers in it on standard input, from an unnamed file, and
 * writes to a temporary one beside the picture.
 */
#include "plot.h"

#include <string.h>
#include <unistd.h>

#include "child.h"
#include "output.h"
#include "units.h"

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

int wb_plot_check_name(const char *path)
{
	if (path == NULL)
		return WB_OK;
	if (!ends_with(path, ".svg") && !ends_with(path, ".png"))
		return wb_refuse("--plot %s: the name must end in .svg or .png", path);
	if (!wb_child_found("gnuplot"))
		return wb_fail("--plot needs the program gnuplot, which is not on PATH");
	return WB_OK;
}

int wb_plot_check(const struct wb_options *o)
{
	if (o->plot != NULL && o->operand_count > 1)
		return wb_refuse("--plot: one trace at a time");
	return wb_plot_check_name(o->plot);
}

/* In single quotes, where gnuplot knows no escape but the doubled quote. */
static void put_quoted(FILE *f, const char *text)
{
	putc('\'', f);
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			putc('\'', f);
		putc(*text == '\n' ? ' ' : *text, f);
	}
	putc('\'', f);
}

/* Milliseconds and the share of requests that took at most so long. The tail is what matters,
 * so its steps are finer. */
static void put_latencies(FILE *f, const struct wb_run *run, unsigned i)
{
	fprintf(f, "$latency%u << EOD\n", i);
	for (unsigned p = 0; p <= 10000; p += p < 9800 ? 50 : 5)
		fprintf(f, "%.6f %.2f\n",
			(double)iosched_sim_row_quantile(wb_run_all(run), IOSCHED_LATENCY_TOTAL,
							 p) /
				1e6,
			p / 100.0);
	fputs("EOD\n", f);
}

static void put_throughput(FILE *f, const struct wb_run *run, unsigned i)
{
	const struct iosched_sim_result *r = run->result;
	double seconds = (double)r->interval_ns / 1e9;

	fprintf(f, "$rate%u << EOD\n", i);
	for (uint64_t k = 0; r->series_count > 0 && k < r->interval_count; k++)
		fprintf(f, "%.4f %.4f\n", ((double)k + 0.5) * seconds,
			(double)r->series[0].bytes[k] / (1 << 20) / seconds);
	fputs("EOD\n", f);
}

static void put_curves(FILE *f, const struct wb_runs *r, const char *block)
{
	for (unsigned i = 0; i < r->count; i++) {
		fprintf(f, "%s $%s%u using 1:2 with lines lw 1.5 title ", i == 0 ? "plot" : ",",
			block, i);
		put_quoted(f, wb_run_label(&r->runs[i]));
	}
	putc('\n', f);
}

/* Colours that people with any colour vision tell apart (Okabe and Ito, without the yellow). */
static void put_colours(FILE *f)
{
	static const char *const colours[] = {"#888888", "#0072b2", "#d55e00", "#009e73",
					      "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

	for (unsigned i = 0; i < sizeof(colours) / sizeof(colours[0]); i++)
		fprintf(f, "set linetype %u linecolor rgb '%s'\n", i + 1, colours[i]);
}

static void put_terminal(FILE *f, const char *path, unsigned height, const char *target)
{
	if (ends_with(path, ".svg"))
		fprintf(f, "set terminal svg size 1200,%u background 'white'\n", height);
	else
		fprintf(f, "set terminal png size 1200,%u\n", height);
	fputs("set output ", f);
	put_quoted(f, target);
	putc('\n', f);
	put_colours(f);
}

static void put_runs(FILE *f, void *user)
{
	const struct wb_runs *r = user;
	char title[512];
	const char *base = strrchr(r->w->path, '/');

	for (unsigned i = 0; i < r->count; i++) {
		put_latencies(f, &r->runs[i], i);
		put_throughput(f, &r->runs[i], i);
	}
	snprintf(title, sizeof(title), "%s on %s", base != NULL ? base + 1 : r->w->path,
		 r->o->device_spec);
	fputs("set multiplot layout 1,2 title ", f);
	put_quoted(f, title);
	fputs(" noenhanced\nset grid\nset key noenhanced top left\n"
	      "set xlabel 'insert to completion, ms'\nset ylabel 'requests done within, %'\n"
	      "set logscale x\nset yrange [0:100]\n",
	      f);
	put_curves(f, r, "latency");
	fputs("unset logscale x\nunset key\nset xlabel 'time, s'\n"
	      "set ylabel 'throughput, MiB/s'\nset xrange [0:*]\nset yrange [0:*]\n",
	      f);
	put_curves(f, r, "rate");
	fputs("unset multiplot\n", f);
}

static int draw(FILE *script)
{
	static const char *const argv[] = {"gnuplot", NULL};
	pid_t child;
	int err;

	if (fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0)
		return wb_fail("no room for gnuplot's script");
	err = wb_child_start(&child, argv, fileno(script), -1);
	if (err != 0)
		return wb_fail("gnuplot could not be run: %s", strerror(err));
	return wb_child_succeeded(child) ? WB_OK : wb_fail("gnuplot failed");
}

int wb_plot_picture(const char *path, unsigned height, void (*put)(FILE *script, void *user),
		    void *user)
{
	struct wb_output out;
	FILE *script = tmpfile();
	int code;

	if (script == NULL)
		return wb_fail("no temporary file for gnuplot's script");
	code = wb_output_open(&out, path);
	if (code == WB_OK) {
		/* gnuplot opens the file itself; ours has nothing in it. */
		put_terminal(script, path, height, out.temp != NULL ? out.temp : out.path);
		put(script, user);
		fputs("unset output\n", script);
		code = wb_output_close(&out, draw(script));
	}
	fclose(script);
	return code;
}

int wb_plot(const struct wb_runs *r)
{
	struct wb_runs copy = *r;

	return wb_plot_picture(r->o->plot, WB_PLOT_HEIGHT, put_runs, &copy);
}
