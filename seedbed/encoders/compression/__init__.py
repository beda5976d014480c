"""Compression: smaller copies of an encoder (static, bfloat16, int8, trimmed vocabulary), and averages over seeds."""
