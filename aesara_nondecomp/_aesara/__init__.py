"""Everything about Aesara itself: its configuration, its only import, the compiler flags.

Reading order: `setup` (before Aesara is imported), `failures` (what is said if that fails), `imports` (the only module
that imports it), `compiler_flags` and `module_cache` (how it compiles).
"""
