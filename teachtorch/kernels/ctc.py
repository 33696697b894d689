"""Connectionist temporal classification (Graves et al. 2006) on arrays, in logarithms.

A target of n labels becomes 2n + 1 states: its labels with blanks between and around them. alpha[b, t, s]
is the probability of all ways through the first t + 1 steps that end in state s, beta that of all ways from
there on.
"""

import numpy as np


def states_of(targets, blank):
    """(batch, 2 S + 1) labels with blanks, of padded targets (batch, S)."""
    labels = np.full((len(targets), 2 * targets.shape[1] + 1), blank, np.int64)
    labels[:, 1::2] = targets
    return labels


def may_skip(labels):
    """Where a way may leave out the state before: between two labels that differ."""
    found = np.zeros(labels.shape, bool)
    found[:, 3::2] = labels[:, 3::2] != labels[:, 1:-2:2]
    return found


def shifted(values, by):
    """values[:, s - by], -inf at the edge; towards the end for a negative `by`."""
    found = np.full_like(values, -np.inf)
    if by > 0:
        found[:, by:] = values[:, :-by]
    else:
        found[:, :by] = values[:, -by:]
    return found


def log_sum(*parts):
    top = np.maximum.reduce(parts)
    top[top == -np.inf] = 0
    return np.log(sum(np.exp(part - top) for part in parts)) + top


def by_state(log_probs, labels):
    """(steps, batch, states): the log probability of each state's label."""
    return np.take_along_axis(log_probs, np.broadcast_to(labels, (len(log_probs), *labels.shape)), 2)


def alphas(log_probs, labels):
    """(batch, steps, states), for (steps, batch, classes)."""
    emitted, skips = by_state(log_probs, labels), may_skip(labels)
    found = np.full_like(emitted, -np.inf)
    found[0, :, :2] = emitted[0, :, :2]
    for t in range(1, len(emitted)):
        before = found[t - 1]
        found[t] = emitted[t] + log_sum(
            before, shifted(before, 1), np.where(skips, shifted(before, 2), -np.inf)
        )
    return found.swapaxes(0, 1).copy()


def betas(log_probs, labels, input_lengths, target_lengths):
    """(batch, steps, states); -inf after a sequence's end."""
    emitted, skips = by_state(log_probs, labels), may_skip(labels)
    found = np.full_like(emitted, -np.inf)
    ends = is_end(labels, target_lengths)
    after = found[0].copy()
    for t in reversed(range(len(emitted))):
        ways = log_sum(after, shifted(after, -1), shifted(np.where(skips, after, -np.inf), -2))
        ways = np.where((input_lengths - 1 == t)[:, None], np.where(ends, 0, -np.inf), ways)
        found[t] = after = emitted[t] + np.where((t < input_lengths)[:, None], ways, -np.inf)
    return found.swapaxes(0, 1)


def is_end(labels, target_lengths):
    """The last label and the blank after it."""
    places = np.arange(labels.shape[1])
    last = 2 * target_lengths[:, None]
    return (places == last) | (places == last - 1)


def losses(log_probs, targets, input_lengths, target_lengths, blank):
    """(minus the log probability of each target (batch,), alphas)."""
    labels = states_of(targets, blank)
    alpha = alphas(log_probs, labels)
    rows = np.arange(len(labels))
    final = alpha[rows, np.maximum(input_lengths - 1, 0)]
    final = np.where(is_end(labels, target_lengths), final, -np.inf)
    found = -log_sum(*final.T)
    nothing = np.where(target_lengths == 0, 0, np.inf)
    return np.where(input_lengths == 0, nothing, found).astype(log_probs.dtype), alpha


def gradient(grad, log_probs, targets, input_lengths, target_lengths, blank, nll, alpha, zero_infinity):
    """The gradient of the log probabilities, from that of each loss."""
    labels = states_of(targets, blank)
    ways = (alpha + betas(log_probs, labels, input_lengths, target_lengths)).swapaxes(0, 1)
    share = np.exp(ways - by_state(log_probs, labels) + nll[:, None])
    share[ways == -np.inf] = 0
    found = np.exp(log_probs)
    steps, batch = np.arange(len(log_probs))[:, None, None], np.arange(len(labels))[:, None]
    np.subtract.at(found, (steps, batch, labels), share)
    found[:, np.isinf(nll)] = 0 if zero_infinity else np.nan
    found *= grad[:, None]
    found[np.arange(len(log_probs))[:, None] >= input_lengths] = 0
    return found
