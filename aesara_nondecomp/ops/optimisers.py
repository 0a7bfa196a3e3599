"""Optimisers, as ascent rules over all parameters at once.

- `SGD`       p := p + learning_rate * g
- `Momentum`  velocity := momentum * velocity + g;  p := p + learning_rate * velocity
- `Nesterov`  the same velocity;                    p := p + learning_rate * (g + momentum * velocity)
- `Adam`      Kingma and Ba 2015, with g in place of minus the loss gradient
- `AdamW`     Adam with weight decay taken off the weights, not added to the gradient (Loshchilov and Hutter 2019)

Weight decay enters as g := g - decay * p, the gradient of the penalty -decay/2 p^2 (in `AdamW`:
p := p - learning_rate * decay * p).  The learning rate is an input of every step, never part of the compiled code.

Each rule is written twice, in NumPy and in C; the tests hold the two against each other.  To add one, write a subclass
of `Optimiser` here and give it a name in `OPTIMISERS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from aesara_nondecomp._checks import choose, require


@dataclass(frozen=True)
class Optimiser:
    """An update rule; subclasses define the slots it keeps per parameter, and the rule in NumPy and in C.

    Attributes
    ----------
    slots : tuple of str
        Names of the arrays, of the shape of the parameter, that the rule keeps from step to step; 0 at first.
    """

    slots: ClassVar[tuple[str, ...]] = ()

    def step(self, p, g, slots, learning_rate, decay, t):
        """Take one ascent step.

        Parameters
        ----------
        p : array
            The parameter; of NumPy, or of JAX where JAX traces the step, so use operators, not NumPy's functions.
        g : array
            The ascent direction, of the shape of `p`.
        slots : sequence of array
            In the order of the attribute.
        learning_rate : float
            Positive.
        decay : float
            Weight decay, at least 0.
        t : float
            Number of the step, from 1.

        Returns
        -------
        p : array
            The new parameter.
        slots : sequence of array
            The new slots.
        """
        raise NotImplementedError

    def c_constants(self) -> str:
        """Write the C declarations that `c_step` uses.

        Returns
        -------
        str
            Declarations from the doubles `learning_rate` and `t`; the float type of the parameter is `number`.
        """
        return ""

    def c_step(self) -> str:
        """Write the C statements of one entry's step.

        Returns
        -------
        str
            Statements that move `p` and the slots `s0`, `s1` ... from `g`, `lr`, `decay` and the constants, all of type
            `number`.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class SGD(Optimiser):
    """Plain gradient ascent."""

    def step(self, p, g, slots, learning_rate, decay, t):
        return p + learning_rate * (g - decay * p), ()

    def c_step(self) -> str:
        return "p += lr * (g - decay * p);"


@dataclass(frozen=True)
class Momentum(Optimiser):
    """Heavy-ball momentum.

    Parameters
    ----------
    momentum : float, default 0.9
        Factor on the velocity of the step before, in [0, 1).

    Raises
    ------
    ValueError
        If `momentum` is out of range.
    """

    momentum: float = 0.9
    slots: ClassVar[tuple[str, ...]] = ("velocity",)

    def __post_init__(self):
        require(0 <= self.momentum < 1, "momentum must lie in [0, 1)", self.momentum)

    def step(self, p, g, slots, learning_rate, decay, t):
        velocity = self.momentum * slots[0] + (g - decay * p)
        return p + learning_rate * velocity, (velocity,)

    def c_constants(self) -> str:
        return f"const number momentum = (number) {self.momentum!r};"

    def c_step(self) -> str:
        return "s0 = momentum * s0 + (g - decay * p); p += lr * s0;"


