"""save_hyperparameters: the arguments of __init__, kept in `hparams` and in checkpoints."""

import copy
import inspect

NEVER = ("self", "args", "kwargs", "__class__")


class AttributeDict(dict):
    """A dict whose keys are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"Missing attribute {name!r}") from None

    def __setattr__(self, name, value):
        self[name] = value

    def __repr__(self):
        return "\n".join(f'"{key}": {value}' for key, value in self.items())


class HyperparametersMixin:
    """What LightningModule and LightningDataModule have in common."""

    @property
    def hparams(self):
        """The saved hyperparameters, as an AttributeDict."""
        return self.__dict__.setdefault("_hparams", AttributeDict())

    @property
    def hparams_initial(self):
        """A copy of the hyperparameters as they were saved."""
        return copy.deepcopy(self.__dict__.get("_hparams_initial", AttributeDict()))

    def save_hyperparameters(self, *args, ignore=None, frame=None, logger=True):
        """Keep the arguments of __init__ in `self.hparams`. Call it in __init__.

        `args`: names of the arguments to keep (default: all), or one dict of values. `ignore`: names to
        leave out. `logger`: whether loggers write them down.
        """
        given = arguments_of_init(self, frame or inspect.currentframe().f_back)
        if len(args) == 1 and not isinstance(args[0], str):
            given = dict(args[0]) if isinstance(args[0], dict) else dict(vars(args[0]))
        elif args:
            given = {name: given[name] for name in args}
        left_out = {ignore} if isinstance(ignore, str) else set(ignore or ())
        self.hparams.update({name: value for name, value in given.items() if name not in left_out})
        self.__dict__["_hparams_initial"] = AttributeDict(copy_of(self.hparams))
        self.__dict__["_log_hyperparams"] = logger


def copy_of(values):
    """A deep copy where it can be made; a module among them is kept as it is."""
    try:
        return copy.deepcopy(values)
    except Exception:  # copying runs the values' own code
        return dict(values)


def arguments_of_init(instance, frame):
    """The arguments of all __init__ of `instance` that are running: a subclass calls its parent's."""
    found = {}
    while frame is not None and is_init_of(instance, frame):
        found.update(arguments_of(frame))  # outer frames are subclasses: theirs win
        frame = frame.f_back
    return found


def is_init_of(instance, frame):
    return frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is instance


def arguments_of(frame):
    names, _, varkw, values = inspect.getargvalues(frame)
    found = {name: values[name] for name in names if name not in NEVER}
    return {**found, **(values[varkw] if varkw else {})}


def chosen_for(cls, hparams, kwargs):
    """The saved hyperparameters that `cls.__init__` takes, with `kwargs` in place of some."""
    parameters = inspect.signature(cls.__init__).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    every = {**hparams, **kwargs}
    return {name: value for name, value in every.items() if takes_all or name in parameters}
