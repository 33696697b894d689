"""Several processes: shared memory, starting, failing, letting go."""
