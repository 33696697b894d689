"""Snapshots: all segments and their blocks as plain dictionaries, shaped like torch.cuda.memory._snapshot()'s."""


def segments_of(allocator):
    """The segments of an allocator, by address. An expandable one is told as one per stretch with memory behind it."""
    stretches = [stretch for segment in allocator.segments.values() for stretch in mapped_stretches(segment)]
    infos = [segment_info(allocator, stretch) for stretch in stretches]
    return sorted(infos, key=lambda info: info["address"])


def mapped_stretches(segment):
    """Lists of neighbouring blocks that have memory; an ordinary segment is one such list."""
    stretch = []
    for block in segment.blocks():
        if block.mapped:
            stretch.append(block)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def segment_info(allocator, blocks):
    segment = blocks[0].segment
    active = [block for block in blocks if block.is_active]
    return {
        "device": allocator.device_index,
        "address": blocks[0].address,
        "total_size": sum(block.size for block in blocks),
        "allocated_size": sum(block.size for block in blocks if block.allocated),
        "active_size": sum(block.size for block in active),
        "requested_size": sum(block.requested_size for block in active),
        "stream": segment.stream,
        "segment_type": segment.pool.name,
        "segment_pool_id": (0, 0),
        "is_expandable": segment.is_expandable,
        "frames": list(segment.frames),
        "blocks": [block_info(block) for block in blocks],
    }


def block_info(block):
    return {
        "address": block.address,
        "size": block.size,
        "requested_size": block.requested_size,
        "state": block.state,
        "frames": list(block.frames),
    }


def settings_info(settings):
    """The allocator_settings of a snapshot."""
    limit = settings.max_split_size
    divisions = settings.roundup_power2_divisions or [0] * 16
    return {
        "PYTORCH_CUDA_ALLOC_CONF": settings.text,
        "max_split_size": -1 if limit == 2**64 - 1 else limit,
        "garbage_collection_threshold": settings.garbage_collection_threshold,
        "expandable_segments": settings.expandable_segments,
        "roundup_power2_divisions": {str(2**i): steps for i, steps in enumerate(divisions)},
    }
