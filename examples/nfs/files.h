/* SPDX-License-Identifier: MIT */
/*
 * The exported folder: file handles, and the way from a handle to a file.
 *
 * A handle is a number in a table of paths below the folder, and the inode the path had. Every
 * use resolves the path again from the folder, beneath it and without symbolic links, so a
 * handle cannot name anything outside, and a file that was replaced is stale.
 *
 * A file that this server renamed is found by its old handles. What is below a renamed folder is
 * stale and has to be looked up again.
 *
 * Threads: the loop's only, but for files_open_data() and the members of a node, which never
 * change but for `moved`.
 */
#ifndef EXAMPLES_NFS_FILES_H
#define EXAMPLES_NFS_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define HANDLE_SIZE 16
#define FILES_BUCKETS 4096

struct node {
	struct node *next; /* in its bucket */
	uint32_t index;
	uint64_t inode;
	_Atomic(struct node *) moved; /* where it was renamed to, or NULL */
	char path[];		      /* below the folder, "." = itself */
};

struct files {
	int root;
	dev_t device;
	struct node **nodes; /* by index; 0 is the folder */
	uint32_t count, room;
	struct node *buckets[FILES_BUCKETS];
};

/* All return 0 (or a file descriptor) or -errno. */
int files_open(struct files *f, const char *folder);
void files_close(struct files *f);

/* -EBADF: no handle of ours; -ESTALE: one of an earlier run. */
int files_node(const struct files *f, const char *handle, uint32_t length, struct node **out);
void files_handle(const struct node *n, char handle[HANDLE_SIZE]);

/* A name in a folder. */
int files_lookup(struct files *f, const struct node *folder, const char *name, struct node **out);

/* Make a regular file; with @exclusive it must not exist. */
int files_create(struct files *f, const struct node *folder, const char *name, mode_t mode,
		 bool exclusive, struct node **out);

/* A folder that is not there yet. */
int files_mkdir(struct files *f, const struct node *folder, const char *name, mode_t mode,
		struct node **out);

/* The entry itself: a folder, which must be empty, or anything else. */
int files_remove(const struct files *f, const struct node *folder, const char *name,
		 bool is_folder);

int files_rename(struct files *f, const struct node *from, const char *name, const struct node *to,
		 const char *new_name);

/* The file as a place (O_PATH): for fstat and such. */
int files_open_place(const struct files *f, const struct node *n, struct stat *st);

/* A regular file's data; -EISDIR or -EINVAL of others. */
int files_open_data(const struct files *f, const struct node *n, int flags, struct stat *st);

/* A folder, to read. */
int files_open_folder(const struct files *f, const struct node *n);

#endif
