#!/bin/bash -eu
# Builds the fuzz targets as a fuzzing service asks for them: with its compiler, flags and engine,
# into $OUT, each with its seeds.
cmake -S "$SRC/yodel" -B "$WORK/yodel" -DYODEL_FUZZ=ON -DYODEL_FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$WORK/yodel" --parallel "$(nproc)" --target fuzz
for seeds in "$SRC"/yodel/tests/fuzz/corpus/*; do
    name=$(basename "$seeds")
    cp "$WORK/yodel/fuzz/fuzz_$name" "$OUT/"
    zip --quiet --junk-paths "$OUT/fuzz_${name}_seed_corpus.zip" "$seeds"/*
done
