"""`sim`: an accelerator that every machine has, simulated by threads.

    arena.py     its memory: one stretch of host memory of fixed capacity
    queue.py     a stream: a FIFO queue and the thread that runs it
    cost.py      how long launches, kernels and copies are made to take
    runtime.py   the device: memory, streams, marks and errors behind the interface of memory/runtime.py

What is real: launches return at once, results are garbage until the stream has come to them, two streams run
at the same time, and a missing `wait_stream` loses. What is not: a kernel is the CPU's, on one thread.
"""
