"""Python imports this by itself as it starts, if it is on the path: rank 1 ends there."""

import os

if os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")) == "1":
    os.kill(os.getpid(), 9)
