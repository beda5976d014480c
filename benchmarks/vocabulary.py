"""What a vocabulary of one language costs and saves, each beside the usual way, same process and equal result.

FOCUS by blocks beside a loop over new tokens; and beside deepfocus 1.0.1, which the paper's code calls, where it is
installed (`pip install --no-deps deepfocus==1.0.1 entmax fastdist print-on-steroids numba llvmlite`). Of much text a
new token is a mean of few anchors; of little text its vector lies as near to one as to another: a mean of most.
And a step of masked language modelling whose head reads masked tokens alone beside one whose head reads all of them, as
`run_mlm` does:

    OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 python -m benchmarks.vocabulary [--anchors 4000 --new 2000] [--width 384]
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import numpy as np
import torch
from tokenizers import Tokenizer, models
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from seedbed.encoders.training.mlm import Predicting
from seedbed.encoders.vocabulary.focus import focus

VOCABULARY = 50_048
SPECIAL = {"pad_token": "[PAD]", "unk_token": "[UNK]", "mask_token": "[MASK]"}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anchors", type=int, default=4000)
    parser.add_argument("--new", type=int, default=2000)
    parser.add_argument("--width", type=int, default=384, help="of the model's 12 blocks")
    parser.add_argument("--blocks", type=int, default=2, help="blocks of 256 tokens in a step")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(argv)

    random = np.random.default_rng(0)
    shapes = ((args.anchors, args.width), (args.anchors, 300), (args.new, 300))
    source, anchors, new = (random.standard_normal(shape, np.float32) for shape in shapes)
    others = {"a loop": looped} | ({"deepfocus": deepfocused} if importlib.util.find_spec("deepfocus") else {})
    shared = 60 * random.standard_normal(300, np.float32)
    for (name, other), (text, more) in itertools.product(others.items(), {"much": 0, "little": shared}.items()):
        given = source, anchors + more, new + more
        differ = np.abs(focus(*given)[0] - other(*given)).max()
        runs = {"ours": partial(focus, *given), "other": partial(other, *given)}
        least = rounds(runs, args.rounds)
        ratio = least["other"] / least["ours"]
        print(f"FOCUS of {text} text, CPU seconds, {name} / by blocks: {ratio:.2f}, greatest difference {differ:.1e}")

    tokenizer = words()
    torch.manual_seed(0)
    heads = max(args.width // 64, 1)
    shape = {"hidden_size": args.width, "num_attention_heads": heads, "intermediate_size": 4 * args.width}
    model = BertForMaskedLM(BertConfig(vocab_size=VOCABULARY, max_position_embeddings=256, **shape)).eval()
    ids = torch.randint(3, VOCABULARY, (args.blocks, 256))
    predicting = Predicting(model, tokenizer, 0.15)
    masked, targets = predicting.mask(ids)
    steps = {
        "masked": lambda: predicting.loss(masked, targets),
        "all": lambda: model(input_ids=masked, labels=targets).loss,
    }
    values = {name: step().item() for name, step in steps.items()}
    least = rounds({name: lambda step=step: step().backward() for name, step in steps.items()}, args.rounds)
    print(
        f"masked words, CPU seconds a step without the optimiser's, head on all / on masked tokens: "
        f"{least['all'] / least['masked']:.2f}, difference of the losses {abs(values['all'] - values['masked']):.1e}"
    )


def looped(source: np.ndarray, anchors: np.ndarray, new: np.ndarray) -> np.ndarray:
    """FOCUS token by token, in float32: the weights of the anchors, then the sum of the rows that have one."""
    rows, known = torch.from_numpy(source), torch.nn.functional.normalize(torch.from_numpy(anchors), dim=1)
    found = []
    for vector in torch.nn.functional.normalize(torch.from_numpy(new), dim=1):
        scores = known @ vector
        ordered = scores.sort(descending=True).values
        sums = ordered.cumsum(0) - 1
        kept = (torch.arange(1, len(scores) + 1) * ordered > sums).sum()
        weights = (scores - sums[kept - 1] / kept).clamp(min=0)
        found.append((weights[weights > 0][:, None] * rows[weights > 0]).sum(0).numpy())
    return np.stack(found)


def deepfocused(source: np.ndarray, anchors: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The same by deepfocus."""
    from deepfocus.focus import focus_additional_token_initialization

    known = {
        place: SimpleNamespace(auxiliary_embedding=vector, source_embedding=torch.from_numpy(row))
        for place, (vector, row) in enumerate(zip(anchors, source, strict=True))
    }
    made = {
        place: SimpleNamespace(auxiliary_embedding=vector, target=SimpleNamespace(id=place))
        for place, vector in enumerate(new)
    }
    return focus_additional_token_initialization(known, made, torch.zeros(len(new), source.shape[1])).numpy()


def words() -> PreTrainedTokenizerFast:
    """A tokenizer of as many words as the vocabulary has."""
    names = [*SPECIAL.values(), *(f"w{number}" for number in range(VOCABULARY - len(SPECIAL)))]
    model = models.WordLevel({name: place for place, name in enumerate(names)}, unk_token="[UNK]")
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(model), **SPECIAL)


def rounds(runs: dict[str, Callable[[], object]], count: int) -> dict[str, float]:
    """CPU seconds, the least of some rounds that take turns."""
    least = dict.fromkeys(runs, np.inf)
    for _ in range(count):
        for name, run in runs.items():
            start = time.process_time()
            run()
            least[name] = min(least[name], time.process_time() - start)
    return least


if __name__ == "__main__":
    main()
