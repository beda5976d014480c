"""What the library adapters 1.3.0 computes with ParBnConfig, for tests to compare with; nothing of the project has it.

The library needs older versions of others than the project has, so this ran in a place of its own:

    pip install adapters==1.3.0 transformers==4.57.6 torch safetensors
    python tests/golden/parallel_adapters.py tests/golden/parallel_adapters.safetensors
"""

import sys

import torch
from safetensors.torch import save_file

CONFIG = {
    "vocab_size": 150, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12,
    "max_position_embeddings": 10, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "pad_token_id": 1,
}  # fmt: skip


def main() -> None:
    import adapters
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    model = BertModel(BertConfig(**CONFIG), add_pooling_layer=False)
    found = {f"model.{name}": weight.clone() for name, weight in model.state_dict().items()}
    adapters.init(model)
    model.add_adapter("cla", config=adapters.ParBnConfig())
    model.train_adapter("cla")
    model.set_active_adapters("cla")
    model.eval()
    own = {name: weight for name, weight in model.named_parameters() if "adapters.cla" in name}
    with torch.no_grad():
        for weight in own.values():
            weight.copy_(torch.randn(weight.shape) * 0.3)
    ids = torch.randint(1, CONFIG["vocab_size"], (3, 7))
    output = model(input_ids=ids).last_hidden_state
    (output * torch.linspace(-1, 1, output.numel()).view_as(output)).sum().backward()
    found |= {"ids": ids, "output": output.detach().clone()}
    for name, weight in own.items():
        layer = name.split("layer.")[1].split(".")[0]
        kind = "down" if "adapter_down" in name else "up"
        place = f"{layer}.{kind}.{name.rpartition('.')[2]}"
        found |= {f"adapters.{place}": weight.detach().clone(), f"gradients.{place}": weight.grad.clone()}
    save_file({name: tensor.contiguous() for name, tensor in found.items()}, sys.argv[1])


if __name__ == "__main__":
    main()
