"""What values parameters and samples may have (torch.distributions.constraints)."""


class Constraint:
    """A set of allowed values: `check(value)` says of each (or of each event) whether it is in the set."""

    event_dim = 0

    def __init__(self, name, holds, event_dim=0):
        self._name, self._holds, self.event_dim = name, holds, event_dim

    def check(self, value):
        """Whether each element of a tensor (each event, where those have dimensions) is allowed, as bools."""
        return self._holds(value)

    def __repr__(self):
        return self._name


def interval(lower, upper):
    """Numbers from `lower` to `upper`, both included."""
    return Constraint(f"Interval(lower_bound={lower}, upper_bound={upper})",
                      lambda value: (lower <= value) & (value <= upper))


def less_than(upper):
    """Numbers below `upper`."""
    return Constraint(f"LessThan(upper_bound={upper})", lambda value: value < upper)


def greater_than(lower):
    """Numbers above `lower`."""
    return Constraint(f"GreaterThan(lower_bound={lower})", lambda value: lower < value)


def greater_than_eq(lower):
    """Numbers from `lower` up."""
    return Constraint(f"GreaterThanEq(lower_bound={lower})", lambda value: lower <= value)


def integer_interval(lower, upper):
    """Whole numbers from `lower` to `upper`, both included."""
    return Constraint(f"IntegerInterval(lower_bound={lower}, upper_bound={upper})",
                      lambda value: (value % 1 == 0) & (lower <= value) & (value <= upper))


def independent(base, count):
    """A constraint that holds for an event if it holds for all of its parts."""
    def holds(value):
        found = base.check(value)
        return found.reshape(*found.shape[:found.dim() - count], -1).all(-1)
    return Constraint(f"IndependentConstraint({base}, {count})", holds, base.event_dim + count)


real = Constraint("Real()", lambda value: value == value)
boolean = Constraint("Boolean()", lambda value: (value == 0) | (value == 1))
unit_interval = interval(0.0, 1.0)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
simplex = Constraint("Simplex()", lambda value: (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6), 1)
real_vector = independent(real, 1)
one_hot = Constraint("OneHot()", lambda value: ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1), 1)
