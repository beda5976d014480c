"""Python imports this by itself where its folder is on PYTHONPATH: in a job of a rehearsal, every https URL is the replica's."""

import os
import urllib.request
from typing import Any


class Archives(urllib.request.HTTPSHandler):
    """Opens a URL under `/archives/` of the server that stands for the hub."""

    def https_open(self, request: urllib.request.Request) -> Any:
        return urllib.request.urlopen(f"{os.environ['HF_ENDPOINT']}/archives/{request.full_url}")


urllib.request.install_opener(urllib.request.build_opener(Archives))
