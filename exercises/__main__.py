"""`python -m exercises` is the same as `teachtorch exercises`."""

import sys

from exercises.cli import main

sys.exit(main())
