"""Benchmarks of aesara_nondecomp: ``python -m benchmarks --help``."""
