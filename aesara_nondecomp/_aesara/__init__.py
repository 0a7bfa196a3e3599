"""Everything about Aesara itself: its configuration, its only import, the compiler flags.

Reading order: `setup` (before Aesara is imported), `imports` (the only module that imports it), `compiler_flags`.
"""
