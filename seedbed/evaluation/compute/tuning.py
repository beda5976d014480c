"""Cost of fine-tuning an encoder with a head, counted and timed on a sample."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn
from transformers import AutoModelForSequenceClassification, BatchEncoding, PreTrainedModel

from seedbed.classifiers.heads import limit_of, load, tokenizer_of
from seedbed.encoders.prompts import plain_prompt
from seedbed.evaluation.classification import known_labels
from seedbed.evaluation.compute import formulae
from seedbed.evaluation.compute.cost import SEED, Cost, Counted, Timed, dtype_of, sample, sizes_of
from seedbed.evaluation.compute.measuring import Span, flops, reading, seconds
from seedbed.evaluation.compute.settings import Compute
from seedbed.evaluation.scores import Trial


def fine_tuning(weights: Path, name: str, question: Trial, spec: Compute, prefix: str | None = None) -> Cost:
    """Count and time fine-tuning of a backbone with a new head, as in `classifiers.tuning`: all weights, in float32.

    A step has `batch_size` texts with their prompt, padded to the longest: forward, backward, gradient clipping, AdamW.
    Steps and forward passes are timed on a sample.

    Args:
        weights: the backbone's folder.
        prefix: the prompt before every text; None: what the backbone's own file says.
    """
    sizes = sizes_of(question, spec)
    torch.manual_seed(SEED)
    labels = known_labels("compute", question.test, question.train)
    model, _ = load(AutoModelForSequenceClassification, weights, num_labels=len(labels))
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    rows = sample(question.train.to_dict("records"), spec.sample)
    prompt = plain_prompt(prefix, weights)
    texts = [prompt + row["text"] for row in rows]
    targets = [labels.index(row["label"]) for row in rows]
    batches = batches_of(weights, model, texts, targets, spec.batch_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)

    def learn() -> None:
        model.train()
        for batch in batches:
            model(**batch).loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()

    @torch.inference_mode()
    def evaluate() -> None:
        model.eval()
        for batch in batches:
            model(**batch)

    with reading(model) as read:
        forward, backward = (count / len(rows) for count in passes(model, batches))
    step = Timed("steps", len(rows), seconds(learn, spec.repeats))
    only = Timed("forward passes", len(rows), seconds(evaluate, spec.repeats))
    by_text = [(a / len(rows), b / len(rows)) for a, b in zip(step.span, only.span, strict=True)]

    def formula(train: int, forward: float = forward, backward: float = backward) -> float:
        some = sizes._replace(train=train)
        return formulae.fine_tuning(some, epochs=spec.epochs, forward=forward, backward=backward)

    return Cost(
        method="fine-tuning",
        model=name,
        sizes=sizes,
        formula=formula,
        done=formula(sizes.train),
        span=Span(*(formula(sizes.train, passed, learnt - passed) for learnt, passed in by_text)),
        scaled=True,
        dtype=dtype_of(model),
        symbols={"n_epoch": spec.epochs},
        counted=[Counted("f_M", forward, len(rows), read), Counted("b_M", backward, len(rows))],
        timed=[step, only],
    )


def passes(model: PreTrainedModel, batches: Sequence[BatchEncoding]) -> tuple[int, int]:
    """Operations of the forward and of the backward passes over batches with labels; no weight is changed."""
    forward = backward = 0
    for batch in batches:
        losses: list[torch.Tensor] = []
        forward += flops(lambda batch=batch, losses=losses: losses.append(model(**batch).loss))
        backward += flops(losses[0].backward)
    model.zero_grad()
    return forward, backward


def batches_of(
    weights: Path, model: PreTrainedModel, texts: Sequence[str], labels: Sequence[int], size: int
) -> list[BatchEncoding]:
    """Tokenised batches of texts with the numbers of their labels, on the model's device."""
    tokenizer = tokenizer_of(weights)
    limit, found = limit_of(model, tokenizer), []
    for start in range(0, len(texts), size):
        part = slice(start, start + size)
        batch = tokenizer(list(texts[part]), padding=True, truncation=True, max_length=limit, return_tensors="pt")
        batch["labels"] = torch.tensor(labels[part])
        found.append(batch.to(model.device))
    return found
