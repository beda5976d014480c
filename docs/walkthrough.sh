#!/usr/bin/env bash
# The whole pipeline without Snakemake: from sentences of Hausa to a table, a figure and a report, program by program.
#
#     bash docs/walkthrough.sh FOLDER      # from the project's folder; a minute or two on one core
#
# Models and texts are tiny, so the numbers mean nothing. Put your own files in FOLDER/own, raise the sizes, and the same
# commands give real ones. Snakemake's rules run these programs, in this order, for all languages.
set -euo pipefail
export PYTHONPATH=$PWD HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1
resources=$PWD/seedbed/resources
mkdir -p "$1"
cd "$1"

# Two models of two layers with random weights, and sentences of shuffled words: own/.
python -c 'import pathlib, tests.workflow.conftest as tiny; tiny.own_study(pathlib.Path())'

# ---- Stage 1, corpora: sentences, cleaned.

fetch() { # fetch LANGUAGE NAME KIND FILE [OPTION ...]
    python -m scripts.fetch_corpus --source.file "own/$4" --kind "$3" "${@:5}" \
        --output "corpora/$1/$2.tsv" --record "corpora/$1/$2.json"
}
fetch hau text text hau.tsv                          # sentences of the language
fetch eng text text eng.tsv                          # English, for language identification
fetch eng nli triplets nli.tsv                       # English triplets: what positives and negatives are
fetch fra parallel parallel fra-eng.tsv              # translations, for adapters that cross languages
fetch hau sts pairs hau.sts.tsv --test               # test sets are read first: no training text may repeat them
fetch hau bitext parallel hau-eng.tsv --test
for language in hau eng; do                          # the sample for language identification
    python -m scripts.sample_text --corpus "corpora/$language/text.tsv" --output "corpora/$language/text.sample.tsv"
done
tests=(corpora/hau/bitext.tsv corpora/hau/sts.tsv)
# Anchors are the sentences that get a positive and a negative.
python -m scripts.select_anchors --corpus corpora/hau/text.tsv --pivot corpora/eng/text.sample.tsv --script Latn \
    --tests "${tests[@]}" --anchors.count 32 --output corpora/hau/anchors.tsv --audit corpora/hau/anchors.audit.json

# ---- Stage 2, generators: a language model is trained to generate positives and negatives.

# The language model, in one form whatever the source.
python -m scripts.fetch_model --source.file own/generator --output generators/tiny/weights
lora='{"examples": 16, "batch_size": 8, "micro_batch_size": 8, "epochs": 1, "learning_rate": 0.01}'
adapter=(--base generators/tiny/weights --name tiny --style plain --dtype float32 --lora "$lora" --state state)
for language in hau eng; do                          # a language adapter
    name=$([ "$language" = hau ] && echo Hausa || echo English)
    python -m scripts.train_language_adapter "${adapter[@]}" --texts "corpora/$language/text.tsv" --kind text \
        --language "$name" --output "generators/tiny/language/$language"
done
for polarity in positive negative; do
    # A task adapter: what a positive, or a negative, is, trained in English.
    python -m scripts.train_task_adapter "${adapter[@]}" --triplets corpora/eng/nli.tsv --polarity "$polarity" \
        --language English --output "generators/tiny/task/$polarity"
    # Composition: the task, minus English, plus Hausa (paper 000, equation 2).
    python -m scripts.compose_adapters --task "generators/tiny/task/$polarity" --target generators/tiny/language/hau \
        --source generators/tiny/language/eng --output "generators/tiny/composition/$polarity"
done
# XL-LoRA: the task adapters generate English targets for French anchors, ...
generator="{\"source\": {\"file\": \"own/generator\"}, \"prompts\": \"plain\", \"dtype\": \"float32\", \"lora\": $lora,
    \"sampling\": {\"max_new_tokens\": 12, \"max_prompt_tokens\": 2000}, \"xllora\": {\"languages\": [\"fra\"]}}"
python -m scripts.build_xllora_examples --base generators/tiny/weights --generator "$generator" --count 16 --state state \
    --adapters positive=generators/tiny/task/positive negative=generators/tiny/task/negative \
    --parallel fra=corpora/fra/parallel.tsv \
    --positive-output generators/tiny/xllora/positive.tsv --negative-output generators/tiny/xllora/negative.tsv
for polarity in positive negative; do                # ... and an adapter is trained on them for anchors of any language.
    python -m scripts.train_xllora_adapter "${adapter[@]}" --examples "generators/tiny/xllora/$polarity.tsv" \
        --polarity "$polarity" --language English --output "generators/tiny/xllora/$polarity"
done

# ---- Stage 3, triplets: generated, joined, filtered.

