"""A tokenizer of one language, and rows of word embeddings to go with it."""

from seedbed.encoders.objectives import Objective
from seedbed.encoders.vocabulary import settings


class Vocabulary(Objective, settings.Vocabulary):
    """The likelihood of the sentences by the pieces of a tokenizer; all other weights stay as they are.

    Source: paper 004, section 3, and appendix B.2 for the defaults.

        recipes:
          vocabulary: {data: {corpus: running}, objective: {vocabulary: {size: 8000, initialisation: pieces}}}
    """

    shapes = (("text",),)
    rule = "train_vocabulary"
    own_seed = True
