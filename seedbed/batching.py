"""Batches of similar lengths, so that little of them is padding."""

from collections.abc import Iterator, Sequence


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Indices of at most `size` items at a time, longest first: memory runs out in the first batch or in none.

    Args:
        lengths: of each item, in whatever unit; items of equal length keep their order.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    for start in range(0, len(order), size):
        yield order[start : start + size]
