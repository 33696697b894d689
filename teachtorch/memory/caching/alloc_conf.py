"""Settings of the allocator, and the string that sets them: "max_split_size_mb:128,expandable_segments:True".

PyTorch reads it from the environment variable PYTORCH_ALLOC_CONF (older: PYTORCH_CUDA_ALLOC_CONF); so does
teachtorch. https://pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-alloc-conf
"""

import os
import re

from .sizes import LARGE_SEGMENT, MIB, NO_LIMIT

INTERVALS = 16  # of roundup_power2_divisions: 1 MiB, 2 MiB ... and from 32 GiB upwards
FIRST_INTERVAL = 20  # log2 of 1 MiB
ENVIRONMENT = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")

# Options of PyTorch that concern host memory, locks or other backends: read, checked for being an option, not
# used.
WITHOUT_EFFECT = frozenset(
    {
        "backend",
        "release_lock_on_cudamalloc",
        "pinned_use_cuda_host_register",
        "pinned_num_register_threads",
        "pinned_use_background_threads",
        "pinned_reserve_segment_size_mb",
        "graph_capture_record_stream_reuse",
        "throw_on_cudamalloc_oom",
    }
)


class AllocatorSettings:
    """What the string can set; sizes in bytes.

    max_split_size: blocks of this size or more are never split. max_non_split_rounding: how much larger than
    the request such a block may be. garbage_collection_threshold: the share of the memory cap above which old
    cached blocks are given back; 0.0 is never. roundup_power2_divisions: per interval of sizes, or None.
    """

    def __init__(self):
        self.max_split_size = NO_LIMIT
        self.max_non_split_rounding = LARGE_SEGMENT
        self.large_segment_size = LARGE_SEGMENT
        self.garbage_collection_threshold = 0.0
        self.per_process_memory_fraction = 1.0
        self.roundup_power2_divisions = None
        self.expandable_segments = False
        self.given = set()  # the names of options that the string holds
        self.text = ""

    def divisions_for(self, nbytes):
        """Into how many steps the powers of two around a request are divided; 0 or 1 where they are not used."""
        interval = nbytes.bit_length() - 1 - FIRST_INTERVAL
        return self.roundup_power2_divisions[min(max(interval, 0), INTERVALS - 1)]


def parse_alloc_conf(text):
    """The AllocatorSettings that a string asks for. ValueError, in PyTorch's words, for what it does not allow."""
    settings, tokens = AllocatorSettings(), Tokens(text)
    while tokens.more():
        name = tokens.take()
        if name != ",":
            set_option(settings, name, tokens)
    check_least(settings)
    settings.text = text
    return settings


def check_least(settings):
    """Blocks that are never split, and what they may waste, are no smaller than the segments of middling requests."""
    least = settings.large_segment_size
    for name in ("max_split_size", "max_non_split_rounding"):
        if f"{name}_mb" in settings.given and getattr(settings, name) < least:
            raise ValueError(f"CachingAllocator option {name}_mb too small, must be >= {least // MIB}")


def settings_from_environment():
    """The settings that the environment asks for, or the defaults."""
    asked = next((os.environ[name] for name in ENVIRONMENT if name in os.environ), "")
    return parse_alloc_conf(asked)


class Tokens:
    """The words and the separators `, : [ ]` of a settings string, one after the other."""

    def __init__(self, text):
        self.words = [word.strip() for word in re.split(r"([,:\[\]])", text) if word.strip()]
        self.at = 0

    def more(self):
        return self.at < len(self.words)

    def take(self):
        if not self.more():
            raise ValueError("Index out of bounds in ConfigTokenizer: a value is missing at the end")
        self.at += 1
        return self.words[self.at - 1]

    def expect(self, word):
        found = self.take()
        if found != word:
            raise ValueError(f"Expected '{word}' at index {self.at - 1} in ConfigTokenizer but got '{found}'")

    def value(self):
        """The word after the colon."""
        self.expect(":")
        return self.take()

    def flag(self):
        word = self.value()
        if word not in ("True", "False"):
            raise ValueError(
                f"Expected 'True' or 'False' at index {self.at - 1} in ConfigTokenizer but got '{word}'"
            )
        return word == "True"


