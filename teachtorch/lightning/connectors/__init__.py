"""Between the trainer and the rest: data, random numbers, schedulers, callbacks, devices, interruptions."""
