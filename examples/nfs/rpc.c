/* SPDX-License-Identifier: MIT */
/*
 * rpc: from a socket's bytes to a call of a procedure.
 *
 * libnfs 4.0 has a reader of its own for servers, but it believes the lengths that clients send:
 * two bytes changed in a credential make it read outside its buffer. So records and headers are
 * read here, and an argument's lengths are checked against the record before libnfs decodes
 * it. Answers are libnfs's.
 *
 * State of a connection: `in` holds the record that is being received, `have` bytes of it; the
 * first 4 of each fragment are its mark.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "nfs.h"

/* A WRITE and its header. */
#define RECORD_MAX (NFS_TRANSFER_MAX + 4096)
/* RFC 5531: no credential is longer. */
#define AUTH_MAX 400
#define LAST_FRAGMENT 0x80000000u

/* --- Bounded reading --- */

struct cursor {
	const unsigned char *at;
	size_t left;
};

static bool take_u32(struct cursor *c, uint32_t *out)
{
	if (c->left < 4)
		return false;
	memcpy(out, c->at, 4);
	*out = ntohl(*out);
	c->at += 4;
	c->left -= 4;
	return true;
}

static bool take_opaque(struct cursor *c, uint32_t max, const unsigned char **data,
			uint32_t *length)
{
	size_t padded;

	if (!take_u32(c, length) || *length > max)
		return false;
	padded = ((size_t)*length + 3) & ~(size_t)3;
	if (padded > c->left)
		return false;
	*data = c->at;
	c->at += padded;
	c->left -= padded;
	return true;
}

/* Do the lengths in an argument stay within the record? @layout: h = handle, n = name, d = data,
 * 4 and 8 = numbers; what follows has no length in it. */
static bool lengths_fit(struct cursor c, const char *layout)
{
	const unsigned char *data;
	uint32_t n;

	for (; *layout != '\0'; layout++) {
		uint32_t max = *layout == 'h'	? NFS3_FHSIZE
			       : *layout == 'n' ? MNTPATHLEN
						: NFS_TRANSFER_MAX;

		if (*layout == '4' || *layout == '8') {
			if (!take_u32(&c, &n) || (*layout == '8' && !take_u32(&c, &n)))
				return false;
		} else if (!take_opaque(&c, max, &data, &n)) {
			return false;
		}
	}
	return true;
}

/* --- Answers that refuse --- */

/* rpc_send_reply() has written an accepted reply with SUCCESS when it calls the encoder: the
 * status is the last word so far. */
static uint32_t code_refusal(ZDR *z, void *value, ...)
{
	uint32_t status = htonl(*(uint32_t *)value);

	memcpy(z->buf + z->pos - 4, &status, 4);
	if (*(uint32_t *)value == PROG_MISMATCH) {
		uint32_t version = 3;

		return zdr_u_int(z, &version) != 0 && zdr_u_int(z, &version) != 0;
	}
	return 1;
}

static int refuse(struct connection *c, struct rpc_msg *call, enum accept_stat status)
{
	uint32_t value = status;

	return rpc_send_reply(c->rpc, call, &value, code_refusal, 64);
}

/* --- Calls --- */

static bool take_auth(struct cursor *c, struct opaque_auth *auth)
{
	union {
		const unsigned char *in;
		caddr_t out;
	} base = {NULL}; /* only read */

	if (!take_u32(c, &auth->oa_flavor) || !take_opaque(c, AUTH_MAX, &base.in, &auth->oa_length))
		return false;
	auth->oa_base = base.out;
	return true;
}

static bool take_header(struct cursor *c, struct rpc_msg *m)
{
	struct call_body *b = &m->body.cbody;

	return take_u32(c, &m->xid) && take_u32(c, &m->direction) && m->direction == CALL &&
	       take_u32(c, &b->rpcvers) && b->rpcvers == RPC_MSG_VERSION && take_u32(c, &b->prog) &&
	       take_u32(c, &b->vers) && take_u32(c, &b->proc) && take_auth(c, &b->cred) &&
	       take_auth(c, &b->verf);
}

