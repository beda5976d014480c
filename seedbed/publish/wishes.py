"""What a person says of what is to be published."""

from pathlib import Path
from typing import NamedTuple

from seedbed.licences import Licence


class Wishes(NamedTuple):
    """Options of a publication: name, licence and paths, as the program gets them."""

    name: str
    """owner/name on the hub."""
    licence: Licence | None = None
    """In the place of the one that follows from what it was made of."""
    base: str = ""
    """Repository of the model that an adapter or an encoder was made from, where the study has it from elsewhere."""
    scores: Path | None = None
    """Folder of an encoder's scores; None: the folder that belongs to the encoder in the study's results."""
    pivot: str = "eng"
    """The pivot language of the study, in which some ways write triplets."""
