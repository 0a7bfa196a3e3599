"""Reports of evaluations as web pages: one file each, which needs no network and no script.

Reading order: `facts` (the figures, as plain values ready for JSON), `curves` (points of the pictures), `columns` (what
the columns contribute, and how far they moved), `markup`, `svg` and `pictures` (escaped text, tables, pictures),
`sections` (the parts of a page, in order), `group_sections`, `comparison` (two models), `frame` and `two_models` (what
all kinds of models have in common), `page` (the parts as one file). For several classes: `class_facts`,
`class_sections`, `class_comparison`; for several labels: `label_facts`, `label_sections`, `label_comparison`.
"""
