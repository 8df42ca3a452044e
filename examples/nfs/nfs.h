/* SPDX-License-Identifier: MIT */
/*
 * nfs_server: an NFS version 3 server in user space, its reads and writes under a policy.
 *
 *   loop (server.c)     owns the sockets and libnfs's contexts, which no other thread may touch;
 *                       reads calls (rpc.c) and answers what needs no disk at once (calls.c)
 *   workers (work.c)    N threads, each with one READ, WRITE or COMMIT at a time, as nfsd has;
 *                       they pass the gate, do the I/O and hand the job back to the loop
 *
 * Rule: a job belongs to the loop, the list of work, one worker, or the list of done jobs. A
 * connection is freed when its last job is back, and an answer to a closed one is dropped.
 */
#ifndef EXAMPLES_NFS_NFS_H
#define EXAMPLES_NFS_NFS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include <nfsc/libnfs-zdr.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

#include <iosched/iosched.h>
#include <iosched/sim.h>

#include "files.h"
#include "gate.h"

/* Bytes of one READ or WRITE at most. */
#define NFS_TRANSFER_MAX (1024u * 1024)

/* Each file has so many bytes of the queue's offsets to itself; the last are never used, so
 * that two files never touch and are never merged. */
#define NFS_FILE_STRIDE (UINT64_C(1) << 40)
#define NFS_FILE_MAX (NFS_FILE_STRIDE - NFS_TRANSFER_MAX)

enum context_kind { BY_FILE, BY_CLIENT, BY_WORKER };

struct options {
	const char *folder;
	const char *name;		     /* that clients mount */
	const struct iosched_policy *policy; /* NULL: bypass */
	const char *device;		     /* emulated disk; NULL: none */
	unsigned time_permille;
	unsigned workers, depth, port, transfer;
	unsigned fail_every; /* so many commands of the disk, one fails; 0: none */
	enum context_kind context;
	bool by_uid; /* a group for each user */
};

struct connection {
	struct connection *next;
	struct rpc_context *rpc;
	uint64_t client; /* its number, from 1 */
	unsigned jobs;	 /* not yet back */
	bool broken;
	unsigned char *in; /* the record that is coming in, rpc.c's */
	size_t room, have;
	size_t fragment; /* where its last fragment begins */
	uint32_t mark;	 /* of that fragment */
};

struct job {
	struct job *next;
	struct connection *connection;
	struct rpc_msg call;
	const struct node *node;
	uint64_t offset;
	char *data;
	uint32_t count; /* asked for, then done */
	uint32_t uid;
	uint8_t op; /* enum iosched_op */
	bool stable, eof;
	int error;
	struct stat after; /* if has_after */
	bool has_after;
};

struct server {
	struct options options;
	struct files files;
	struct connection *connections;
	char verifier[8]; /* another after a restart */

	struct gate gate;
	bool scheduled; /* there is a gate */
	struct iosched_sim_disk *disk;
	pthread_t *threads;
	unsigned thread_count;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t work;
	struct job *waiting, **waiting_end;
	struct job *done;
	bool closing;
	uint64_t taken, answered; /* jobs, for the last line */
	int event;		  /* eventfd: `done` is no longer empty */
};

extern struct server server;

/* Calls of one client that are out or whose answers it has not taken; then we stop reading. */
#define NFS_CALLS_MAX 128

/* A procedure of version 3 of a program. `run` returns 0, or -1: close the connection. */
struct procedure {
	uint32_t program, number;
	int (*run)(struct connection *c, struct rpc_msg *call);
	zdrproc_t decode;
	size_t size;	    /* of the decoded argument */
	const char *layout; /* its lengths, see rpc.c */
};

/* rpc.c: read what the socket has and run it. Returns 0, or -1: close the connection. */
int nfsd_receive(struct connection *c);

/* calls.c: what needs no disk */
extern const struct procedure nfsd_procedures[]; /* ends with a NULL `run` */
nfsstat3 nfsd_status(int error);
void nfsd_post_attributes(post_op_attr *out, const struct stat *st);

int nfsd_stat(const struct node *n, struct stat *st); /* 0 or -errno */

/* names.c: what changes a folder */
int nfsd_mkdir(struct connection *c, struct rpc_msg *call);
int nfsd_remove(struct connection *c, struct rpc_msg *call);
int nfsd_rmdir(struct connection *c, struct rpc_msg *call);
int nfsd_rename(struct connection *c, struct rpc_msg *call);

/* transfer.c: READ, WRITE and COMMIT, from call to job and from job to answer */
int nfsd_read(struct connection *c, struct rpc_msg *call);
int nfsd_write(struct connection *c, struct rpc_msg *call);
int nfsd_commit(struct connection *c, struct rpc_msg *call);
void nfsd_answer(struct job *j);

/* work.c */
int nfsd_work_start(void); /* 0 or -errno, after a message */
void nfsd_work_give(struct job *j);
struct job *nfsd_work_back(void); /* all that are done */
void nfsd_work_client_gone(uint64_t client);
void nfsd_work_stop(void); /* all given jobs are done first */

/* codec.c: libnfs's coders as rpc_send_reply() wants them. */
/* clang-format off */
#define NFS_CODED(X) \
	X(GETATTR3args) \
	X(GETATTR3res) \
	X(SETATTR3args) \
	X(SETATTR3res) \
	X(LOOKUP3args) \
	X(LOOKUP3res) \
	X(ACCESS3args) \
	X(ACCESS3res) \
	X(READLINK3args) \
	X(READLINK3res) \
	X(READ3args) \
	X(READ3res) \
	X(WRITE3args) \
	X(WRITE3res) \
	X(CREATE3args) \
	X(CREATE3res) \
	X(MKDIR3args) \
	X(MKDIR3res) \
	X(REMOVE3args) \
	X(REMOVE3res) \
	X(RMDIR3args) \
	X(RMDIR3res) \
	X(RENAME3args) \
	X(RENAME3res) \
	X(READDIR3args) \
	X(READDIR3res) \
	X(READDIRPLUS3args) \
	X(READDIRPLUS3res) \
	X(FSSTAT3args) \
	X(FSSTAT3res) \
	X(FSINFO3args) \
	X(FSINFO3res) \
	X(PATHCONF3args) \
	X(PATHCONF3res) \
	X(COMMIT3args) \
	X(COMMIT3res) \
	X(mountres3) \
	X(exports) \
	X(dirpath)
/* clang-format on */
#define NFS_DECLARE(T) uint32_t nfsd_code_##T(ZDR *z, void *value, ...);
NFS_CODED(NFS_DECLARE)
uint32_t nfsd_code_nothing(ZDR *z, void *value, ...);

#endif
