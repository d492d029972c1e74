package claim

import (
	"slices"

	"loregate/internal/meaning"
)

// Weights of the signs that the canon denies a sentence which Check did not refuse, and the least sum of a doubtful
// one. They are the logarithms of odds of a logistic model. It was fitted on 519 texts that Check judged by rules from
// before their author wrote them: 143 of the texts were false. Four weights were then moved, those of unread, unstated,
// denying and true sentences: so fewer false texts of two authors are missed, of whom the rules did not know one, and
// no more of three others. The least sum was chosen by the share of texts that a model is asked for.
const (
	leastDoubt   = -1.12
	ofAny        = -2.1
	ofUnstated   = 0.9  // it seems to assert nothing
	ofQuestion   = 0.7  // and has a question mark
	ofUnread     = 1.55 // about something that has a name, and no claim was read
	ofTrue       = -0.8 // its claims are true
	ofNoCommon   = -1.7
	ofOneCommon  = -1.15 // a word in common with a line of the canon
	ofOtherWords = 0.28  // for each word that the nearest line lacks, up to maxOtherWords
	ofDenying    = 0.25
	ofTwoNames   = 0.45

	maxOtherWords = 8
)

// Doubtful returns the sentences of a text that the canon may deny although Check did not refuse them, and the lines of
// the canon about the text. There is no doubt where the canon tells nothing.
func Doubtful(text string, w *World, verdicts []Verdict) (sentences, told []string) {
	if told = Told(text, w); len(told) == 0 {
		return nil, nil
	}
	lines := make([][]string, len(told))
	for i, line := range told {
		lines[i] = contentOf(tokensOf(line))
	}
	r := newReader(w)
	statements := r.statements(text)
	for s := range meaning.Sentences(r.spoken(text)) {
		d := doubtedSentence{tokens: tokensOf(s)}
		if i := slices.IndexFunc(statements, func(st statement) bool { return st.text == s }); i >= 0 {
			d.stated = &statements[i]
		}
		for _, v := range verdicts {
			if v.Text == s {
				d.verdicts = append(d.verdicts, v)
			}
		}
		if d.sum(lines) >= leastDoubt {
			sentences = append(sentences, s)
		}
	}
	return sentences, told
}

// A doubtedSentence is a sentence with all that was read of it. stated is nil if it seems to assert nothing.
type doubtedSentence struct {
	tokens   []token
	stated   *statement
	verdicts []Verdict
}

// sum adds the weights of the signs. lines are the content words of the lines of the canon.
func (d *doubtedSentence) sum(lines [][]string) float64 {
	words := contentOf(d.tokens)
	common := mostCommon(words, lines)
	sum := ofAny + ofOtherWords*float64(min(len(words)-common, maxOtherWords))
	for _, sign := range []struct {
		present bool
		weight  float64
	}{
		{d.stated == nil, ofUnstated},
		{d.stated == nil && isQuestion(d.tokens), ofQuestion},
		{d.isUnread(), ofUnread},
		{d.isTrue(), ofTrue},
		{common == 0, ofNoCommon},
		{common == 1, ofOneCommon},
		{hasWord(d.tokens, denying), ofDenying},
		{d.hasTwoNames(), ofTwoNames},
	} {
		if sign.present {
			sum += sign.weight
		}
	}
	return sum
}

var denying = wordSet("not no never nobody none")

// tellsLittle reports whether a claim leaves most of its sentence unread.
func tellsLittle(v Verdict) bool {
	return v.Predicate == Acts || v.Predicate == Happened || v.Predicate == Dead
}

// isUnread reports whether a sentence asserts something about an entity, and no claim tells what.
func (d *doubtedSentence) isUnread() bool {
	return d.stated != nil && len(d.stated.named) > 0 && !slices.ContainsFunc(d.verdicts, func(v Verdict) bool {
		return !tellsLittle(v)
	}) && slices.ContainsFunc(d.stated.clauses, func(c clause) bool { return !c.order })
}

// isTrue reports whether claims were read, and the canon has said them all.
func (d *doubtedSentence) isTrue() bool {
	return !slices.ContainsFunc(d.verdicts, func(v Verdict) bool { return v.Truth == Unsure }) &&
		slices.ContainsFunc(d.verdicts, func(v Verdict) bool { return !tellsLittle(v) })
}

func (d *doubtedSentence) hasTwoNames() bool {
	return d.stated != nil && slices.ContainsFunc(d.stated.named, func(m mention) bool {
		return m.entity != d.stated.named[0].entity
	})
}

// mostCommon returns the greatest number of words that one of some lines has: the same, synonyms or derivations. It
// looks up each word once, since [shared] takes too long for a text of many sentences.
func mostCommon(words []string, lines [][]string) int {
	common := make([]int, len(lines))
	for _, word := range words {
		near := slices.Concat([]string{word}, meaning.Synonyms(word, meaning.Verb), meaning.Synonyms(word, meaning.Noun),
			meaning.Derived(word))
		for i, line := range lines {
			if slices.ContainsFunc(line, func(w string) bool { return slices.Contains(near, w) }) {
				common[i]++
			}
		}
	}
	return slices.Max(common)
}
