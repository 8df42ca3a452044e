/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfs.h"

/* The user of an AUTH_UNIX credential: stamp, machine name, uid, ...; nobody without one. */
static uint32_t user_of(const struct rpc_msg *call)
{
	const struct opaque_auth *cred = &call->body.cbody.cred;
	const unsigned char *p = (const unsigned char *)cred->oa_base;
	uint32_t name;
	size_t at;

	if (cred->oa_flavor != AUTH_UNIX || p == NULL || cred->oa_length < 16)
		return UINT32_MAX;
	name = (uint32_t)p[4] << 24 | (uint32_t)p[5] << 16 | (uint32_t)p[6] << 8 | p[7];
	if (name > 255)
		return UINT32_MAX;
	at = 8 + ((name + 3) & ~3u);
	if (at + 4 > cred->oa_length)
		return UINT32_MAX;
	p += at;
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static struct job *make_job(struct connection *c, const struct rpc_msg *call, enum iosched_op op,
			    const nfs_fh3 *handle)
{
	struct job *j = calloc(1, sizeof(*j));
	struct node *node;

	if (j == NULL)
		return NULL;
	j->connection = c;
	j->call.xid = call->xid; /* all that an answer needs of its call */
	j->op = (uint8_t)op;
	j->uid = user_of(call);
	j->error = files_node(&server.files, handle->data.data_val, handle->data.data_len, &node);
	if (j->error == 0)
		j->node = node;
	return j;
}

/* To the workers, or, if it is wrong already, straight back. */
static int give(struct job *j)
{
	j->connection->jobs++;
	if (j->error == 0)
		nfsd_work_give(j);
	else
		nfsd_answer(j);
	return 0;
}

static bool within(uint64_t offset, uint32_t count)
{
	return offset <= NFS_FILE_MAX && count <= NFS_FILE_MAX - offset;
}

/* [read] */
int nfsd_read(struct connection *c, struct rpc_msg *call)
{
	const READ3args *a = call->body.cbody.args;
	struct job *j;

	j = make_job(c, call, IOSCHED_READ, &a->file);
	if (j == NULL)
		return -1;
	j->offset = a->offset;
	j->count = a->count < server.options.transfer ? a->count : server.options.transfer;
	if (j->error == 0 && !within(a->offset, j->count))
		j->error = -EFBIG;
	if (j->error == 0 && (j->data = malloc(j->count + 1)) == NULL)
		j->error = -ENOMEM;
	return give(j);
}
/* [/read] */

int nfsd_write(struct connection *c, struct rpc_msg *call)
{
	const WRITE3args *a = call->body.cbody.args;
	struct job *j;

	j = make_job(c, call, IOSCHED_WRITE, &a->file);
	if (j == NULL)
		return -1;
	j->offset = a->offset;
	j->count = a->count;
	j->stable = a->stable != UNSTABLE;
	if (j->error == 0 && (a->count > a->data.data_len || a->count > NFS_TRANSFER_MAX))
		j->error = -EINVAL;
	if (j->error == 0 && !within(a->offset, a->count))
		j->error = -EFBIG;
	if (j->error == 0 && (j->data = malloc(a->count + 1)) == NULL)
		j->error = -ENOMEM;
	if (j->error == 0 && a->count != 0)
		memcpy(j->data, a->data.data_val, a->count);
	return give(j);
}

int nfsd_commit(struct connection *c, struct rpc_msg *call)
{
	const COMMIT3args *a = call->body.cbody.args;
	struct job *j;

	j = make_job(c, call, IOSCHED_FLUSH, &a->file);
	return j != NULL ? give(j) : -1;
}

/* --- Answers --- */

static void answer_read(struct job *j)
{
	READ3res r = {.status = nfsd_status(j->error)};
	READ3resok *ok = &r.READ3res_u.resok;

	if (j->error == 0) {
		if (j->has_after)
			nfsd_post_attributes(&ok->file_attributes, &j->after);
		ok->count = j->count;
		ok->eof = j->eof;
		ok->data.data_len = j->count;
		ok->data.data_val = j->data;
	}
	rpc_send_reply(j->connection->rpc, &j->call, &r, nfsd_code_READ3res, (int)j->count + 256);
}

static void answer_write(struct job *j)
{
	WRITE3res r = {.status = nfsd_status(j->error)};
	WRITE3resok *ok = &r.WRITE3res_u.resok;

	if (j->error == 0) {
		if (j->has_after)
			nfsd_post_attributes(&ok->file_wcc.after, &j->after);
		ok->count = j->count;
		ok->committed = j->stable ? FILE_SYNC : UNSTABLE;
		memcpy(ok->verf, server.verifier, sizeof(ok->verf));
	}
	rpc_send_reply(j->connection->rpc, &j->call, &r, nfsd_code_WRITE3res, 256);
}

static void answer_commit(struct job *j)
{
	COMMIT3res r = {.status = nfsd_status(j->error)};

	if (j->error == 0)
		memcpy(r.COMMIT3res_u.resok.verf, server.verifier, sizeof(server.verifier));
	rpc_send_reply(j->connection->rpc, &j->call, &r, nfsd_code_COMMIT3res, 256);
}

void nfsd_answer(struct job *j)
{
	j->connection->jobs--;
	if (!j->connection->broken) {
		if (j->op == IOSCHED_READ)
			answer_read(j);
		else if (j->op == IOSCHED_WRITE)
			answer_write(j);
		else
			answer_commit(j);
	}
	free(j->data);
	free(j);
}
