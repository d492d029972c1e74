"""Makes word vectors of which the sum over a text comes near to a sentence model's vector of it:
distil.py WORDS.json WORDNET-FOLDER ENDPOINT TO.json

The words are those of the package of word vectors, by frequency; the texts are the words and WordNet's definitions.
The vectors of the model (Reimers and Gurevych 2019) are rotated to their first principal components. Those of the words
begin as the model's own, weighted by smooth inverse frequency (Arora, Liang and Ma 2017), and are trained by Adam on the
cosine of the sums. The result is the same in every run on processors of one kind: a quantized model rounds
differently on others. Needs numpy."""

import json
import re
import sys
import urllib.request

import numpy as np

WORDS, DIMENSIONS, EPOCHS, BATCH, RATE = 30_000, 192, 6, 2048, 0.01
CALL = 64  # texts of a call to the endpoint


def read_words(path):
    """Returns the most frequent words of two or more letters, and their ranks."""
    with open(path) as f:
        listed = enumerate(json.load(f)["words"])
    return [(w, rank) for rank, w in listed if re.fullmatch("[a-z]{2,24}|i|a", w)][:WORDS]


def read_definitions(folder):
    for part in ("noun", "verb", "adj", "adv"):
        with open(f"{folder}/data.{part}", encoding="latin-1") as f:
            for line in f:
                if not line.startswith("  "):
                    yield re.split(r';\s*(?=")', line.split(" | ", 1)[1])[0].strip().strip(";").strip()


def embed(texts, endpoint):
    out = np.zeros((len(texts), 384), np.float32)
    for at in range(0, len(texts), CALL):
        body = json.dumps({"input": texts[at : at + CALL]}).encode()
        with urllib.request.urlopen(endpoint + "/embeddings", body) as answer:
            out[at : at + CALL] = [d["embedding"] for d in json.load(answer)["data"]]
    return out


def scaled(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def train(bags, wanted, vectors):
    """Moves the vectors of words so that the sums of bags of words have the direction of the wanted vectors."""
    lengths = np.array([len(b) for b in bags])
    ends = np.cumsum(lengths)
    words = np.concatenate(bags)
    rng = np.random.default_rng(0)
    mean, square = np.zeros_like(vectors), np.zeros_like(vectors)
    step, steps = 0, EPOCHS * -(-len(bags) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(bags))
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            starts = np.cumsum(lengths[batch]) - lengths[batch]
            found = np.concatenate([words[ends[b] - lengths[b] : ends[b]] for b in batch])
            sums = np.add.reduceat(vectors[found], starts)
            size = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-3)
            sums /= size
            along = np.sum(sums * wanted[batch], axis=1, keepdims=True)
            slope = (along * sums - wanted[batch]) / size / len(batch) * 100
            by_word = np.argsort(found, kind="stable")
            rows, first = np.unique(found[by_word], return_index=True)
            slopes = np.add.reduceat(np.repeat(slope, lengths[batch], axis=0)[by_word], first)
            mean[rows] = 0.9 * mean[rows] + 0.1 * slopes
            square[rows] = 0.99 * square[rows] + 0.01 * slopes * slopes
            step += 1
            vectors[rows] -= RATE * (1 - step / steps) * mean[rows] / (np.sqrt(square[rows]) + 1e-6)


def main(words_path, folder, endpoint, to):
    words = read_words(words_path)
    number = {w: i for i, (w, _) in enumerate(words)}
    texts = [w for w, _ in words] + list(read_definitions(folder))
    model = embed(texts, endpoint)
    bags = [[number[w] for w in re.findall("[a-z]+", t.lower()) if w in number] for t in texts]
    kept = [i for i, b in enumerate(bags) if b]
    _, axes = np.linalg.eigh(model.T @ model)
    model = scaled(model @ axes[:, ::-1][:, :DIMENSIONS])
    frequency = np.array([1 / (12 * (rank + 2.7)) for _, rank in words])
    vectors = (model[: len(words)] * (1e-3 / (1e-3 + frequency))[:, None]).astype(np.float32)
    train([np.array(bags[i]) for i in kept], model[kept], vectors)
    with open(to, "w") as f:
        json.dump({"words": [w for w, _ in words], "ranks": [r for _, r in words],
                   "vectors": [[round(float(x), 6) for x in v] for v in scaled(vectors)]}, f)


if __name__ == "__main__":
    main(*sys.argv[1:])
