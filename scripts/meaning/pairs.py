"""Makes pairs of sentences with labels out of sets of others, for the weights of meaning.Closeness:
pairs.py DATASET-STS PAWS-X >pairs.jsonl

DATASET-STS is a checkout of github.com/brmson/dataset-sts: the Microsoft Research Paraphrase Corpus, and the pairs of
SemEval 2012 to 2015 that have scores. Its SICK is left out: it is for non-commercial use. PAWS-X is a folder with
dev-en.tsv of PAWS-X: two sentences and a label. None of them is part of the project; only weights that are fitted on
them are."""

import glob
import json
import os
import random
import sys

MOST = 3000  # pairs of a set
LONGEST = 300  # characters of a sentence


def rows(path):
    with open(path, encoding="utf-8-sig", errors="replace") as f:
        return [line.rstrip("\n").split("\t") for line in f]


def read_all(sts, paws):
    """Yields the set, the two sentences, and whether they say the same."""
    for row in rows(f"{paws}/dev-en.tsv"):
        yield "paws", row[0], row[1], row[2] == "1"
    for path in sorted(glob.glob(f"{sts}/data/para/msr/*.tsv")):
        for row in rows(path)[1:]:
            yield "mrpc", row[3], row[4], row[0] == "1"
    sets = {"OnWN": "definitions", "FNWN": "definitions", "images": "images", "headlines": "headlines"}
    for path in sorted(glob.glob(f"{sts}/data/sts/semeval-sts/201[2-5]/*.tsv")):
        for row in rows(path):
            if row[0] and (float(row[0]) <= 3 or float(row[0]) >= 4.3):
                yield sets.get(os.path.basename(path).split(".")[0], "other"), row[1], row[2], float(row[0]) >= 4.3


def main(sts, paws):
    by_set = {}
    for name, one, other, same in read_all(sts, paws):
        if 0 < min(len(one), len(other)) and max(len(one), len(other)) < LONGEST:
            by_set.setdefault(name, []).append({"Set": name, "A": one, "B": other, "Same": same})
    for name, pairs in sorted(by_set.items()):
        random.Random(1).shuffle(pairs)
        for pair in pairs[:MOST]:
            print(json.dumps(pair))


main(*sys.argv[1:])
