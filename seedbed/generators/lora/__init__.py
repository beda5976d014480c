"""LoRA adapters of language models: training data, training, and model cards."""
