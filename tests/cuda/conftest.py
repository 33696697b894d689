"""The folder `simulated` holds tests that need Numba's CUDA simulator, which is chosen when Numba is
imported: they are collected in processes of their own (test_in_simulator.py), or by hand:

    NUMBA_ENABLE_CUDASIM=1 pytest tests/cuda/simulated
"""

import os

collect_ignore = [] if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1" else ["simulated"]
