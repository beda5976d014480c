"""The tiny models of encoders."""

from tests.unit.encoders.conftest import make_weights as make_weights
from tests.unit.encoders.conftest import tokenizer as tokenizer
