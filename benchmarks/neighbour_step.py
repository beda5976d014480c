"""A training step of NeighXLM with two neighbours beside one of vanilla, and beside the same step column by column.

Column by column is how such parts are usually written: a pass of the encoder for each column, a pass of the copy for
each of the two that join the queue, and the copy's weights moved one by one (MoCo's code). All in one process, in CPU
seconds, the least of some rounds that take turns. The learning rate is 0, so that all steps start from the same
weights; that both ways have the same loss, the same copy and the same queue is asserted:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.neighbour_step [--weights DIR]
"""

from __future__ import annotations

import argparse
import copy
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import torch
from sentence_transformers.base.losses.merged_forward import column_merging_disabled
from torch import Tensor

from benchmarks.models import MULTILINGUAL, least_seconds, random_texts, random_weights
from seedbed.encoders.losses.neighbours import NeighbourLoss
from seedbed.encoders.models import loading
from seedbed.encoders.objectives.neighbours import Neighbours

COLUMNS = ("pivot", "text", "neighbour_1", "neighbour_2")
TOLERANCE = 1e-6
LAYERS = 4
"""The last blocks, whose states are averaged."""


class ColumnByColumn(NeighbourLoss):
    """The same loss and the same changes after a step, one thing at a time."""

    def forward(self, features: list[dict[str, Tensor]], rows: Tensor) -> Tensor:
        with column_merging_disabled():
            return super().forward(features, rows)

    @torch.no_grad()
    def after_step(self) -> None:
        encoder, head = self.slow.copy
        kept = self.momentum
        for fast, slow in ((self.model, encoder), (self.head, head)):
            for theirs, ours in zip(fast.parameters(), slow.parameters(), strict=True):
                if theirs.requires_grad:  # what is not trained is shared
                    ours.data = ours.data * kept + theirs.data * (1 - kept)
        columns, ids = self.batch
        self.queue.add(torch.cat([head(encoder(column)["sentence_embedding"]) for column in columns]), ids.repeat(2))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, help="a backbone; without it a random BERT, 12 x 384, 250,002 words")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--freeze", action="store_true", help="word embeddings are not trained")
    args = parser.parse_args(argv)

    with tempfile.TemporaryDirectory() as scratch:
        weights = args.weights or random_weights(Path(scratch), **MULTILINGUAL)
        texts = {name: random_texts(args.batch_size, place, lengths=(8, 40)) for place, name in enumerate(COLUMNS)}
        table = pd.DataFrame({"id": [str(row) for row in range(args.batch_size)], **texts})
        losses = {
            name: loss_of(weights, table, kind, count, frozen=args.freeze)
            for name, kind, count in (
                ("vanilla", NeighbourLoss, 0),
                ("k = 2", NeighbourLoss, 2),
                ("column by column", ColumnByColumn, 2),
            )
        }
    found: dict[str, Tensor] = {}
    runs = {name: step(name, loss, table, found) for name, loss in losses.items()}
    for _ in range(2):  # the second finds what the first has put into the queue
        for run in runs.values():
            run()
        difference = same(losses, found)
    least = least_seconds(runs, args.rounds)
    difference = max(difference, same(losses, found))
    for name, seconds in least.items():
        print(f"{name}: {seconds:.2f} s a step")
    print(f"difference of the losses: {difference:.1e} (allowed: {TOLERANCE})")
    print(f"k = 2 / vanilla: {least['k = 2'] / least['vanilla']:.2f}")
    print(f"column by column / k = 2: {least['column by column'] / least['k = 2']:.2f}")


def loss_of(
    weights: Path, table: pd.DataFrame, kind: type[NeighbourLoss], count: int, *, frozen: bool
) -> NeighbourLoss:
    """The loss of a batch with some neighbours, whose copy is not where the encoder is, and without dropout."""
    encoder = loading.load(weights, pooling="last_weighted_train", layers=LAYERS, dropout=0.0)
    encoder[0].auto_model.get_input_embeddings().requires_grad_(not frozen)
    torch.manual_seed(0)
    sides, neighbours = ([table[name].tolist() for name in names] for names in (COLUMNS[:2], COLUMNS[2 : 2 + count]))
    settings = Neighbours().model_dump(exclude={"neighbours"})
    loss = kind(encoder.train(), sides, neighbours, **settings)
    with torch.no_grad():
        torch._foreach_mul_([weight for _, weight in apart(loss)], 0.99)
    return loss


def apart(loss: NeighbourLoss) -> list[tuple[str, Tensor]]:
    """The weights that the copy has for itself, by name."""
    shared = {weight.data_ptr() for weight in loss.model.parameters()}
    return [(name, weight) for name, weight in loss.slow.copy.named_parameters() if weight.data_ptr() not in shared]


def step(name: str, loss: NeighbourLoss, table: pd.DataFrame, found: dict[str, Tensor]) -> Callable[[], None]:
    """A whole step on all rows of a table, which leaves its loss under a name."""
    columns = [*COLUMNS[: 2 + loss.ranks.shape[-1]]]
    features = [loss.model.preprocess(table[column].tolist()) for column in columns]
    trained = [weight for weight in loss.parameters() if weight.requires_grad]
    optimiser, rows = torch.optim.AdamW(trained, lr=0.0, fused=True), torch.arange(len(table))

    def run() -> None:
        optimiser.zero_grad()
        found[name] = value = loss([copy.copy(column) for column in features], rows)
        value.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        loss.after_step()
        found[name] = value.detach()

    return run


def same(losses: Mapping[str, NeighbourLoss], found: Mapping[str, Tensor]) -> float:
    """How far both ways' losses lie apart, relative to the loss.

    Raises:
        AssertionError: more than `TOLERANCE`, or other copies or queues.
    """
    ours, theirs = losses["k = 2"], losses["column by column"]
    loss, other = found["k = 2"].item(), found["column by column"].item()
    assert abs(loss - other) <= TOLERANCE * abs(loss), f"the losses are {loss} and {other}"
    for (name, weight), (_, again) in zip(apart(ours), apart(theirs), strict=True):
        torch.testing.assert_close(weight, again, rtol=1e-5, atol=1e-6, msg=f"the copies differ in {name}")
    torch.testing.assert_close(ours.queue.vectors, theirs.queue.vectors, rtol=1e-4, atol=1e-5)
    assert torch.equal(ours.queue.ids, theirs.queue.ids)
    return abs(loss - other) / abs(loss)


if __name__ == "__main__":
    main()
