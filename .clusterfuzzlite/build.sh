#!/bin/bash -eu
# Builds the fuzz targets as a fuzzing service asks for them: with its compiler, flags and engine,
# into $OUT, each with its seeds. They run on a machine that may have no OpenSSL.
cmake -S "$SRC/yodel" -B "$WORK/yodel" -DYODEL_FUZZ=ON -DYODEL_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath,'\$ORIGIN/lib'"
cmake --build "$WORK/yodel" --parallel "$(nproc)" --target fuzz
for seeds in "$SRC"/yodel/tests/fuzz/corpus/*; do
    name=$(basename "$seeds")
    cp "$WORK/yodel/fuzz/fuzz_$name" "$OUT/"
    zip --quiet --junk-paths "$OUT/fuzz_${name}_seed_corpus.zip" "$seeds"/*
done
mkdir -p "$OUT/lib"
cp /usr/lib/*/libssl.so.[0-9] /usr/lib/*/libcrypto.so.[0-9] "$OUT/lib/"
