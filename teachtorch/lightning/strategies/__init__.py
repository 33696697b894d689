"""How many processes a run has, and what they tell each other: one (`single.py`), or DDP (`ddp.py`)."""

from ..errors import MisconfigurationException
from .single import SingleDevice


def strategy_for(name, devices, accelerator):
    """The strategy that the trainer's arguments mean."""
    if not isinstance(name, str):
        return name
    device = device_for(accelerator)
    if devices != "auto" and (not isinstance(devices, int) or devices < 1 and devices != -1):
        raise MisconfigurationException(
            f"`devices={devices!r}` is no number of processes: give an int from 1, or 'auto'"
        )
    if name == "ddp" or name == "auto" and devices not in ("auto", 1):
        from .ddp import DDP

        return DDP(device, devices)
    if name not in ("auto", "single_device"):
        raise ValueError(
            f"You selected an invalid strategy name: `strategy={name!r}`. It must be one of 'auto', "
            "'single_device', 'ddp'"
        )
    return SingleDevice(device)


def device_for(accelerator):
    """The name of the device of an accelerator: "auto" and "cpu" mean the CPU, "sim" the simulated device."""
    if accelerator in ("auto", "cpu"):
        return "cpu"
    if accelerator in ("sim", "gpu", "cuda"):
        device = "sim" if accelerator == "sim" else "cuda"
        if device == "cuda":
            raise MisconfigurationException(
                "No supported gpu backend found! teachtorch trains on 'cpu' and 'sim'"
            )
        return device
    raise ValueError(
        f"You selected an invalid accelerator name: `accelerator={accelerator!r}`. Available names are: "
        "auto, cpu, sim"
    )
