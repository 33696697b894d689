"""The trainer's callbacks: those given, those that come by default, and in which order they run."""

from ..callbacks import Callback, ModelCheckpoint, ModelSummary, ProgressBar
from ..callbacks.progress import default_progress_bar
from ..errors import MisconfigurationException


def callbacks_for(given, enable_checkpointing, enable_progress_bar, enable_model_summary):
    """The list of callbacks of a trainer."""
    found = [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]
    for one in found:
        if not isinstance(one, Callback):
            raise TypeError(f"expected a Callback in `callbacks`, got {type(one).__name__}")
    has_checkpoint = any(isinstance(one, ModelCheckpoint) for one in found)
    if has_checkpoint and enable_checkpointing is False:
        raise MisconfigurationException(
            "Trainer was configured with `enable_checkpointing=False` but found "
            "`ModelCheckpoint` in callbacks list."
        )
    if not has_checkpoint and enable_checkpointing is not False:
        found.append(ModelCheckpoint())
    if enable_progress_bar is not False and not any(isinstance(one, ProgressBar) for one in found):
        found.append(default_progress_bar())
    if enable_model_summary and not any(isinstance(one, ModelSummary) for one in found):
        found.append(ModelSummary())
    return in_order(found)


def with_those_of(module, callbacks):
    """The callbacks and those of module.configure_callbacks, which take the place of others of their class."""
    own = module.configure_callbacks()
    own = list(own) if isinstance(own, (list, tuple)) else [own]
    classes = {type(one) for one in own}
    return in_order([one for one in callbacks if type(one) not in classes] + own)


def in_order(callbacks):
    """ModelCheckpoints last: what the others change is then in the checkpoint."""
    return sorted(callbacks, key=lambda one: isinstance(one, ModelCheckpoint))


def has_state(callback):
    """Whether the callback has a state_dict of its own."""
    return "state_dict" in vars(callback) or type(callback).state_dict is not Callback.state_dict


def check_keys(callbacks):
    """RuntimeError for two callbacks with state whose parts of a checkpoint would have one name."""
    keys = [one.state_key for one in callbacks if has_state(one)]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise RuntimeError(
            f"Found more than one stateful callback of type `{twice.pop()}`. In the current configuration, "
            "this callback does not support being saved alongside other instances of the same type. Give "
            "each a `state_key` of its own."
        )
