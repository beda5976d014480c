"""Vocabulary replacement: a tokenizer of one language, and word embeddings for it."""

from seedbed.encoders.objectives import Objective
from seedbed.encoders.vocabulary import settings


class Vocabulary(Objective, settings.Vocabulary):
    """A unigram tokenizer trained on sentences, and new word embeddings for its tokens; all other weights are
    unchanged.

    Source: paper 004, section 3, and appendix B.2 for the defaults.

        recipes:
          vocabulary: {data: {corpus: running}, objective: {vocabulary: {size: 8000, initialisation: pieces}}}
    """

    shapes = (("text",),)
    rule = "train_vocabulary"
    own_seed = True
