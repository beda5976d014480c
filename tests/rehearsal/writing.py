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
"""Of a planted tie, against random numbers of a tenth of it."""


@torch.no_grad()
def plant(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, end: str) -> None:
    """Tie the names of languages to their words, and all of them to `end`, the token that ends a text.

    The first places of a state say which language is asked for, the next as many which is being written.
    """
    languages = sorted(replica.load("words.yaml"))
    body, embedding = model.get_decoder(), model.get_input_embeddings().weight
    config, count = body.config, len(languages)
    embedding[:, : 2 * count] = 0
    for place, lang in enumerate(languages):
        embedding[whole(tokenizer, [registry()[lang]["name"]]), place] = 5 * STRENGTH
        embedding[whole(tokenizer, replica.words(lang)), count + place] = STRENGTH
    # So likely after each word that a text has so many.
    several = torch.tensor(len(replica.words("eng")) / (LENGTH - 1)).log() / config.hidden_size**0.5
    embedding[tokenizer.convert_tokens_to_ids(end), count : 2 * count] = STRENGTH + several
    for layer in body.layers:  # nothing else writes there
        layer.self_attn.o_proj.weight[: 2 * count] = 0
        layer.mlp.down_proj.weight[: 2 * count] = 0
    first = body.layers[0]
    attention, repeated = first.self_attn, config.num_attention_heads // config.num_key_value_heads
    attention.q_norm.weight.fill_(-0.99)  # it looks at all places alike
    attention.v_proj.weight[:count] = torch.eye(count, config.hidden_size)
    for place in range(count):
        head, inside = divmod(place, config.head_dim)
        attention.o_proj.weight[count + place, head * repeated * config.head_dim + inside] = 1
    first.post_attention_layernorm.weight.fill_(10.0)


def whole(tokenizer: PreTrainedTokenizerBase, words: list[str]) -> list[int]:
    """The tokens that are words by themselves."""
    parts = [tokenizer(f" {word}", add_special_tokens=False)["input_ids"] for word in words]
    return [tokens[0] for tokens in parts if len(tokens) == 1]
