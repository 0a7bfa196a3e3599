"""Reports of evaluations as web pages: one file each, which needs no network and no script.

Reading order: `facts` (the figures, as plain values ready for JSON), `curves` (points of the pictures), `columns` (what
the columns contribute, and how far they moved), `markup` and `svg` (escaped text, tables, pictures), `sections` (the
parts of a page, in order), `comparison` (two models), `page` (the parts as one file).
"""
