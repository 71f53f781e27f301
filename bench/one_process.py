"""Runs the command line of its arguments and prints its wall-clock time, processor time and peak memory as JSON.

It is a program of its own because the kernel counts the memory of the parent at a start as memory of the child. So no
measured process has less memory than this program, about 10 MiB.
"""

import os
import sys
import time

nothing = os.open(os.devnull, os.O_RDWR)
actions = [(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, nothing, 1)]
begun = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - begun
print(
    f'{{"wall": {wall * 1e3}, "cpu": {(usage.ru_utime + usage.ru_stime) * 1e3}, "mib": {usage.ru_maxrss / 1024},'
    f' "status": {os.waitstatus_to_exitcode(status)}}}'
)