static int run(struct connection *c, const struct procedure *p, struct rpc_msg *call,
	       struct cursor arguments)
{
	union {
		const unsigned char *in;
		caddr_t out;
	} buffer = {arguments.at}; /* decoding only reads it */
	void *args;
	int error;
	ZDR z;

	if (!lengths_fit(arguments, p->layout))
		return refuse(c, call, GARBAGE_ARGS);
	args = calloc(1, p->size + 1); /* libnfs decodes into what is there: nothing may be */
	if (args == NULL)
		return refuse(c, call, SYSTEM_ERR);
	call->body.cbody.args = args;
	zdrmem_create(&z, buffer.out, (uint32_t)arguments.left, ZDR_DECODE);
	if (p->decode(&z, args) != 0)
		error = p->run(c, call);
	else
		error = refuse(c, call, GARBAGE_ARGS);
	zdr_destroy(&z);
	free(args);
	return error;
}

static int dispatch(struct connection *c, const unsigned char *record, size_t length)
{
	struct cursor cursor = {record, length};
	struct rpc_msg call = {0};
	const struct call_body *b = &call.body.cbody;
	bool known = false;

	if (!take_header(&cursor, &call))
		return -1;
	for (const struct procedure *p = nfsd_procedures; p->run != NULL; p++) {
		known |= p->program == b->prog;
		if (p->program == b->prog && b->vers == 3 && p->number == b->proc)
			return run(c, p, &call, cursor);
	}
	return refuse(c, &call,
		      !known	     ? PROG_UNAVAIL
		      : b->vers != 3 ? PROG_MISMATCH
				     : PROC_UNAVAIL);
}

/* --- Records --- */

/* How many more bytes complete the mark or the fragment that is coming in; 0: it is complete. */
static size_t missing(const struct connection *c)
{
	size_t got = c->have - c->fragment;

	return got < 4 ? 4 - got : 4 + (c->mark & ~LAST_FRAGMENT) - got;
}

static int read_mark(struct connection *c)
{
	uint32_t mark;

	memcpy(&mark, c->in + c->fragment, 4);
	c->mark = ntohl(mark);
	return c->fragment + 4 + (c->mark & ~LAST_FRAGMENT) > RECORD_MAX ? -1 : 0;
}

static int make_room(struct connection *c, size_t more)
{
	unsigned char *in;

	if (c->have + more <= c->room)
		return 0;
	in = realloc(c->in, c->have + more);
	if (in == NULL)
		return -1;
	c->in = in;
	c->room = c->have + more;
	return 0;
}

/* A fragment is whole: strip its mark, so that a record's fragments lie behind each other. */
static int end_fragment(struct connection *c)
{
	int error = 0;

	memmove(c->in + c->fragment, c->in + c->fragment + 4, c->have - c->fragment - 4);
	c->have -= 4;
	c->fragment = c->have;
	if ((c->mark & LAST_FRAGMENT) != 0) {
		error = dispatch(c, c->in, c->have);
		c->have = c->fragment = 0;
	}
	c->mark = 0;
	return error;
}

int nfsd_receive(struct connection *c)
{
	while (c->jobs + (unsigned)rpc_queue_length(c->rpc) < NFS_CALLS_MAX) {
		size_t more = missing(c);
		ssize_t n;

		if (make_room(c, more) != 0)
			return -1;
		n = more > 0 ? recv(rpc_get_fd(c->rpc), c->in + c->have, more, MSG_DONTWAIT) : 0;
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		if (n == 0 && more > 0)
			return -1; /* the client has left */
		c->have += (size_t)n;
		if (c->have - c->fragment == 4 && n > 0 && c->mark == 0 && read_mark(c) != 0)
			return -1;
		if (c->have - c->fragment >= 4 && missing(c) == 0 && end_fragment(c) != 0)
			return -1;
	}
	return 0;
}