# A model with random weights generates no language: only filters that do not judge it are on.
audit='{"finished": false, "language_id": false, "script_share": 0, "other_script": false, "length_ratio": 1000,
    "max_repetition": 1, "refusals": ["\u0001"], "min_rows": 2, "max_lost": 1}'
for method in composition xllora; do
    place=triplets/$method
    target=$([ "$method" = xllora ] && echo English || echo Hausa)
    # One positive and one negative for each anchor; on a cluster each shard is a job.
    for shard in 0 1; do
        python -m scripts.synthesise --base generators/tiny/weights --name tiny --generator "$generator" --method "$method" --language "$target" \
            --anchors corpora/hau/anchors.tsv --shard "$shard" --shards 2 --state state \
            --adapters "positive=generators/tiny/$method/positive" "negative=generators/tiny/$method/negative" \
            --output "$place/$shard.tsv"
    done
    # Shards in the order of the anchors, with none missing.
    python -m scripts.join_triplets --shards "$place/0.tsv" "$place/1.tsv" --anchors corpora/hau/anchors.tsv --output "$place/raw.tsv"
    # What is empty, copied, foreign or an evaluation sentence is dropped, each row with its reason.
    python -m scripts.audit_triplets --triplets "$place/raw.tsv" --corpus corpora/hau/text.sample.tsv --script Latn \
        $([ "$method" = xllora ] && echo --in-pivot) --tests "${tests[@]}" --audit "$audit" \
        --output "$place/hau.tsv" --rejected "$place/hau.rejected.tsv" --report "$place/hau.audit.json"
done

# ---- Stage 4, encoders: sentence-transformers models.

python -m scripts.fetch_model --source.file own/backbone --output encoders/tiny-bert/weights
encoder=(--weights encoders/tiny-bert/weights --seed 1 --state state)
# The baseline: the backbone with mean pooling, not trained.
python -m scripts.train_encoder "${encoder[@]}" --training.pooling mean --output encoders/tiny-bert/base/hau/1
for method in composition xllora; do                 # the contrast of anchors, positives and negatives (equation 1)
    python -m scripts.train_encoder "${encoder[@]}" --objective '{"contrast": {}}' --texts "triplets/$method/hau.tsv" \
        --training.epochs 1 --training.batch-size 8 --training.precision float32 --output "encoders/tiny-bert/$method/hau/1"
done

# ---- Stage 6, evaluation: one file a score, and a score for each item. (Stage 5, classifiers, is for table 7 and MINERS.)

for recipe in base composition xllora; do
    python -m scripts.score --systems "encoders/tiny-bert/$recipe/hau/1" --language hau --state state \
        --tasks '{"bitext": {"protocol": "bitext"}, "sts": {"protocol": "sts"}}' \
        --tests "${tests[@]}" --records corpora/hau/bitext.json corpora/hau/sts.json \
        --scores "scores/tiny-bert/$recipe/hau/1" --output "scores/tiny-bert/$recipe/hau/hau.json"
done

# ---- Stage 7, tables: numbers with intervals, a picture, a page.

# Which scores stand in which row and column. Snakemake derives this from the study and the table's file.
systems=$(printf ', {"recipe": "%s", "language": "*", "seeds": [1]}' base composition xllora)
blocks=$(cat <<PLAN
[{"backbone": "tiny-bert", "column": {"label": "STS", "protocol": "sts", "metric": "spearman"}, "tests": {"hau": "sts"},
  "systems": [${systems:2}], "baseline": "base", "paper_backbone": "",
  "names": {"base": "Base Encoder", "composition": "Synth - Adapter Composition", "xllora": "Synth - XL-LoRA"}}]
PLAN
)
python -m scripts.plan_table --output tables/table1.plan.json --blocks "$blocks"
# Means, intervals and tests, from the scores of all items.
python -m scripts.tabulate --spec "$resources/tables/table1.yaml" --scores scores --plan tables/table1.plan.json \
    --statistics.resamples 100 --output tables/table1.csv --layout tables/table1.md \
    --compared tables/table1.compared.csv
python -m scripts.plot --spec "$resources/figures/table1.yaml" --data tables/table1.csv --output figures/table1.svg --png figures/table1.png
# All of it in one file that can be sent to a colleague.
python -m scripts.report --title "By hand" --tables tables/table1.csv --layouts tables/table1.md --figures figures/table1.svg \
    --compared tables/table1.compared.csv --audits triplets/{composition,xllora}/hau.audit.json --triplets triplets/{composition,xllora}/hau.tsv \
    --rejected triplets/{composition,xllora}/hau.rejected.tsv --cards encoders/tiny-bert/*/hau/1/README.md --output report.zip
cat tables/table1.md
