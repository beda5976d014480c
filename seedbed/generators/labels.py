"""A language model as a classifier: the label whose text is the likeliest answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from seedbed.corpora.labels import LABELS
from seedbed.generators.examples import Example, Texts
from seedbed.generators.lora import IGNORED, collate, logits_of
from seedbed.generators.prompts import Style, encode, encode_completion, pair_prompt


def label_scores(
    base: Path, rows: Iterable[Texts], *, adapter: Path | None, language: str, style: Style, batch_size: int = 32
) -> np.ndarray:
    """Log-likelihoods (n, labels) of each label as the answer to each pair, in nats; computed in float32.

    The token that ends an answer does not count: a base model need not know it.

    Args:
        rows: premise and hypothesis.
        adapter: of the task, composed or not; None for the model as it is.
        language: name of the language of the pairs.
    """
    tokenizer = AutoTokenizer.from_pretrained(base, trust_remote_code=False)
    model = AutoModelForCausalLM.from_pretrained(
        base, dtype=torch.float32, local_files_only=True, trust_remote_code=False, use_safetensors=True
    )
    model = PeftModel.from_pretrained(model, str(adapter)) if adapter else model
    model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    answers = [encode_completion(tokenizer, str(number), style)[:-1] for number in range(len(LABELS))]
    prompts = [
        encode(tokenizer, pair_prompt(row["premise"], row["hypothesis"], language, style), style) for row in rows
    ]
    examples = [Example(prompt, answer) for prompt in prompts for answer in answers]
    return log_likelihoods(model, examples, batch_size).reshape(len(prompts), len(answers))


@torch.inference_mode()
def log_likelihoods(model: PreTrainedModel | PeftModel, examples: Sequence[Example], batch_size: int) -> np.ndarray:
    """Log-likelihood (n,) of each completion after its prompt, in nats; the head runs on completions alone."""
    base = model.get_base_model() if isinstance(model, PeftModel) else model
    found = np.zeros(len(examples))
    order = sorted(range(len(examples)), key=lambda index: len(examples[index]))
    for start in range(0, len(order), batch_size):
        indices = order[start : start + batch_size]
        batch = {name: value.to(base.device) for name, value in collate([examples[i] for i in indices]).items()}
        targets = batch.pop("labels")[:, 1:]
        hidden = base.get_decoder()(**batch, use_cache=False).last_hidden_state[:, :-1]
        learnt = targets != IGNORED
        chances = logits_of(base, hidden[learnt]).float().log_softmax(-1)
        by_token = torch.zeros_like(targets, dtype=torch.float32)
        by_token[learnt] = chances.gather(1, targets[learnt][:, None])[:, 0]
        found[indices] = by_token.sum(1).double().cpu().numpy()
    return found
