"""The dispatcher: from the arguments' key sets to the kernel that runs. Knows nothing of which operators exist."""
