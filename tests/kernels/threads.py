"""Several Python threads that do the same at once."""

import threading


def in_threads(count, work):
    """Call work() in `count` threads; raises the first error of any."""
    failures = []

    def guarded():
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
