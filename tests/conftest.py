"""No test reaches the hub; set before anything imports a library that reads it."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
