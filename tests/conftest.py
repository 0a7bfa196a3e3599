"""Settings for the whole suite. Compiled modules go to Aesara's usual cache: a second run is quick."""

from aesara_nondecomp import _setup

# Aesara reads its flags at its first import, so they are set here, before any test module is collected.
# A rewrite that fails is a defect; by default Aesara only logs it and goes on with the slower graph.
_setup.add_flags({"on_opt_error": "raise"})
