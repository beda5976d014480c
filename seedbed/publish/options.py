"""Options of a publication on the hub."""

from pathlib import Path
from typing import NamedTuple

from seedbed.licences import Licence


class Options(NamedTuple):
    """Options of a publication: name, licence and paths, as the program gets them."""

    name: str
    """owner/name on the hub."""
    licence: Licence | None = None
    """The licence; None: the one that follows from the models and data that it was made from."""
    base: str = ""
    """Repository of the model that an adapter or an encoder was made from, where the study has it from elsewhere."""
    scores: Path | None = None
    """Folder of an encoder's scores; None: the folder that belongs to the encoder in the study's results."""
    pivot: str = "eng"
    """The pivot language of the study, in which some methods generate positives and negatives."""
