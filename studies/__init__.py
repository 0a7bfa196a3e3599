"""Finished studies, kept so that their reports can be checked: ``python -m studies --help``."""
