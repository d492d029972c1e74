package claim

import (
	"slices"

	"loregate/internal/meaning"
)

// existing are verbs by which a text puts a thing into a scene.
var existing = wordSet("stand lie hang rest lean sit glitter gleam glint wait float hover be")

// readThing reads that there is a thing or a room that the canon does not have: "a silver harp stands in the hall".
func readThing(c *clause, w *World) (list []Claim) {
	for _, v := range c.verbs() {
		if c.order || v.denied || v.tense == past || !existing[v.lemma] && !(making[v.lemma] && v.perfect) {
			continue
		}
		from, to := 0, v.first
		if v.lemma == "be" || making[v.lemma] || v.first > 0 && c.startsWithPlace(v) {
			if v.lemma == "be" && !(v.first > 0 && c.tokens[v.first-1].word == "there") && !c.startsWithPlace(v) {
				continue
			}
			from, to = v.at+1, len(c.tokens)
		}
		if noun, ok := c.introduced(from, to); ok {
			list = append(list, Claim{Predicate: Exists, Subject: None, Object: w.Place, Word: noun})
		}
	}
	return list
}

var making = wordSet("forge make build craft carve weave brew find")

// startsWithPlace reports whether a clause begins with a phrase of place, after which the subject follows its verb:
// "here on the counter stands the horn".
func (c *clause) startsWithPlace(v verb) bool {
	w := c.tokens[0].word
	return v.first > 0 && (w == "here" || w == "there" || placing[w] || w == "behind" || w == "beside" ||
		w == "upstairs" || w == "downstairs" || w == "under" || w == "beneath" || w == "below" || w == "above")
}

// introduced returns the thing or room that an indefinite phrase, or a name that the canon does not have, introduces.
func (c *clause) introduced(from, to int) (string, bool) {
	for i := from; i < to; i++ {
		t := c.tokens[i]
		named := t.word == "the" && i+1 < to && c.tokens[i+1].upper
		if !articles[t.word] || t.word == "the" && !named {
			continue
		}
		if _, ok := c.mentionAt(i + 1); ok {
			return "", false
		}
		head := ""
		for k := i + 1; k < to && !c.tokens[k].mark; k++ {
			w := c.tokens[k].word
			hidden := k == i+1 && meaning.Lemma(w, meaning.Adjective) != "" // "a hidden chamber"
			if (prepositions[w] && w != "of") || verbOf(w) != "" && !isNoun(w) && !hidden || isRelativePronoun(w) {
				break
			}
			if w == "of" && units[head] > 0 {
				return "", false // "a trio of towers"
			}
			if w == "of" && !isAny(head, "collection", "group", "large indefinite quantity") {
				break
			}
			if isNoun(w) {
				head = nounOf(w)
				if isThing(head) || isAny(head, "room", "structure", "building", "document") || named {
					break
				}
			}
		}
		return head, head != "" && !slices.Contains(scenery, head) && (isThing(head) || isAny(head, "room",
			"structure", "jewel", "document", "legal document", "writing") || named)
	}
	return "", false
}

// isRelativePronoun reports whether a word begins a relative clause.
func isRelativePronoun(w string) bool {
	return w == "where" || w == "that" || w == "which" || w == "who"
}

// scenery are things of a scene that nobody misses in the canon.
var scenery = []string{"candle", "lamp", "fire", "light", "chair", "bench", "table", "window", "curtain", "cart",
	"wagon", "lantern", "stool", "board", "wall", "floor", "roof", "step", "plank",
	"rope", "cup", "mug", "bowl", "plate", "pot", "broom", "bucket", "cloth", "rag", "line", "boat", "sail", "way",
	"door", "bed", "blanket", "nail", "glass", "bottle", "thing", "sign", "note"}
