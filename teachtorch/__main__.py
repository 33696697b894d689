"""`python -m teachtorch` is the same as the console script `teachtorch`."""

import sys

from teachtorch.cli import main

if __name__ == "__main__":
    sys.exit(main())