def set_option(settings, name, tokens):
    settings.given.add(name)
    reader = READERS.get(name)
    if reader is not None:
        reader(settings, tokens)
    elif name in WITHOUT_EFFECT:
        tokens.value()
    else:
        raise ValueError(f"Unrecognized key '{name}' in Accelerator allocator config.")


def whole_number(word):
    if not word.isdigit():
        raise ValueError(f"not a whole number: '{word}'")
    return int(word)


def fraction(word):
    try:
        return float(word)
    except ValueError:
        raise ValueError(f"not a number: '{word}'") from None


def read_max_split_size(settings, tokens):
    settings.max_split_size = whole_number(tokens.value()) * MIB


def read_max_non_split_rounding(settings, tokens):
    settings.max_non_split_rounding = whole_number(tokens.value()) * MIB


def read_large_segment_size(settings, tokens):
    given = whole_number(tokens.value())
    if given <= 10:
        raise ValueError("CachingAllocator option large_segment_size_mb must be > 10 MB")
    settings.large_segment_size = given * MIB


def read_garbage_collection_threshold(settings, tokens):
    given = fraction(tokens.value())
    if not 0.0 < given < 1.0:
        raise ValueError("garbage_collect_threshold is invalid, set it in (0.0, 1.0)")
    settings.garbage_collection_threshold = given


def read_memory_fraction(settings, tokens):
    given = fraction(tokens.value())
    if not 0.0 <= given <= 1.0:
        raise ValueError("per_process_memory_fraction is invalid, set it in [0.0, 1.0]")
    settings.per_process_memory_fraction = given


def read_expandable_segments(settings, tokens):
    settings.expandable_segments = tokens.flag()


def read_divisions(settings, tokens):
    """`4`, or a list by the interval's start in MiB: `[256:1,512:2,>:8]`, where `>` is all that follow."""
    word = tokens.value()
    if word == "[":
        settings.roundup_power2_divisions = read_division_list(tokens)
        return
    given = whole_number(word)
    if not is_power_of_2(given):
        raise ValueError("For roundups, the divisions has to be power of 2 ")
    settings.roundup_power2_divisions = [given] * INTERVALS


def read_division_list(tokens):
    divisions, last = [0] * INTERVALS, None
    while (start := tokens.take()) != "]":
        if start == ",":
            continue
        steps = whole_number(tokens.value())
        if steps and not is_power_of_2(steps):
            raise ValueError("For roundups, the divisions has to be power of 2 or 0 to disable roundup ")
        last = set_intervals(divisions, start, steps, last)
    return divisions


def set_intervals(divisions, start, steps, last):
    """Fill in one entry of the list; return the interval it named. The first one counts for all smaller sizes too."""
    if start == ">":
        first = 0 if last is None else last + 1
        divisions[first:] = [steps] * (INTERVALS - first)
        return INTERVALS - 1
    mebibytes = whole_number(start)
    if not is_power_of_2(mebibytes):
        raise ValueError("For roundups, the intervals have to be power of 2 ")
    interval = min(mebibytes.bit_length() - 1, INTERVALS - 1)
    first = 0 if last is None else interval
    divisions[first : interval + 1] = [steps] * (interval + 1 - first)
    return interval


def is_power_of_2(number):
    return number > 0 and number & (number - 1) == 0


READERS = {
    "max_split_size_mb": read_max_split_size,
    "max_non_split_rounding_mb": read_max_non_split_rounding,
    "large_segment_size_mb": read_large_segment_size,
    "garbage_collection_threshold": read_garbage_collection_threshold,
    "per_process_memory_fraction": read_memory_fraction,
    "roundup_power2_divisions": read_divisions,
    "expandable_segments": read_expandable_segments,
}
