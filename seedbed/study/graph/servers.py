"""Which servers a job may ask: those that the study names, see `seedbed.servers.named`."""

from collections.abc import Iterable

from seedbed.encoders.settings import Endpoint
from seedbed.study.model import Study


def endpoints_of(study: Study, names: Iterable[str]) -> list[Endpoint]:
    """The endpoints behind backbones, fusions too, each once, as they are set today; other names have none."""
    members = [one for name in names for one in (study.fused[name].of if name in study.fused else [name])]
    known = (study.backbones[one].endpoint for one in dict.fromkeys(members) if one in study.backbones)
    return [*filter(None, known)]
