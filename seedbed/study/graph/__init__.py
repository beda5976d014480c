"""The products of a study's jobs: each class says what its job reads, which arguments it gets and what it needs."""

import importlib
import pkgutil

from seedbed.study.graph.product import PRODUCTS

__all__ = ["PRODUCTS"]

for _module in pkgutil.iter_modules(__path__):  # each notes its products in PRODUCTS
    importlib.import_module(f"{__name__}.{_module.name}")
