"""Batches: moving them to a device, and how many samples they hold."""

from ..tensor import Tensor


def move_data(batch, device):
    """The batch with its tensors on `device`; lists, tuples, dicts and things with `.to` are entered."""
    if isinstance(batch, Tensor):
        return batch if batch.device is device or batch.device == device else batch.to(device)
    if isinstance(batch, dict):
        return type(batch)((key, move_data(value, device)) for key, value in batch.items())
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(move_data(value, device) for value in batch))
    if isinstance(batch, (list, tuple)):
        moved = [
            value if value.__class__ is Tensor and value.device is device else move_data(value, device)
            for value in batch
        ]
        return moved if batch.__class__ is list else type(batch)(moved)
    return batch.to(device) if hasattr(batch, "to") else batch


def batch_size_of(batch):
    """The length of the first tensor found in the batch; 1 for a 0-dim one. None where there is none."""
    if isinstance(batch, Tensor):
        return batch.shape[0] if batch.dim() else 1
    if isinstance(batch, str):
        return len(batch)
    values = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else ()
    for value in values:
        size = batch_size_of(value)
        if size is not None:
            return size
    return None
