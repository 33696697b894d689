"""Takes the mean of the two fans as one."""

FAILS = "test_xavier"
SAYS = "fan_in + fan_out"


import math


def fans(shape):
    if len(shape) < 2:
        raise ValueError('a fan needs outputs and inputs')
    places = math.prod(shape[2:])
    return (shape[1] * places, shape[0] * places)


def gain(nonlinearity, slope=0.01):
    known = {'linear': 1.0, 'sigmoid': 1.0, 'tanh': 5 / 3, 'relu': math.sqrt(2), 'selu': 0.75}
    if nonlinearity == 'leaky_relu':
        return math.sqrt(2 / (1 + slope ** 2))
    if nonlinearity not in known:
        raise ValueError(f'unknown nonlinearity {nonlinearity}')
    return known[nonlinearity]


def kaiming_std(shape, mode='fan_in', nonlinearity='leaky_relu', slope=0.0):
    return gain(nonlinearity, slope) / math.sqrt(fans(shape)[mode == 'fan_out'])


def kaiming_bound(shape, mode='fan_in', nonlinearity='leaky_relu', slope=0.0):
    return math.sqrt(3) * kaiming_std(shape, mode, nonlinearity, slope)


def xavier_bound(shape, gain=1.0):
    return gain * math.sqrt(3 / sum(fans(shape)))


def default_bounds(shape):
    return (kaiming_bound(shape, slope=math.sqrt(5)), 1 / math.sqrt(fans(shape)[0]))
