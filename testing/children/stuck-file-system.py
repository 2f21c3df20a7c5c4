"""Mounts, at the path it is given, a file system that takes every question and answers none. Whoever asks waits, even when killed."""
import ctypes
import os
import struct
import sys

INIT = 26

libc = ctypes.CDLL(None, use_errno=True)
device = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={device},rootmode=40000,user_id=0,group_id=0'.encode()
if libc.mount(b'stuck', sys.argv[1].encode(), b'fuse', 0, options) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
print('mounted', flush=True)
while True:
    _, kind, number = struct.unpack_from('<IIQ', os.read(device, 1 << 20))
    if kind == INIT:
        version = struct.pack('<II12xI', 7, 31, 4096)
        os.write(device, struct.pack('<IiQ', 80, 0, number) + version.ljust(64, b'\0'))
