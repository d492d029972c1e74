package command

import (
	"slices"
	"strings"
)

// leastDoubt is the sum of weights from which on a reading is doubtful. It was chosen by the share of texts that a model
// is asked for: of the development cases 22%, of those of an author whom the rules do not know a third.
const leastDoubt = -2.80

// signs lists the signs that the rules read a command wrongly in any of its parts, with their weights. Weights are the
// logarithms of odds of a logistic model (weight decay 2). It was fitted on the development cases of judgetest: on those
// of each author as the rules read them before they had seen that author, by two versions of the rules where there are
// two, and on the generated ones as they are read now. Fitted without an author, the model finds 46 of 65 wrong commands
// of that author, where it doubts 24% of all. The weight of a command that breaks off was raised, because only two of
// them were wrong.
var signs = []struct {
	of     func(*evidence) float64
	weight float64
}{
	{func(e *evidence) float64 { return 1 }, -4.21},
	{func(e *evidence) float64 { return float64(min(len(e.words), 16)) / 4 }, 0.20},
	{isSign(func(e *evidence) bool { return len(e.words) < 2 }), -0.92},
	{isSign(func(e *evidence) bool { return len(e.words) > 9 }), 0.20},
	{isSign(func(e *evidence) bool { return len(e.Intents) == 2 }), 0.59},
	{isSign(func(e *evidence) bool { return e.commas }), 0.52},
	{isSign(func(e *evidence) bool { return e.marks }), 0.41},
	{isSign(func(e *evidence) bool { return len(e.Intents) == 0 && e.told }), 0.32},
	{isSign(func(e *evidence) bool { return len(e.Intents) == 0 && !e.told }), 0.98},
	{isSign(func(e *evidence) bool { return e.asks("object") || e.asks("target") }), 0.69},
	{isSign(func(e *evidence) bool { return e.least == mendedConfidence }), -0.31},
	{isSign(func(e *evidence) bool { return e.least == tableConfidence }), 0.38},
	{isSign(func(e *evidence) bool { return e.least == listedConfidence }), -0.39},
	{isSign(func(e *evidence) bool { return e.least == idiomConfidence && !e.idiom }), 0.77},
	{isSign(func(e *evidence) bool { return e.least == idiomConfidence && e.idiom }), 0.46},
	{isSign(func(e *evidence) bool { return e.least != idiomConfidence && e.idiom }), 0.50},
	{isSign(func(e *evidence) bool { return len(e.Ambiguities) == 0 && e.refersBack() }), 0.41},
	{isSign(func(e *evidence) bool { return len(e.Ambiguities) == 0 && breaksOff(e.RawText) }), 2},
	{isSign(func(e *evidence) bool { return e.unread-len(e.Intents) == 1 }), 0.81},
	{isSign(func(e *evidence) bool { return e.unread-len(e.Intents) > 1 }), 0.73},
	{isSign(func(e *evidence) bool { return slices.ContainsFunc(e.names, isPart) }), 1.77},
	{isSign(func(e *evidence) bool { return slices.ContainsFunc(e.names, lacksNoun) }), 1.47},
	{isSign(func(e *evidence) bool { return slices.ContainsFunc(e.Intents, Intent.beginsStrangely) }), 0.83},
	{isSign(func(e *evidence) bool { return slices.ContainsFunc(e.Intents, Intent.meetsThing) }), 1.23},
	{isSign(func(e *evidence) bool { return e.hasClass(pronounClass) }), 0.27},
	{isSign(func(e *evidence) bool { return e.hasClass(auxiliaryClass) }), 0.58},
	{isSign(func(e *evidence) bool { return e.start == startSubject }), 0.29},
	{isSign(func(e *evidence) bool { return e.start == startOther }), 0.52},
}

func isSign(present func(*evidence) bool) func(*evidence) float64 {
	return func(e *evidence) float64 {
		if present(e) {
			return 1
		}
		return 0
	}
}

// doubt returns the sum of the weights of the signs that a reading has.
func (p Parsed) doubt() (sum float64) {
	e := p.collectEvidence()
	for _, s := range signs {
		sum += s.weight * s.of(e)
	}
	return sum
}

// IsUnsure reports whether a reading by rules may well be wrong, so that another reader should be asked. It is sure of
// a single word, and of a command with more acts than can be read.
func (p Parsed) IsUnsure() bool {
	return p.doubt() >= leastDoubt && len(p.Intents) < MaxIntents && len(strings.Fields(p.RawText)) > 1
}

// First returns the verb of the first act, and the confidence in it. The verb is "" if nothing is to be done.
func (p Parsed) First() (verb Verb, confidence float64) {
	if len(p.Intents) == 0 {
		return "", 0
	}
	return p.Intents[0].Verb, p.Intents[0].Confidence
}
