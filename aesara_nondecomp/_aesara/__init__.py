"""Everything about Aesara itself: its configuration, its only import, the compiler flags.

Reading order: `setup` (before Aesara is imported), `failures` (what is said if that fails), `import_hook`, `numpy2` and
`distutils` (what its modules get in place of what they import), `imports` (the only module that imports it),
`linked_blas`, `compiler_flags` and `module_cache` (how it compiles).
"""
