"""Everything about Aesara itself: its configuration, its one import, the compiler's flags.

Reading order: `setup` (before Aesara is imported), `imports` (the one place that imports it), `compiler_flags`.
"""
