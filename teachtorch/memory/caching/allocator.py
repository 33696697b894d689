"""`CachingAllocator`: malloc and free for one device, which asks the device itself as rarely as possible.

`malloc` reads top to bottom as PyTorch's does: notice finished events, round, choose the pool, take the best
fit or open a segment, split, count. What it gives back to the device, and when, is in reclaim.py.
Source: c10/cuda/CUDACachingAllocator.cpp; the paper, section 5.3.
"""

import sys
import threading
from bisect import bisect_left
from collections import deque

from ...core import observer
from ..runtime import DeviceOutOfMemory
from . import expandable, reclaim
from .alloc_conf import settings_from_environment
from .blocks import Segment
from .counters import DeviceCounters, change, flatten
from .errors import out_of_memory
from .history import History
from .pools import Pool
from .sizes import MIN_BLOCK_SIZE, NO_LIMIT, SMALL_SIZE, round_size, segment_size
from .snapshot import segments_of, settings_info


class CachingAllocator:
    """The caching allocator of one device.

    `runtime` is the device's AcceleratorRuntime, `settings` an AllocatorSettings (default: from the
    environment). All methods may be called from any thread. Whoever watches topic "memory" of the observer is
    called in the middle of a malloc or free, and must not allocate on the same device.
    """

    def __init__(self, runtime, device_index=0, settings=None):
        self.runtime, self.device_index = runtime, device_index
        self.counters = DeviceCounters()
        self.small = Pool(True, self.counters.of_pool(is_small=True))
        self.large = Pool(False, self.counters.of_pool(is_small=False))
        self.segments = {}  # address -> Segment
        self.live = {}  # address -> Block that is handed out
        self.history = History()
        self.allowed = None  # the cap of set_memory_fraction in bytes
        self.memory_fraction = 1.0
        self.free_memory_callbacks = []  # called on a miss; each returns whether it freed something
        self._deferred = {}  # stream -> deque of (event, block) freed while that stream used them
        self._lock = threading.RLock()
        self._busy = False
        self._late = deque()  # blocks freed in the middle of another call (see free)
        self.apply_settings(settings or settings_from_environment())

    def apply_settings(self, settings):
        """Follow an AllocatorSettings from now on."""
        with self._lock:
            self.settings = settings
            self._special_rules = (
                settings.max_split_size != NO_LIMIT
                or settings.expandable_segments
                or settings.garbage_collection_threshold > 0
                or self._has_expandable()
            )
            if settings.per_process_memory_fraction < 1.0:
                self.set_memory_fraction(settings.per_process_memory_fraction)

    def _has_expandable(self):
        return any(segment.is_expandable for segment in self.segments.values())

    @property
    def device_type(self):
        return self.runtime.device_type

    @property
    def reserved(self):
        """Bytes taken from the device."""
        return self.counters.all.reserved_bytes.current

    # Malloc

    def malloc(self, nbytes, stream_id=0):
        """A Block of at least `nbytes` for use on stream `stream_id`. OutOfMemoryError if no way gives room.

        Zero bytes take a block of 512 here; a front end answers them without asking.
        """
        with self._lock:
            self._enter()
            try:
                return self._malloc(nbytes, stream_id)
            finally:
                self._leave()

    def _malloc(self, nbytes, stream):
        if self._deferred:
            self._notice_finished_events()
        size = round_size(nbytes, self.settings)
        pool = self.small if size <= SMALL_SIZE else self.large
        if observer.active:
            self._step("round", requested=nbytes, size=size)
            self._step("pool", pool=pool.name, stream=stream, size=size)
        block = self._best_fit(pool, size, stream)
        if block is None:
            block = self._fit_after_miss(pool, size, stream)
        if block.size != size or block.prev is not None or block.next is not None:
            self._take_from_segment(block, size)
        return self._hand_out(block, nbytes)

    def _best_fit(self, pool, size, stream):
        """Take the smallest free block of this stream that holds `size` bytes; None if it will not do.

        Only that one candidate is looked at, though a larger one might be allowed.
        """
        entries = pool.free.get(stream, ())
        index = bisect_left(entries, (size,))
        if self._special_rules:
            index = self._candidate_by_special_rules(pool, entries, index, size)
        if index == len(entries):
            if observer.active:
                self._step("miss", pool=pool.name, stream=stream)
            return None
        block = entries.pop(index)[2]
        if observer.active:
            self._step("candidate", addr=block.address, size=block.size)
        return block

    def _candidate_by_special_rules(self, pool, entries, index, size):
        """What garbage collection, expandable segments and max_split_size make of the candidate; len(entries): none."""
        if self._ages_matter():
            pool.searches += 1
        if index < len(entries) and entries[index][2].segment.is_expandable:
            index = self._best_choice(entries, index)
        if index < len(entries) and not self._may_serve(entries[index][2], size):
            return len(entries)
        return index

    def _best_choice(self, entries, index):
        """Among expandable blocks the one that could grow least; none of them once they are switched off."""
        if not self.settings.expandable_segments:
            while index < len(entries) and entries[index][2].segment.is_expandable:
                index += 1
            return index
        while (
            entries[index][2].segment.is_expandable
            and index + 1 < len(entries)
            and reach(entries[index + 1][2]) < reach(entries[index][2])
        ):
            index += 1
        return index

    def _may_serve(self, block, size):
        """Oversize blocks serve oversize requests only, and those must not waste too much of one."""
        limit = self.settings.max_split_size
        if limit == NO_LIMIT:
            return True
        wasteful = block.size >= size + self.settings.max_non_split_rounding
        refused = wasteful if size >= limit else block.size >= limit
        if refused and observer.active:
            self._step("refused", addr=block.address, size=block.size, max_split_size=limit)
        return not refused

    def _fit_after_miss(self, pool, size, stream):
        """What malloc does when nothing cached fits, from the cheapest attempt to the dearest."""
        block = self._best_fit(pool, size, stream) if self._run_callbacks() else None
        if block is not None:
            return block
        if self._ages_matter():
            reclaim.collect_garbage(self)
        block = self._open_segment(pool, size, stream)
        if block is None and reclaim.release_oversize(self, pool, stream, size):
            block = self._open_segment(pool, size, stream)
        if block is None:
            self.counters.num_alloc_retries += 1
            if observer.active:
                self._step("retry", pool=pool.name, size=size)
            reclaim.release_cached(self)
            block = self._open_segment(pool, size, stream)
        if block is None:
            raise self._out_of_memory(pool, size, stream)
        return block

    def _run_callbacks(self):
        """Ask those who registered for it to free memory; whether any did."""
        if not self.free_memory_callbacks:
            return False
        self._busy = False
        try:
            return any([callback() for callback in self.free_memory_callbacks])
        finally:
            self._busy = True

    def _ages_matter(self):
        return self.allowed is not None and self.settings.garbage_collection_threshold > 0

    def _open_segment(self, pool, size, stream):
        """A block of a fresh segment, not yet in the pool; None if the device or the cap has no room for it."""
        wanted = segment_size(size, self.settings.large_segment_size)
        if self.allowed is not None and self.reserved + wanted > self.allowed:
            return None
        if self.settings.expandable_segments and self.runtime.can_map:
            return expandable.open_block(self, pool, stream, size)
        try:
            address = self.runtime.device_malloc(wanted)
        except DeviceOutOfMemory:
            return None
        frames = self.history.frames_for("segment_alloc")
        segment = self.segments[address] = Segment(address, wanted, stream, pool, frames)
        self.segment_event("segment_alloc", segment, address, wanted)
        return segment.first

    def _out_of_memory(self, pool, size, stream):
        free, total = self.runtime.memory_info()
        self.counters.num_ooms += 1
        self._record("oom", free, size, stream)
        wanted = segment_size(size, self.settings.large_segment_size)
        return out_of_memory(
            self.device_type,
            self.device_index,
            wanted,
            free,
            total,
            self.allowed,
            self.counters.all.allocated_bytes.current,
            self.reserved,
        )

    def _take_from_segment(self, block, size):
        """Split off what the request does not need, where the rules allow; keep count of split free blocks."""
        pool, was_split = block.segment.pool, block.prev is not None or block.next is not None
        if self._should_split(pool, block.size - size, size):
            rest = block.split(size)
            pool.insert(rest)
            if observer.active:
                self._step("split", addr=block.address, size=size, rest=rest.size)
            blocks, nbytes = (0, -size) if was_split else (1, rest.size)
        else:
            blocks, nbytes = (-1, -block.size) if was_split else (0, 0)
        if nbytes and block.segment.page_size is None:  # expandable segments are left out of inactive_split
            for counters in pool.counters:
                counters.split_changed(blocks, nbytes)

    def _should_split(self, pool, remaining, size):
        """Whether the remainder is worth a block of its own: at least 512 B in the small pool, over 1 MiB in
        the large.
        """
        if pool.is_small or self.settings.expandable_segments:
            return remaining >= MIN_BLOCK_SIZE
        return remaining > SMALL_SIZE and size < self.settings.max_split_size

    def _hand_out(self, block, nbytes):
        block.allocated, block.requested_size = True, nbytes
        self.live[block.address] = block
        for counters in block.segment.pool.counters:
            counters.handed_out(block.size, nbytes)
        if block.size >= self.settings.max_split_size:
            self.counters.oversize_allocations.increase(1)
        if observer.active or self.history.enabled:
            block.frames = self._record("alloc", block.address, nbytes, block.stream, rounded=block.size)
        return block

    # Free

    def free(self, block):
        """Take a block back. RuntimeError if it is not handed out.

        It can be reused at once, unless record_stream named other streams: then once these have done the work
        they have now. Nothing goes back to the device. Python may call this from a finalizer in the middle of
        another call of the same thread; such blocks are taken back when that call ends.
        """
        with self._lock:
            if self._busy:
                self._late.append(block)
                return
            self._enter()
            try:
                self._free(block)
            finally:
                self._leave()

    def _free(self, block):
        if not block.allocated:
            raise RuntimeError(f"invalid device pointer: {block.address:#x}")
        block.allocated = False
        del self.live[block.address]
        for counters in block.segment.pool.counters:
            counters.given_back(block.size)
        if block.size >= self.settings.max_split_size:
            self.counters.oversize_allocations.decrease(1)
        if observer.active or self.history.enabled:
            self._record("free_requested", block.address, block.requested_size, block.stream, rounded=block.size)
        if block.stream_uses:
            self._defer(block)
        else:
            self._complete(block)

    def _defer(self, block):
        """Mark, on every stream that used the block, the point after which it is free."""
        streams, block.stream_uses = sorted(block.stream_uses), None
        for stream in streams:
            event = self.runtime.record_event(stream)
            block.event_count += 1
            self._deferred.setdefault(stream, deque()).append((event, block))

    def _complete(self, block):
        """Put a block back into its pool, merged with free neighbours."""
        size, requested, pool = block.size, block.requested_size, block.segment.pool
        if observer.active or self.history.enabled:
            self._record("free_completed", block.address, requested, block.stream, rounded=size)
        block.frames, block.requested_size = (), 0
        blocks, nbytes = self.merge_neighbours(block)
        pool.insert(block)
        if block.is_split:
            blocks, nbytes = blocks + 1, nbytes + block.size
        for counters in pool.counters:
            counters.completed(size, requested)
            if nbytes and block.segment.page_size is None:
                counters.split_changed(blocks, nbytes)

    def merge_neighbours(self, block):
        """Let a block absorb its free neighbours; the change in the number and bytes of free blocks."""
        blocks = nbytes = 0
        for neighbour in (block.prev, block.next):
            if neighbour is None or not block.can_absorb(neighbour):
                continue
            blocks, nbytes = blocks - 1, nbytes - neighbour.size
            (block.pool.remove if neighbour.mapped else block.pool.remove_unmapped)(neighbour)
            block.absorb(neighbour)
            if observer.active:
                self._step("merge", addr=block.address, size=block.size, absorbed=neighbour.size)
        return blocks, nbytes

    def record_stream(self, block, stream_id):
        """Say that another stream uses the block too: after free it waits for that stream's work."""
        with self._lock:
            if stream_id == block.stream:
                return
            if block.stream_uses is None:
                block.stream_uses = set()
            block.stream_uses.add(stream_id)

    def _notice_finished_events(self):
        """Complete the frees whose streams are done; ask each stream's events in order, up to the first unfinished."""
        for stream, waiting in tuple(self._deferred.items()):
            while waiting and waiting[0][0].query():
                self._event_done(waiting.popleft()[1])
            if not waiting:
                del self._deferred[stream]

    def finish_deferred(self):
        """Wait for every event of deferred frees, and complete these."""
        self.counters.num_sync_all_streams += 1
        for waiting in self._deferred.values():
            for event, block in waiting:
                event.synchronize()
                self._event_done(block)
        self._deferred.clear()

    def _event_done(self, block):
        block.event_count -= 1
        if block.event_count == 0:
            self._complete(block)

    # The device

    def close_segment(self, block):
        """Give a free block, which must be a whole segment, back to the device."""
        segment = block.segment
        block.pool.remove(block)
        self.runtime.device_free(segment.address)
        del self.segments[segment.address]
        self.segment_event("segment_free", segment, segment.address, -segment.size)

    def segment_event(self, action, segment, address, nbytes):
        """Count and tell that memory came from the device (nbytes > 0) or went back to it."""
        ordinary = segment.page_size is None  # mapping a page opens no segment
        for counters in segment.pool.counters:
            counters.segment_changed(0 if not ordinary else 1 if nbytes > 0 else -1, nbytes)
        if nbytes > 0:
            self.counters.num_device_alloc += 1
        else:
            self.counters.num_device_free += 1
        if ordinary and abs(nbytes) >= self.settings.max_split_size:
            change(self.counters.oversize_segments, 1 if nbytes > 0 else -1)
        self._record(action, address, abs(nbytes), segment.stream, pool=segment.pool.name)

    def empty_cache(self):
        """Give every free segment back to the device. It makes no more room for malloc, which does this itself."""
        with self._lock:
            self._enter()
            try:
                reclaim.release_cached(self)
            finally:
                self._leave()

    def set_memory_fraction(self, fraction):
        """Never reserve more than this share (0.0 to 1.0) of the device's memory. ValueError outside of it."""
        if not 0.0 <= fraction <= 1.0:
            raise ValueError(f"invalid fraction:{fraction}. Please set within [0, 1].")
        with self._lock:
            _, total = self.runtime.memory_info()
            self.memory_fraction, self.allowed = fraction, int(fraction * total)

    # Being looked at

    def memory_stats(self):
        """The counters under PyTorch's flat keys, sorted."""
        return flatten(self.memory_stats_as_nested_dict())

    def memory_stats_as_nested_dict(self):
        with self._lock:
            limit = self.settings.max_split_size
            return self.counters.nested(-1 if limit == NO_LIMIT else limit)

    def reset_peak_memory_stats(self):
        """Let every `peak` start again from `current`."""
        with self._lock:
            self.counters.reset_peak()

    def reset_accumulated_memory_stats(self):
        """Let every `allocated` and `freed`, and the plain counters, start again from 0."""
        with self._lock:
            self.counters.reset_accumulated()

    def snapshot(self):
        """{"segments", "device_traces", "allocator_settings", "external_annotations"}, as torch.cuda.memory._snapshot.

        `device_traces[device_index]` is the recorded history, oldest first.
        """
        with self._lock:
            segments = segments_of(self)
            self._record("snapshot", 0, sum(info["active_size"] for info in segments), 0)
            traces = [[] for _ in range(self.device_index)] + [list(self.history.entries)]
            return {
                "segments": segments,
                "device_traces": traces,
                "allocator_settings": settings_info(self.settings),
                "external_annotations": [],
            }

    def record_history(
        self,
        enabled="all",
        context="all",
        stacks="all",
        max_entries=sys.maxsize,
        clear_history=False,
        skip_actions=None,
    ):
        """Keep a history of what happens from now on, as torch.cuda.memory._record_memory_history; None stops.

        `stacks="all"` keeps Python frames too: there are no others here.
        """
        with self._lock:
            self.history.record(enabled, context, max_entries, clear_history, skip_actions)

    def _record(self, action, address, size, stream, **more):
        """Tell the history and the observers of an action; the stack frames that were taken for it."""
        frames = self.history.frames_for(action)
        if self.history.enabled:
            self.history.add(action, address, size, stream, frames)
        if observer.active:
            observer.report(
                "memory", action=action, device=self.device_index, addr=address, size=size, stream=stream, **more
            )
        return frames

    def _step(self, step, **fields):
        """Tell the observers of one step of a decision; only called while there are any."""
        observer.report("memory", action="step", device=self.device_index, step=step, **fields)

    # One call at a time

    def _enter(self):
        if self._busy:
            raise RuntimeError(
                "the allocator was called from within its own malloc or free, by an observer or a "
                "finalizer; only free may be"
            )
        self._busy = True

    def _leave(self):
        self._busy = False
        while self._late:
            self.free(self._late.popleft())


def reach(block):
    """The size that a block of an expandable segment could grow to."""
    following = block.next
    return block.size + (following.size if following is not None and not following.mapped else 0)
