"""`python -m exercises` is the same as `teachtorch exercises`."""

import os
import sys

PACKAGE = os.path.dirname(os.path.abspath(__file__))

# `python -m` puts the current folder first, and a learner's folder may hold a json.py.
if not sys.flags.safe_path and os.path.abspath(sys.path[0]) != os.path.dirname(PACKAGE):
    del sys.path[0]

from exercises.cli import main  # noqa: E402

sys.exit(main())
