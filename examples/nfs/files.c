/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Paths remembered at most: a client that walks a huge tree fills memory otherwise. */
#define MAX_NODES (1u << 20)

static const char magic[4] = {'i', 'o', 's', '1'};

/* --- The table --- */

static unsigned bucket_of(const char *path)
{
	uint32_t h = 2166136261u;

	for (; *path != '\0'; path++)
		h = (h ^ (unsigned char)*path) * 16777619u;
	return h % FILES_BUCKETS;
}

static int make_room(struct files *f)
{
	uint32_t room = f->room == 0 ? 64 : f->room * 2;
	struct node **nodes;

	if (f->count < f->room)
		return 0;
	if (f->count >= MAX_NODES)
		return -ENFILE;
	nodes = realloc(f->nodes, room * sizeof(struct node *));
	if (nodes == NULL)
		return -ENOMEM;
	f->nodes = nodes;
	f->room = room;
	return 0;
}

/* The node of a path that has this inode now. A path whose inode changed gets a new node, so
 * that old handles stay stale. */
static int node_of(struct files *f, const char *path, uint64_t inode, struct node **out)
{
	struct node **bucket = &f->buckets[bucket_of(path)];
	size_t length = strlen(path) + 1;
	struct node *n;
	int error;

	for (n = *bucket; n != NULL; n = n->next) {
		if (n->inode == inode && strcmp(n->path, path) == 0) {
			*out = n;
			return 0;
		}
	}
	error = make_room(f);
	if (error != 0)
		return error;
	n = malloc(sizeof(*n) + length);
	if (n == NULL)
		return -ENOMEM;
	*n = (struct node){*bucket, f->count, inode, NULL};
	memcpy(n->path, path, length);
	*bucket = n;
	f->nodes[f->count++] = n;
	*out = n;
	return 0;
}

void files_handle(const struct node *n, char handle[HANDLE_SIZE])
{
	memcpy(handle, magic, 4);
	memcpy(handle + 4, &n->index, 4);
	memcpy(handle + 8, &n->inode, 8);
}

int files_node(const struct files *f, const char *handle, uint32_t length, struct node **out)
{
	uint32_t index;
	uint64_t inode;

	if (length != HANDLE_SIZE || memcmp(handle, magic, 4) != 0)
		return -EBADF;
	memcpy(&index, handle + 4, 4);
	memcpy(&inode, handle + 8, 8);
	if (index >= f->count || f->nodes[index]->inode != inode)
		return -ESTALE;
	*out = f->nodes[index];
	return 0;
}

/* --- Paths --- */

/* [beneath] */
static int open_beneath(const struct files *f, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint32_t)(flags | O_CLOEXEC | O_NOFOLLOW),
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV,
	};
	long fd = syscall(SYS_openat2, f->root, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}
/* [/beneath] */

static int check_name(const char *name)
{
	size_t n = strlen(name);

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	return n == 0 || strchr(name, '/') != NULL ? -EINVAL : 0;
}

/* Where it is now. */
static const struct node *present(const struct node *n)
{
	const struct node *moved;

	while ((moved = atomic_load(&n->moved)) != NULL)
		n = moved;
	return n;
}

/* Path of @name in @folder. ".." stops at the exported folder. */
static int join(char *out, size_t size, const struct node *folder, const char *name)
{
	const char *base = strcmp(folder->path, ".") == 0 ? "" : folder->path;
	const char *slash;
	int n;

	if (strcmp(name, ".") == 0) {
		n = snprintf(out, size, "%s", folder->path);
	} else if (strcmp(name, "..") == 0) {
		slash = strrchr(base, '/');
		n = slash == NULL ? snprintf(out, size, ".")
				  : snprintf(out, size, "%.*s", (int)(slash - base), base);
	} else {
		n = snprintf(out, size, "%s%s%s", base, *base != '\0' ? "/" : "", name);
	}
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static int path_in(const struct files *f, const struct node *folder, const char *name, char *path,
		   size_t size)
{
	struct stat st;
	int error = check_name(name), fd;

	if (error != 0)
		return error;
	fd = files_open_place(f, folder, &st);
	if (fd < 0)
		return fd;
	close(fd);
	return S_ISDIR(st.st_mode) ? join(path, size, present(folder), name) : -ENOTDIR;
}

int files_lookup(struct files *f, const struct node *folder, const char *name, struct node **out)
{
	char path[PATH_MAX];
	struct stat st;
	int error = path_in(f, folder, name, path, sizeof(path));
	int fd = error != 0 ? error : open_beneath(f, path, O_PATH, 0);

	if (fd < 0)
		return fd;
	error = fstat(fd, &st) != 0 ? -errno : node_of(f, path, st.st_ino, out);
	close(fd);
	return error;
}

int files_create(struct files *f, const struct node *folder, const char *name, mode_t mode,
		 bool exclusive, struct node **out)
{
	char path[PATH_MAX];
	struct stat st;
	int error = path_in(f, folder, name, path, sizeof(path));
	int flags = O_CREAT | O_WRONLY | O_NONBLOCK | (exclusive ? O_EXCL : 0), fd;

	if (error == 0 && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0))
		error = -EEXIST;
	fd = error != 0 ? error : open_beneath(f, path, flags, mode & 07777);
	if (fd < 0)
		return fd;
	error = fstat(fd, &st) != 0 ? -errno : node_of(f, path, st.st_ino, out);
	close(fd);
	return error;
}

