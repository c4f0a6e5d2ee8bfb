#!/usr/bin/env bash
# An operator's check: proves the log, saves the log, rebuilds the cards from the log, and compares.
#
# Run it beside `cardlog up --data data`, with `cardlog` on the PATH:
#
#     examples/rebuild_and_verify.sh data archive.jsonl
set -euo pipefail
data=${1:-data}
archive=${2:-archive.jsonl}

echo "== prove the log: no hole, no change, nothing out of order"
cardlog log verify --data "$data"

echo "== save the log to $archive"
cardlog log export "$archive" --data "$data"

echo "== fold the cards again from the log, and swap only if every row is equal"
cardlog rebuild cards --verify --data "$data"

echo "== the digests of the live tables"
cardlog digest --data "$data"

echo "== the generations: the one before stays until it is dropped"
cardlog generations --data "$data"
# To go back to the generation before:  cardlog rollback cards --data "$data"
# To drop the retired generation 1:     cardlog generations cards --drop 1 --data "$data"
