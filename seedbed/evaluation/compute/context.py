"""Cost of in-context classification, counted and timed on a sample of the test texts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
import torch
from tqdm.auto import tqdm
from transformers import PreTrainedModel

from seedbed.batching import by_length
from seedbed.classifiers.in_context import open_greedy, predict_labels, prompts_of
from seedbed.evaluation.classification import known_labels
from seedbed.evaluation.compute import formulae
from seedbed.evaluation.compute.cost import Cost, Counted, Timed, dtype_of, sample, sizes_of
from seedbed.evaluation.compute.measuring import flops, reading, seconds
from seedbed.evaluation.compute.settings import Compute, Learner
from seedbed.evaluation.scores import Trial
from seedbed.evaluation.shots import Shots, queries_of
from seedbed.generators.weights.folder import is_encoder_decoder
from seedbed.generators.writing.likelihood import left_padded
from seedbed.generators.writing.prompts import encode_text
from seedbed.io import UserError


def require_decoder(name: str, base: Path) -> None:
    """Check that a model is not an encoder-decoder, to which the formula's one pass over a prompt does not apply.

    Raises:
        UserError: it is one.
    """
    if is_encoder_decoder(base):
        raise UserError(f"compute.classifiers: {name} is an encoder-decoder, which is not counted; take a decoder")


def in_context(name: str, learner: Learner, base: Path, question: Trial, shots: Cost, spec: Compute) -> Cost:
    """Count and time a language model that labels a sample of test texts (see `classifiers.in_context.predict_labels`).

    The code does less than the formula: a prompt is encoded once for all labels or all generated tokens, which reuse
    its keys and values, and the output layer is computed only where a probability is needed. Loading the weights is not
    timed.

    Args:
        base: the language model's folder.
        shots: cost of retrieving the examples.
    """
    sizes, generator, how = sizes_of(question, spec), learner.generator, learner.in_context
    labels = known_labels("compute", question.test, question.train, also=question.task.labels)
    few = replace(question, test=pd.DataFrame(sample(question.test.to_dict("records"), spec.queries)))
    queries = queries_of(few, Shots(how.shots, balance=how.balance))
    answering, instruction = how.answering(), question.task.instruction
    backend = open_greedy(generator, base, answering)
    prompts = [prompt for prompt, _ in prompts_of(backend, queries, labels, instruction, answering)]
    forward = flops(lambda: read_whole(backend.model, prompts, generator.batch_size)) / len(prompts)

    def run() -> Any:
        return predict_labels(lambda: backend, queries, labels, instruction, answering)

    with reading(backend.model) as read:
        done = flops(run) / len(queries)
    timed = Timed("answers", len(queries), seconds(run, spec.repeats))
    length = fmean(len(encode_text(backend.tokenizer, answering.label_prefix + label)) for label in labels)

    given = {"length": length, "forward": forward, "labels": len(labels) if answering.answer == "likelihood" else 1}
    return Cost(
        method=f"in context, {answering.answer}",
        model=name,
        sizes=sizes,
        formula=lambda train: formulae.in_context(sizes, retrieval=shots.formula(train), **given),
        done=shots.done + sizes.test * done,
        span=shots.span.plus(timed.span.times(sizes.test / len(queries))),
        scaled=True,
        dtype=dtype_of(backend.model),
        symbols={"|L|": len(labels), "|l|": length},
        counted=[Counted("f_G", forward, len(prompts)), Counted("done by G", done, len(queries), read)],
        timed=[timed],
    )


@torch.inference_mode()
def read_whole(model: PreTrainedModel, prompts: Sequence[list[int]], batch_size: int) -> None:
    """One plain forward pass over each prompt, in the batches of `likelihood.log_likelihoods`, with logits of all
    tokens.
    """
    for rows in tqdm([*by_length([len(prompt) for prompt in prompts], batch_size)], desc="Prompts", unit="batch"):
        ids, mask = left_padded([prompts[row] for row in rows], model.device)
        model(input_ids=ids, attention_mask=mask, use_cache=False)
