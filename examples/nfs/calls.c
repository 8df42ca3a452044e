/* SPDX-License-Identifier: MIT */
/*
 * calls: the procedures that need no disk, answered at once by the loop.
 *
 * Each has the same shape: find the file, do it, answer. Everybody acts with the rights of the
 * server's own process.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "nfs.h"

nfsstat3 nfsd_status(int error)
{
	static const struct {
		int error;
		nfsstat3 status;
	} map[] = {
		{0, NFS3_OK},
		{EPERM, NFS3ERR_PERM},
		{ENOENT, NFS3ERR_NOENT},
		{EACCES, NFS3ERR_ACCES},
		{EEXIST, NFS3ERR_EXIST},
		{ENOTDIR, NFS3ERR_NOTDIR},
		{EISDIR, NFS3ERR_ISDIR},
		{ENOTEMPTY, NFS3ERR_NOTEMPTY},
		{EBUSY, NFS3ERR_ACCES}, /* somebody's mount point */
		{EINVAL, NFS3ERR_INVAL},
		{EFBIG, NFS3ERR_FBIG},
		{ENOSPC, NFS3ERR_NOSPC},
		{EROFS, NFS3ERR_ROFS},
		{ENAMETOOLONG, NFS3ERR_NAMETOOLONG},
		{EDQUOT, NFS3ERR_DQUOT},
		{ESTALE, NFS3ERR_STALE},
		{EBADF, NFS3ERR_BADHANDLE},
		{ELOOP, NFS3ERR_ACCES}, /* a link where a folder was named */
		{EXDEV, NFS3ERR_XDEV},
		{ENOMEM, NFS3ERR_SERVERFAULT},
		{ENFILE, NFS3ERR_SERVERFAULT},
		{EOPNOTSUPP, NFS3ERR_NOTSUPP},
	};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (map[i].error == -error)
			return map[i].status;
	return NFS3ERR_IO;
}

/* --- Attributes --- */

static ftype3 type_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return NF3DIR;
	case S_IFBLK:
		return NF3BLK;
	case S_IFCHR:
		return NF3CHR;
	case S_IFLNK:
		return NF3LNK;
	case S_IFSOCK:
		return NF3SOCK;
	case S_IFIFO:
		return NF3FIFO;
	default:
		return NF3REG;
	}
}

static nfstime3 time_of(struct timespec t)
{
	return (nfstime3){(u_int)t.tv_sec, (u_int)t.tv_nsec};
}

static void attributes(fattr3 *out, const struct stat *st)
{
	*out = (fattr3){
		.type = type_of(st->st_mode),
		.mode = st->st_mode & 07777,
		.nlink = (u_int)st->st_nlink,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.size = (uint64_t)st->st_size,
		.used = (uint64_t)st->st_blocks * 512,
		.rdev = {major(st->st_rdev), minor(st->st_rdev)},
		.fsid = server.files.device,
		.fileid = st->st_ino,
		.atime = time_of(st->st_atim),
		.mtime = time_of(st->st_mtim),
		.ctime = time_of(st->st_ctim),
	};
}

void nfsd_post_attributes(post_op_attr *out, const struct stat *st)
{
	out->attributes_follow = 1;
	attributes(&out->post_op_attr_u.attributes, st);
}

/* --- Finding --- */

static int node_of(const nfs_fh3 *handle, struct node **out)
{
	return files_node(&server.files, handle->data.data_val, handle->data.data_len, out);
}

