"""The tiny models of encoders and of generators: a classifier is either."""

from tests.unit.encoders.conftest import make_weights as make_weights
from tests.unit.encoders.conftest import sentences as sentences
from tests.unit.encoders.conftest import tokenizer as tokenizer
from tests.unit.encoders.conftest import weights as weights
from tests.unit.generators.conftest import tiny_chat_generator as tiny_chat_generator
from tests.unit.generators.conftest import tiny_generator as tiny_generator
