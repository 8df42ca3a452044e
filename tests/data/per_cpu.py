#!/usr/bin/env python3
"""per_cpu.py: turn what the kernel's trace_pipe gives into files that blkparse reads.

    per_cpu.py RAW NAMES SECONDS PREFIX

RAW holds the records of all CPUs in one stream; blkparse wants PREFIX.blktrace.CPU
each. NAMES is the tracer's saved_cmdlines ("pid name" a line): its names become
the process notes that blktrace itself writes and the tracer leaves out. Records
SECONDS after the first and later are cut. Nothing else is changed.
"""
import struct
import sys

# magic, sequence, time, sector, bytes, action, pid, device, cpu, error, length of what follows
RECORD = struct.Struct("=IIQQIIIIIHH")
MAGIC = 0x65617407
PROCESS_NOTE = 1 << (16 + 10)


def records(raw):
    at = 0
    while at < len(raw):
        fields = RECORD.unpack_from(raw, at)
        if fields[0] != MAGIC:
            sys.exit(f"no trace record at byte {at}")
        end = at + RECORD.size + fields[-1]
        yield fields, raw[at:end]
        at = end


def main(raw_file, names_file, seconds, prefix):
    with open(names_file, encoding="utf-8") as f:
        names = dict(line.rstrip("\n").split(" ", 1) for line in f)
    with open(raw_file, "rb") as f:
        found = list(records(f.read()))
    first = found[0][0][2]
    kept = [r for r in found if r[0][2] < first + int(float(seconds) * 1e9)]
    per_cpu = {}
    noted = set()
    for fields, record in kept:
        pid, device, cpu = fields[6], fields[7], fields[8]
        out = per_cpu.setdefault(cpu, bytearray())
        if pid not in noted and str(pid) in names:
            noted.add(pid)
            # 16 bytes is the kernel's own limit for the name of a process.
            out += RECORD.pack(MAGIC, 0, fields[2], 0, 0, PROCESS_NOTE, pid, device, cpu, 0, 16)
            out += names[str(pid)].encode()[:15].ljust(16, b"\0")
        out += record
    for cpu, data in per_cpu.items():
        with open(f"{prefix}.blktrace.{cpu}", "wb") as f:
            f.write(data)
    print(f"kept {len(kept)} of {len(found)} records, {len(noted)} process names")


main(*sys.argv[1:])
