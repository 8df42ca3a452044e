/* SPDX-License-Identifier: MIT */
/*
 * names: the procedures that change a folder: MKDIR, REMOVE, RMDIR, RENAME.
 *
 * A name is one entry of a folder that a handle led to, never a path, so that none of them reaches
 * outside of the export. They act on the entry itself: a symbolic link is removed, not followed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "nfs.h"

static int node_of(const nfs_fh3 *handle, struct node **out)
{
	return files_node(&server.files, handle->data.data_val, handle->data.data_len, out);
}

static void after(wcc_data *out, const nfs_fh3 *folder)
{
	struct node *n;
	struct stat st;

	if (node_of(folder, &n) == 0 && nfsd_stat(n, &st) == 0)
		nfsd_post_attributes(&out->after, &st);
}

int nfsd_mkdir(struct connection *c, struct rpc_msg *call)
{
	const MKDIR3args *a = call->body.cbody.args;
	const sattr3 *s = &a->attributes;
	MKDIR3res r = {0};
	MKDIR3resok *ok = &r.MKDIR3res_u.resok;
	char handle[HANDLE_SIZE];
	struct node *folder, *n;
	struct stat st;
	int error = node_of(&a->where.dir, &folder);

	if (error == 0)
		error = files_mkdir(&server.files, folder, a->where.name,
				    s->mode.set_it != 0 ? s->mode.set_mode3_u.mode : 0755, &n);
	r.status = nfsd_status(error);
	if (error == 0) {
		files_handle(n, handle);
		ok->obj.handle_follows = 1;
		ok->obj.post_op_fh3_u.handle.data.data_len = HANDLE_SIZE;
		ok->obj.post_op_fh3_u.handle.data.data_val = handle;
		if (nfsd_stat(n, &st) == 0)
			nfsd_post_attributes(&ok->obj_attributes, &st);
		after(&ok->dir_wcc, &a->where.dir);
	}
	rpc_send_reply(c->rpc, call, &r, nfsd_code_MKDIR3res, 512);
	return 0;
}

int nfsd_remove(struct connection *c, struct rpc_msg *call)
{
	const REMOVE3args *a = call->body.cbody.args;
	REMOVE3res r = {0};
	struct node *folder;
	int error = node_of(&a->object.dir, &folder);

	if (error == 0)
		error = files_remove(&server.files, folder, a->object.name, false);
	r.status = nfsd_status(error);
	after(&r.REMOVE3res_u.resok.dir_wcc, &a->object.dir);
	rpc_send_reply(c->rpc, call, &r, nfsd_code_REMOVE3res, 512);
	return 0;
}

int nfsd_rmdir(struct connection *c, struct rpc_msg *call)
{
	const RMDIR3args *a = call->body.cbody.args;
	RMDIR3res r = {0};
	struct node *folder;
	int error = node_of(&a->object.dir, &folder);

	if (error == 0)
		error = files_remove(&server.files, folder, a->object.name, true);
	r.status = nfsd_status(error);
	after(&r.RMDIR3res_u.resok.dir_wcc, &a->object.dir);
	rpc_send_reply(c->rpc, call, &r, nfsd_code_RMDIR3res, 512);
	return 0;
}

int nfsd_rename(struct connection *c, struct rpc_msg *call)
{
	const RENAME3args *a = call->body.cbody.args;
	RENAME3res r = {0};
	struct node *from, *to;
	int error = node_of(&a->from.dir, &from);

	if (error == 0)
		error = node_of(&a->to.dir, &to);
	if (error == 0)
		error = files_rename(&server.files, from, a->from.name, to, a->to.name);
	r.status = nfsd_status(error);
	after(&r.RENAME3res_u.resok.fromdir_wcc, &a->from.dir);
	after(&r.RENAME3res_u.resok.todir_wcc, &a->to.dir);
	rpc_send_reply(c->rpc, call, &r, nfsd_code_RENAME3res, 1024);
	return 0;
}
