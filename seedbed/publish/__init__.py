"""What a study made, laid out as repositories of the Hugging Face hub: encoders, adapters, sets of triplets."""
