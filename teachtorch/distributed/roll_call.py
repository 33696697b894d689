"""Who is missing: what ranks that wait tell each other.

MPI says only "not complete yet". So a rank that has waited too long asks all others of the group where they
are; ranks that wait answer, with the collective they wait in. Who does not answer is not waiting: it
computes, sleeps, hangs or has left.
"""

import time

QUESTION, ANSWER = 32001, 32002  # tags on the world's own communicator, which nothing else uses
GRACE = 1.0  # seconds in which an answer must come


class RollCall:
    """The calls of one process; `comm` is a communicator of all ranks."""

    def __init__(self, MPI, comm):
        self.MPI, self.comm = MPI, comm
        self.sent = []  # requests: MPI wants their buffers kept

    def answer(self, place):
        """Tell everyone who has asked that this rank waits at `place`."""
        status = self.MPI.Status()
        while self.comm.iprobe(tag=QUESTION, status=status):
            self.comm.recv(source=status.source, tag=QUESTION)
            self.tell(status.source, ANSWER, place)

    def tell(self, rank, tag, message):
        self.sent = [request for request in self.sent if not request.Test()]
        self.sent.append(self.comm.isend(message, rank, tag))

    def ask(self, ranks, place):
        """{rank: where it waits} of those of `ranks` that answer within GRACE seconds."""
        for rank in ranks:
            self.tell(rank, QUESTION, None)
        answers, deadline = {}, time.monotonic() + GRACE
        while time.monotonic() < deadline and len(answers) < len(ranks):
            self.answer(place)
            self.hear(answers)
            time.sleep(0.002)
        return answers

    def hear(self, answers):
        """Add the answers that have come."""
        status = self.MPI.Status()
        while self.comm.iprobe(tag=ANSWER, status=status):
            answers[status.source] = self.comm.recv(source=status.source, tag=ANSWER)


def complaint(place, seconds, ranks, answers):
    """The sentence about a collective that was given up at `place` = (group's name, collective's number, its name)."""
    group, number, name = place
    absent = [rank for rank in ranks if rank not in answers]
    elsewhere = {rank: there for rank, there in answers.items() if there != place}
    reasons = []
    if absent:
        reasons.append(f"{these(absent)} not arrived")
    reasons += [
        f"rank {rank} waits in {there[2]}, its collective {there[1]} of group '{there[0]}'"
        for rank, there in sorted(elsewhere.items())
    ]
    return f"Timed out after {seconds:g} s in {name}, collective {number} of group '{group}': " + (
        "; ".join(reasons) or "all ranks are in it, but it does not end"
    )


def these(ranks):
    return f"rank {ranks[0]} has" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))} have"