/* --- Entries of a folder --- */

/* The folder, open, for a name that is one of its entries. */
static int open_parent(const struct files *f, const struct node *folder, const char *name)
{
	int error = check_name(name);

	if (error == 0 && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0))
		error = -EINVAL;
	return error != 0 ? error : files_open_folder(f, folder);
}

int files_mkdir(struct files *f, const struct node *folder, const char *name, mode_t mode,
		struct node **out)
{
	int parent = open_parent(f, folder, name), error;

	if (parent < 0)
		return parent;
	error = mkdirat(parent, name, mode & 07777) != 0 ? -errno : 0;
	close(parent);
	return error != 0 ? error : files_lookup(f, folder, name, out);
}

int files_remove(const struct files *f, const struct node *folder, const char *name, bool is_folder)
{
	int parent = open_parent(f, folder, name), error;

	if (parent < 0)
		return parent;
	error = unlinkat(parent, name, is_folder ? AT_REMOVEDIR : 0) != 0 ? -errno : 0;
	close(parent);
	return error;
}

static int move(const struct files *f, const struct node *from, const char *name,
		const struct node *to, const char *new_name)
{
	int old = open_parent(f, from, name), new = -1, error = 0;

	if (old < 0)
		return old;
	new = open_parent(f, to, new_name);
	if (new < 0)
		error = new;
	else if (renameat(old, name, new, new_name) != 0)
		error = -errno;
	if (new >= 0)
		close(new);
	close(old);
	return error;
}

/* Every node of a file leads to the one of its present path, which leads nowhere. */
int files_rename(struct files *f, const struct node *from, const char *name, const struct node *to,
		 const char *new_name)
{
	struct node *before = NULL, *now;
	int error;

	/* A name that was never looked up, or a link, has no handles that could follow. */
	(void)files_lookup(f, from, name, &before);
	error = move(f, from, name, to, new_name);
	if (error != 0 || before == NULL || files_lookup(f, to, new_name, &now) != 0 ||
	    now == before || now->inode != before->inode)
		return error;
	atomic_store(&now->moved, NULL);
	atomic_store(&before->moved, now);
	return 0;
}

/* --- From a node to a file --- */

int files_open_place(const struct files *f, const struct node *n, struct stat *st)
{
	int fd = open_beneath(f, present(n)->path, O_PATH, 0);

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? -ESTALE : fd;
	if (fstat(fd, st) == 0 && st->st_ino == n->inode)
		return fd;
	close(fd);
	return -ESTALE;
}

/* The place is opened again only when it is known to be a file or a folder: opening a
 * device may do something, and a pipe may block. */
static int reopen(int place, int flags)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	fd = open(name, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int files_open_data(const struct files *f, const struct node *n, int flags, struct stat *st)
{
	int place = files_open_place(f, n, st), fd;

	if (place < 0)
		return place;
	if (S_ISREG(st->st_mode))
		fd = reopen(place, flags);
	else
		fd = S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	close(place);
	return fd;
}

int files_open_folder(const struct files *f, const struct node *n)
{
	struct stat st;
	int place = files_open_place(f, n, &st), fd;

	if (place < 0)
		return place;
	fd = S_ISDIR(st.st_mode) ? reopen(place, O_RDONLY | O_DIRECTORY) : -ENOTDIR;
	close(place);
	return fd;
}

/* --- Life --- */

int files_open(struct files *f, const char *folder)
{
	struct node *root;
	struct stat st;
	int error;

	memset(f, 0, sizeof(*f));
	f->root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->root < 0)
		return -errno;
	error = fstat(f->root, &st) != 0 ? -errno : 0;
	f->device = st.st_dev;
	if (error == 0)
		error = node_of(f, ".", st.st_ino, &root);
	if (error != 0)
		files_close(f);
	return error;
}

void files_close(struct files *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		free(f->nodes[i]);
	free(f->nodes);
	close(f->root);
}
