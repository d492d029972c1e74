package command

import (
	"slices"
	"strings"

	"loregate/internal/meaning"
)

// sensedUsage returns the usage of a verb whose act depends on the kind of its object: to burn a letter is to use it,
// to burn a goblin is an attack.
func sensedUsage(u *usage, said, rest []word) *usage {
	if len(said) > 1 || len(rest) == 0 {
		return u
	}
	e, _ := readVerbForm(said[0].fold, said[0].known)
	switch {
	case e == nil:
	case e.class&motionClass != 0 && startsWay(rest):
		return usageAs(Move)
	case e.class&harmClass != 0 && isLiving(rest):
		return usageAs(Attack)
	case u.acts[withObject] == Drop && putsDeed(rest):
		return usageAs(Use)
	case e.text == "leave" && isWare(rest):
		return usageAs(Drop)
	case e.text == "return" && isWare(rest), e.class&dativeClass != 0 && startsRecipient(rest):
		return usageAs(Give)
	}
	return u
}

// startsWay reports whether words begin as a way does: through the gap, closer to the fire.
func startsWay(rest []word) bool {
	return len(rest) > 0 &&
		rest[0].oneOf("through", "into", "across", "over", "along", "past", "down", "up", "under", "around",
			"round", "towards", "toward", "onto", "beneath", "beyond", "between", "closer", "nearer", "back", "out", "away") &&
		(len(rest) > 1 || rest[0].oneOf("past", "closer", "nearer", "through", "across", "over", "back", "out", "away"))
}

// isLiving reports whether the thing acted on is a living being, or a part of another's body.
func isLiving(rest []word) bool {
	object, targets := splitObject(rest)
	if len(object) == 0 && len(targets) > 0 && (targets[0].by == "at" || targets[0].by == "into") {
		object = targets[0].words
	}
	if len(object) == 0 {
		return false
	}
	sets := idiomSets()
	switch head := headOf(object); {
	case isBeing(head.fold):
		return true
	case sets["body"][head.fold]:
		return len(object) > 1 && !object[0].oneOf("my", "our", "the", "a")
	}
	return false
}

// isBeing reports whether a noun names a person or an animal, and hardly ever anything else.
func isBeing(noun string) bool {
	being := idiomSets()["being"]
	return being[noun] || strings.HasSuffix(noun, "s") && being[strings.TrimSuffix(noun, "s")] ||
		isKind(noun, "person", "animal") && !isKind(noun, "artifact", "substance", "food", "plant", "location", "abstraction")
}

// isWare reports whether the arguments of a verb are a thing that people carry.
func isWare(rest []word) bool {
	object, targets := splitObject(rest)
	return len(object) > 0 && len(targets) == 0 && idiomSets()["ware"][headOf(object).fold]
}

// putsDeed reports whether the arguments of a verb are an act, an event or a state, and whom or what it is put on: a
// curse on the baron.
func putsDeed(rest []word) bool {
	object, targets := splitObject(rest)
	return len(object) > 0 && len(targets) > 0 && (targets[0].by == "on" || targets[0].by == "upon") &&
		isDeed(headOf(object).fold)
}

// isWareAt reports whether the arguments of a verb are a thing that people carry, and a place.
func isWareAt(rest []word) bool {
	object, targets := splitObject(rest)
	return len(object) > 0 && len(targets) == 1 && idiomSets()["ware"][headOf(object).fold] &&
		slices.Contains([]string{"at", "by", "near", "beside", "behind", "inside"}, targets[0].by)
}

// startsRecipient reports whether words begin with somebody else, and another name follows: him a coin.
func startsRecipient(rest []word) bool {
	n := 0
	for n < len(rest) && rest[n].is(articleClass) && rest[n].fold != "her" {
		n++
	}
	for at := n; at < min(n+3, len(rest)); at++ {
		if w := rest[at]; w.kind != plainWord || w.is(prepositionClass|jointClass) {
			return false
		}
		if (n > 0 && idiomSets()["being"][rest[at].fold] || n == 0 && rest[at].oneOf("him", "her", "them", "everyone", "everybody")) &&
			at+1 < len(rest) &&
			rest[at+1].is(articleClass|numberClass) {
			return true
		}
	}
	return false
}

// isKind reports whether a noun, or its singular, is of one of several kinds.
func isKind(noun string, kinds ...string) bool {
	noun = strings.TrimSuffix(noun, "'s")
	return slices.ContainsFunc(kinds, func(kind string) bool { return meaning.IsA(noun, meaning.Noun, kind) })
}