int nfsd_stat(const struct node *n, struct stat *st)
{
	int fd = files_open_place(&server.files, n, st);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int stat_handle(const nfs_fh3 *handle, struct stat *st)
{
	struct node *n;
	int error = node_of(handle, &n);

	return error != 0 ? error : nfsd_stat(n, st);
}

static void reply(struct connection *c, struct rpc_msg *call, void *r, zdrproc_t code)
{
	rpc_send_reply(c->rpc, call, r, code, 512);
}

/* --- Procedures --- */

static int do_null(struct connection *c, struct rpc_msg *call)
{
	reply(c, call, NULL, nfsd_code_nothing);
	return 0;
}

static int do_getattr(struct connection *c, struct rpc_msg *call)
{
	const GETATTR3args *a = call->body.cbody.args;
	GETATTR3res r = {0};
	struct stat st;

	r.status = nfsd_status(stat_handle(&a->object, &st));
	if (r.status == NFS3_OK)
		attributes(&r.GETATTR3res_u.resok.obj_attributes, &st);
	reply(c, call, &r, nfsd_code_GETATTR3res);
	return 0;
}

static int set_times(int fd, const sattr3 *s)
{
	struct timespec t[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};

	if (s->atime.set_it == SET_TO_SERVER_TIME)
		t[0].tv_nsec = UTIME_NOW;
	if (s->mtime.set_it == SET_TO_SERVER_TIME)
		t[1].tv_nsec = UTIME_NOW;
	if (s->atime.set_it == SET_TO_CLIENT_TIME)
		t[0] = (struct timespec){s->atime.set_atime_u.atime.seconds,
					 s->atime.set_atime_u.atime.nseconds % 1000000000u};
	if (s->mtime.set_it == SET_TO_CLIENT_TIME)
		t[1] = (struct timespec){s->mtime.set_mtime_u.mtime.seconds,
					 s->mtime.set_mtime_u.mtime.nseconds % 1000000000u};
	if (s->atime.set_it == DONT_CHANGE && s->mtime.set_it == DONT_CHANGE)
		return 0;
	return futimens(fd, t) != 0 ? -errno : 0;
}

/* [setattr] */
static int set_attributes(const struct node *n, const sattr3 *s)
{
	uid_t uid = s->uid.set_it != 0 ? s->uid.set_uid3_u.uid : (uid_t)-1;
	gid_t gid = s->gid.set_it != 0 ? s->gid.set_gid3_u.gid : (gid_t)-1;
	struct stat st;
	int error = 0, fd;

	if (s->size.set_it != 0 && s->size.set_size3_u.size > NFS_FILE_MAX)
		return -EFBIG;
	fd = files_open_data(&server.files, n, s->size.set_it != 0 ? O_WRONLY : O_RDONLY, &st);
	if (fd == -EISDIR && s->size.set_it == 0)
		fd = files_open_folder(&server.files, n);
	if (fd < 0)
		return fd;
	if (s->size.set_it != 0 && ftruncate(fd, (off_t)s->size.set_size3_u.size) != 0)
		error = -errno;
	if (error == 0 && s->mode.set_it != 0 && fchmod(fd, s->mode.set_mode3_u.mode & 07777) != 0)
		error = -errno;
	if (error == 0 && (s->uid.set_it != 0 || s->gid.set_it != 0) && fchown(fd, uid, gid) != 0)
		error = -errno;
	if (error == 0)
		error = set_times(fd, s);
	close(fd);
	return error;
}
/* [/setattr] */

static int do_setattr(struct connection *c, struct rpc_msg *call)
{
	const SETATTR3args *a = call->body.cbody.args;
	SETATTR3res r = {0};
	struct node *n;
	struct stat st;
	int error = node_of(&a->object, &n);

	if (error == 0)
		error = set_attributes(n, &a->new_attributes);
	r.status = nfsd_status(error);
	if (error == 0 && nfsd_stat(n, &st) == 0)
		nfsd_post_attributes(&r.SETATTR3res_u.resok.obj_wcc.after, &st);
	reply(c, call, &r, nfsd_code_SETATTR3res);
	return 0;
}

static int do_lookup(struct connection *c, struct rpc_msg *call)
{
	const LOOKUP3args *a = call->body.cbody.args;
	LOOKUP3res r = {0};
	LOOKUP3resok *ok = &r.LOOKUP3res_u.resok;
	char handle[HANDLE_SIZE];
	struct node *folder, *n;
	struct stat st;
	int error = node_of(&a->what.dir, &folder);

	if (error == 0)
		error = files_lookup(&server.files, folder, a->what.name, &n);
	r.status = nfsd_status(error);
	if (error == 0) {
		files_handle(n, handle);
		ok->object.data.data_len = HANDLE_SIZE;
		ok->object.data.data_val = handle;
		if (nfsd_stat(n, &st) == 0)
			nfsd_post_attributes(&ok->obj_attributes, &st);
	}
	reply(c, call, &r, nfsd_code_LOOKUP3res);
	return 0;
}

static u_int allowed(const struct node *n, bool folder, u_int asked)
{
	char name[64];
	struct stat st;
	int fd = files_open_place(&server.files, n, &st);
	u_int may = 0;

	if (fd < 0)
		return 0;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (access(name, R_OK) == 0)
		may |= ACCESS3_READ;
	if (access(name, W_OK) == 0)
		may |= ACCESS3_MODIFY | ACCESS3_EXTEND | (folder ? ACCESS3_DELETE : 0);
	if (access(name, X_OK) == 0)
		may |= folder ? ACCESS3_LOOKUP : ACCESS3_EXECUTE;
	close(fd);
	return may & asked;
}

static int do_access(struct connection *c, struct rpc_msg *call)
{
	const ACCESS3args *a = call->body.cbody.args;
	ACCESS3res r = {0};
	struct node *n;
	struct stat st;
	int error = node_of(&a->object, &n);

	if (error == 0)
		error = nfsd_stat(n, &st);
	r.status = nfsd_status(error);
	if (error == 0) {
		nfsd_post_attributes(&r.ACCESS3res_u.resok.obj_attributes, &st);
		r.ACCESS3res_u.resok.access = allowed(n, S_ISDIR(st.st_mode), a->access);
	}
	reply(c, call, &r, nfsd_code_ACCESS3res);
	return 0;
}

static int do_readlink(struct connection *c, struct rpc_msg *call)
{
	const READLINK3args *a = call->body.cbody.args;
	READLINK3res r = {0};
	char target[PATH_MAX];
	struct node *n;
	struct stat st;
	int error = node_of(&a->symlink, &n);
	int fd = error == 0 ? files_open_place(&server.files, n, &st) : error;
	ssize_t length = fd >= 0 ? readlinkat(fd, "", target, sizeof(target) - 1) : 0;

	if (fd < 0)
		error = fd;
	else if (length < 0)
		error = -EINVAL;
	if (fd >= 0)
		close(fd);
	r.status = nfsd_status(error);
	if (error == 0) {
		target[length] = '\0';
		r.READLINK3res_u.resok.data = target;
	}
	rpc_send_reply(c->rpc, call, &r, nfsd_code_READLINK3res, PATH_MAX + 512);
	return 0;
}

static int do_create(struct connection *c, struct rpc_msg *call)
{
	const CREATE3args *a = call->body.cbody.args;
	const sattr3 *s = a->how.mode != EXCLUSIVE ? &a->how.createhow3_u.obj_attributes : NULL;
	CREATE3res r = {0};
	CREATE3resok *ok = &r.CREATE3res_u.resok;
	mode_t mode = s != NULL && s->mode.set_it != 0 ? s->mode.set_mode3_u.mode : 0644;
	char handle[HANDLE_SIZE];
	struct node *folder, *n;
	struct stat st;
	int error = node_of(&a->where.dir, &folder);

	if (error == 0)
		error = files_create(&server.files, folder, a->where.name, mode,
				     a->how.mode != UNCHECKED, &n);
	if (error == 0 && s != NULL)
		error = set_attributes(n, s);
	r.status = nfsd_status(error);
	if (error == 0) {
		files_handle(n, handle);
		ok->obj.handle_follows = 1;
		ok->obj.post_op_fh3_u.handle.data.data_len = HANDLE_SIZE;
		ok->obj.post_op_fh3_u.handle.data.data_val = handle;
		if (nfsd_stat(n, &st) == 0)
			nfsd_post_attributes(&ok->obj_attributes, &st);
	}
	reply(c, call, &r, nfsd_code_CREATE3res);
	return 0;
}

/* --- READDIR --- */

/* Entries of one answer at most; the client asks again from the last one's cookie. */
#define MAX_ENTRIES 512

struct listing {
	entry3 entries[MAX_ENTRIES];
	char names[MAX_ENTRIES][NAME_MAX + 1];
	unsigned count;
	bool eof;
};

/* Entries after @cookie, the position that readdir() itself gives, within @room bytes. */
static int list_folder(struct listing *l, const struct node *folder, uint64_t cookie, uint64_t room)
{
	int fd = files_open_folder(&server.files, folder);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (fd < 0)
		return fd;
	if (d == NULL) {
		close(fd);
		return -ENOMEM;
	}
	if (cookie != 0)
		seekdir(d, (long)cookie);
	while ((e = readdir(d)) != NULL && l->count < MAX_ENTRIES) {
		entry3 *entry = &l->entries[l->count];
		size_t size = 32 + strlen(e->d_name);

		if (size > room)
			break;
		room -= size;
		strcpy(l->names[l->count], e->d_name);
		*entry = (entry3){e->d_ino, l->names[l->count], (uint64_t)e->d_off, NULL};
		if (l->count++ > 0)
			entry[-1].nextentry = entry;
	}
	l->eof = e == NULL;
	closedir(d);
	return l->count == 0 && !l->eof ? -ENOSPC : 0;
}

static int do_readdir(struct connection *c, struct rpc_msg *call)
{
	const READDIR3args *a = call->body.cbody.args;
	READDIR3res r = {0};
	dirlist3 *list = &r.READDIR3res_u.resok.reply;
	struct listing *l = calloc(1, sizeof(*l));
	struct node *folder;
	int error = l != NULL ? node_of(&a->dir, &folder) : -ENOMEM;

	if (error == 0)
		error = list_folder(l, folder, a->cookie, a->count);
	r.status = error == -ENOSPC ? NFS3ERR_TOOSMALL : nfsd_status(error);
	if (error == 0) {
		list->entries = l->count > 0 ? l->entries : NULL;
		list->eof = l->eof;
	}
	rpc_send_reply(c->rpc, call, &r, nfsd_code_READDIR3res, MAX_ENTRIES * 300);
	free(l);
	return 0;
}

/* With attributes and handles of all entries. Clients fall back on READDIR and LOOKUP. */
static int do_readdirplus(struct connection *c, struct rpc_msg *call)
{
	READDIRPLUS3res r = {.status = NFS3ERR_NOTSUPP};

	reply(c, call, &r, nfsd_code_READDIRPLUS3res);
	return 0;
}

/* --- The file system --- */

static int do_fsstat(struct connection *c, struct rpc_msg *call)
{
	const FSSTAT3args *a = call->body.cbody.args;
	FSSTAT3res r = {0};
	FSSTAT3resok *ok = &r.FSSTAT3res_u.resok;
	struct statvfs v;
	struct stat st;
	int error = stat_handle(&a->fsroot, &st);

	if (error == 0 && fstatvfs(server.files.root, &v) != 0)
		error = -errno;
	r.status = nfsd_status(error);
	if (error == 0) {
		nfsd_post_attributes(&ok->obj_attributes, &st);
		ok->tbytes = v.f_blocks * v.f_frsize;
		ok->fbytes = v.f_bfree * v.f_frsize;
		ok->abytes = v.f_bavail * v.f_frsize;
		ok->tfiles = v.f_files;
		ok->ffiles = v.f_ffree;
		ok->afiles = v.f_favail;
	}
	reply(c, call, &r, nfsd_code_FSSTAT3res);
	return 0;
}

static int do_fsinfo(struct connection *c, struct rpc_msg *call)
{
	const FSINFO3args *a = call->body.cbody.args;
	FSINFO3res r = {0};
	FSINFO3resok *ok = &r.FSINFO3res_u.resok;
	struct stat st;

	r.status = nfsd_status(stat_handle(&a->fsroot, &st));
	if (r.status == NFS3_OK) {
		nfsd_post_attributes(&ok->obj_attributes, &st);
		ok->rtmax = ok->rtpref = ok->wtmax = ok->wtpref = server.options.transfer;
		ok->rtmult = ok->wtmult = 4096;
		ok->dtpref = 65536;
		ok->maxfilesize = NFS_FILE_MAX;
		ok->time_delta.nseconds = 1;
		ok->properties = FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME;
	}
	reply(c, call, &r, nfsd_code_FSINFO3res);
	return 0;
}

static int do_pathconf(struct connection *c, struct rpc_msg *call)
{
	const PATHCONF3args *a = call->body.cbody.args;
	PATHCONF3res r = {0};
	PATHCONF3resok *ok = &r.PATHCONF3res_u.resok;
	struct stat st;

	r.status = nfsd_status(stat_handle(&a->object, &st));
	if (r.status == NFS3_OK) {
		nfsd_post_attributes(&ok->obj_attributes, &st);
		ok->linkmax = 1;
		ok->name_max = NAME_MAX;
		ok->no_trunc = 1;
		ok->case_preserving = 1;
	}
	reply(c, call, &r, nfsd_code_PATHCONF3res);
	return 0;
}

/* --- MOUNT --- */

/* The export's name, or a folder below it. */
static int mounted_node(const char *path, struct node **out)
{
	size_t n = strlen(server.options.name);
	char part[NAME_MAX + 1];
	int error = 0;

	if (strncmp(path, server.options.name, n) != 0 || (path[n] != '\0' && path[n] != '/'))
		return -ENOENT;
	*out = server.files.nodes[0];
	for (path += n; error == 0; path += strlen(part)) {
		path += strspn(path, "/");
		if (*path == '\0')
			return 0;
		if (strcspn(path, "/") >= sizeof(part))
			return -ENAMETOOLONG;
		snprintf(part, sizeof(part), "%.*s", (int)strcspn(path, "/"), path);
		error = files_lookup(&server.files, *out, part, out);
	}
	return error;
}

static int do_mount(struct connection *c, struct rpc_msg *call)
{
	mountres3 r = {.fhs_status = MNT3_OK};
	mountres3_ok *ok = &r.mountres3_u.mountinfo;
	char handle[HANDLE_SIZE];
	int flavors[] = {AUTH_UNIX, AUTH_NONE};
	struct node *n;
	const char *path = *(const dirpath *)call->body.cbody.args;
	int error;

	error = path != NULL ? mounted_node(path, &n) : -EINVAL;
	if (error == 0) {
		files_handle(n, handle);
		ok->fhandle.fhandle3_len = HANDLE_SIZE;
		ok->fhandle.fhandle3_val = handle;
		ok->auth_flavors.auth_flavors_len = 2;
		ok->auth_flavors.auth_flavors_val = flavors;
	} else {
		r.fhs_status = error == -ENOENT	   ? MNT3ERR_NOENT
			       : error == -EACCES  ? MNT3ERR_ACCES
			       : error == -ENOTDIR ? MNT3ERR_NOTDIR
						   : MNT3ERR_INVAL;
	}
	reply(c, call, &r, nfsd_code_mountres3);
	return 0;
}

static int do_export(struct connection *c, struct rpc_msg *call)
{
	union {
		const char *in;
		char *out;
	} name = {server.options.name}; /* encoding only reads it */
	exportnode node = {.ex_dir = name.out};
	exports list = &node;

	reply(c, call, &list, nfsd_code_exports);
	return 0;
}

#define NFS(NUMBER, function, T, layout)                                               \
	{                                                                              \
		NFS_PROGRAM, NFS3_##NUMBER, function, nfsd_code_##T, sizeof(T), layout \
	}
#define MOUNT(NUMBER, function, T, layout)                                                 \
	{                                                                                  \
		MOUNT_PROGRAM, MOUNT3_##NUMBER, function, nfsd_code_##T, sizeof(T), layout \
	}
#define BARE(PROGRAM, number, function)                             \
	{                                                           \
		PROGRAM, number, function, nfsd_code_nothing, 0, "" \
	}

const struct procedure nfsd_procedures[] = {
	NFS(READ, nfsd_read, READ3args, "h84"),
	NFS(WRITE, nfsd_write, WRITE3args, "h844d"),
	NFS(COMMIT, nfsd_commit, COMMIT3args, "h84"),
	NFS(GETATTR, do_getattr, GETATTR3args, "h"),
	NFS(SETATTR, do_setattr, SETATTR3args, "h"),
	NFS(LOOKUP, do_lookup, LOOKUP3args, "hn"),
	NFS(ACCESS, do_access, ACCESS3args, "h4"),
	NFS(READLINK, do_readlink, READLINK3args, "h"),
	NFS(CREATE, do_create, CREATE3args, "hn4"),
	NFS(MKDIR, nfsd_mkdir, MKDIR3args, "hn"),
	NFS(REMOVE, nfsd_remove, REMOVE3args, "hn"),
	NFS(RMDIR, nfsd_rmdir, RMDIR3args, "hn"),
	NFS(RENAME, nfsd_rename, RENAME3args, "hnhn"),
	NFS(READDIR, do_readdir, READDIR3args, "h884"),
	NFS(READDIRPLUS, do_readdirplus, READDIRPLUS3args, "h8844"),
	NFS(FSSTAT, do_fsstat, FSSTAT3args, "h"),
	NFS(FSINFO, do_fsinfo, FSINFO3args, "h"),
	NFS(PATHCONF, do_pathconf, PATHCONF3args, "h"),
	BARE(NFS_PROGRAM, NFS3_NULL, do_null),
	BARE(MOUNT_PROGRAM, MOUNT3_NULL, do_null),
	MOUNT(MNT, do_mount, dirpath, "n"),
	MOUNT(UMNT, do_null, dirpath, "n"),
	BARE(MOUNT_PROGRAM, MOUNT3_UMNTALL, do_null),
	BARE(MOUNT_PROGRAM, MOUNT3_EXPORT, do_export),
	{.run = NULL},
};
