"""How a tiny Gemma is made to write: random weights, and planted among them what ties a language's name to its words.

A random model writes salad, which the checks of triplets drop, as they should. This one's attention looks for names of
languages in the prompt, and its output layer knows which words are of each: it writes words of the language that it is
asked for, in random order, and ends. Nothing of the checks need be switched off, and LoRA trains it as any other.
"""

from __future__ import annotations

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from seedbed.languages import registry
from tests.rehearsal import replica

LENGTH = 9
"""Words of a text, on average."""
STRENGTH = 1.6
"""Of a planted tie."""
LEVER = 8.0
"""How much larger than its neighbours what is planted is: a few steps of LoRA shall not undo it."""


@torch.no_grad()
def plant(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, end: str) -> None:
    """Tie the names of languages to their words, and any of them to `end`, the token that ends a text.

    The first places of a state say which language is asked for, as many more which one is being written, and the next
    one that something is.
    """
    languages = sorted(replica.load("words.yaml"))
    body, embedding = model.get_decoder(), model.get_input_embeddings().weight
    config, count = body.config, len(languages)
    writing = 2 * count
    embedding[:, : writing + 1] = 0
    for place, lang in enumerate(languages):
        embedding[whole(tokenizer, [registry()[lang]["name"]]), place] = LEVER * STRENGTH
        for tied in (count + place, writing):
            embedding[whole(tokenizer, replica.words(lang)), tied] = STRENGTH
    # So likely after each word that a text has so many; a state's length is the root of twice that of one of its places.
    several = torch.tensor(len(replica.words("eng")) / (LENGTH - 1)).log() / (config.hidden_size / 2) ** 0.5
    embedding[tokenizer.convert_tokens_to_ids(end), writing] = 2 * STRENGTH + several
    for layer in body.layers:
        for block in (layer.self_attn.o_proj, layer.mlp.down_proj):
            block.weight[: writing + 1] = 0  # nothing else writes there
        for norm in (layer.post_attention_layernorm, layer.post_feedforward_layernorm):
            norm.weight.fill_(-0.9)
    first = body.layers[0]
    attention, repeated = first.self_attn, config.num_attention_heads // config.num_key_value_heads
    attention.q_norm.weight.fill_(-0.99)  # it looks at all places alike
    attention.v_proj.weight[:count] = LEVER * torch.eye(count, config.hidden_size)
    for place in range(count):
        head, inside = divmod(place, config.head_dim)
        attention.o_proj.weight[[count + place, writing], head * repeated * config.head_dim + inside] = LEVER
    first.post_attention_layernorm.weight.fill_(LEVER)


def whole(tokenizer: PreTrainedTokenizerBase, words: list[str]) -> list[int]:
    """The tokens that are words by themselves."""
    parts = [tokenizer(f" {word}", add_special_tokens=False)["input_ids"] for word in words]
    return [tokens[0] for tokens in parts if len(tokens) == 1]
