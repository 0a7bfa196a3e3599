"""Python code run in a process of its own, where a test needs other threads or settings than the suite has."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).parent
PYTHONPATH = os.pathsep.join(map(str, (TESTS.parent, TESTS, *(path for path in TESTS.iterdir() if path.is_dir()))))


def crew(number: int = signal.SIGINT) -> int:
    """Threads of this process that leave a signal, by default the keyboard's, to others."""
    time.sleep(0.1)  # a thread that is being started leaves it to others for a moment too
    files = Path("/proc/self/task").glob("*/status")
    masks = [line.split()[1] for file in files for line in file.read_text().splitlines() if line.startswith("SigBlk")]
    return sum(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def in_a_process(code: str, module: str, threads: int = 1) -> list[str]:
    """Words that Python code, to which a test module is `t`, prints where BLAS starts with so many threads."""
    command = [sys.executable, "-c", f"import os, {module} as t\n{code}"]
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH, "OPENBLAS_NUM_THREADS": str(threads)}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout.split()