@dataclass(frozen=True)
class Nesterov(Momentum):
    """Nesterov's momentum, in the form that looks ahead by one velocity.

    Parameters
    ----------
    momentum : float, default 0.9
        Factor on the velocity of the step before, in [0, 1).

    Raises
    ------
    ValueError
        If `momentum` is out of range.
    """

    def step(self, p, g, slots, learning_rate, decay, t):
        g = g - decay * p
        velocity = self.momentum * slots[0] + g
        return p + learning_rate * (g + self.momentum * velocity), (velocity,)

    def c_step(self) -> str:
        return "g -= decay * p; s0 = momentum * s0 + g; p += lr * (g + momentum * s0);"


@dataclass(frozen=True)
class Adam(Optimiser):
    """Adam.

    Parameters
    ----------
    beta1 : float, default 0.9
        Decay of the mean of the gradients, in [0, 1).
    beta2 : float, default 0.999
        Decay of the mean of their squares, in [0, 1).
    epsilon : float, default 1e-8
        Added to the root of the squares, positive.

    Raises
    ------
    ValueError
        If one is out of range.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    slots: ClassVar[tuple[str, ...]] = ("mean", "square")

    def __post_init__(self):
        require(0 <= self.beta1 < 1 and 0 <= self.beta2 < 1, "beta1 and beta2 must lie in [0, 1)", self)
        require(self.epsilon > 0, "epsilon must be positive", self.epsilon)

    def step(self, p, g, slots, learning_rate, decay, t):
        return self._moved(p, g - decay * p, slots, learning_rate, t)

    def _moved(self, p, g, slots, learning_rate, t):
        mean = self.beta1 * slots[0] + (1 - self.beta1) * g
        square = self.beta2 * slots[1] + (1 - self.beta2) * g * g
        root = (square / (1 - self.beta2**t)) ** 0.5  # not NumPy's sqrt: JAX traces this too
        return p + learning_rate / (1 - self.beta1**t) * mean / (root + self.epsilon), (mean, square)

    def c_constants(self) -> str:
        return f"""
        const number beta1 = (number) {self.beta1!r}, beta2 = (number) {self.beta2!r};
        const number rest1 = (number) (1 - {self.beta1!r}), rest2 = (number) (1 - {self.beta2!r});
        const number rate = (number) (learning_rate / (1 - pow({self.beta1!r}, t)));
        const number unbias = (number) (1 / sqrt(1 - pow({self.beta2!r}, t)));
        const number epsilon = (number) {self.epsilon!r};
        """

    def c_step(self) -> str:
        return "g -= decay * p;" + self._C_MOVE

    _C_MOVE: ClassVar[str] = """
        s0 = beta1 * s0 + rest1 * g;
        s1 = beta2 * s1 + rest2 * g * g;
        p += rate * s0 / ((number) sqrt(s1) * unbias + epsilon);
        """


@dataclass(frozen=True)
class AdamW(Adam):
    """Adam with decoupled weight decay.

    Parameters
    ----------
    beta1 : float, default 0.9
        Decay of the mean of the gradients, in [0, 1).
    beta2 : float, default 0.999
        Decay of the mean of their squares, in [0, 1).
    epsilon : float, default 1e-8
        Added to the root of the squares, positive.

    Raises
    ------
    ValueError
        If one is out of range.
    """

    def step(self, p, g, slots, learning_rate, decay, t):
        return self._moved(p * (1 - learning_rate * decay), g, slots, learning_rate, t)

    def c_step(self) -> str:
        return "p -= lr * decay * p;" + self._C_MOVE


OPTIMISERS = {"sgd": SGD, "momentum": Momentum, "nesterov": Nesterov, "adam": Adam, "adamw": AdamW}


def get(optimiser: str | Optimiser) -> Optimiser:
    """Find an optimiser by its name.

    Parameters
    ----------
    optimiser : str or Optimiser
        A name in `OPTIMISERS`; an optimiser is returned as it is.

    Returns
    -------
    Optimiser
        With its default constants, if found by name.

    Raises
    ------
    ValueError
        If the name is unknown; the nearest name is suggested.
    """
    if isinstance(optimiser, Optimiser):
        return optimiser
    return choose("optimiser", optimiser, OPTIMISERS)()
