"""Memory: storages, their version counters, and the runtimes of the devices. Knows nothing of tensors' operators."""
