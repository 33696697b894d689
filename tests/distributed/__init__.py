"""Many processes: tests that start ranks of MPI, and those that need one process only."""
