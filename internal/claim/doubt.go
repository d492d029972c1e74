package claim

import (
	"slices"

	"loregate/internal/meaning"
)

// leastDoubt is the least sum of weights of a doubtful sentence. It was chosen by the share of texts that a model is
// asked for.
const leastDoubt = -2.44

// maxOtherWords is the number of words that the nearest line of the canon lacks, up to which they count.
const maxOtherWords = 8

// signs lists the signs that the canon denies a sentence which Check did not refuse, with their weights: the logarithms
// of odds of a logistic model (weight decay 2) of a text's most doubtful sentence. It was fitted on the development
// cases of judgetest: on those of each author as rules from before judged them, those of the fifth author by a third,
// and on the generated ones as they are judged now and by the first rules. Fitted without an author, it finds 151 of
// 170 false texts of that author that the rules missed, where it doubts 24% of all texts. One weight, that of holding
// and giving, was then raised from -0.78: a thing that changes hands is worth a question, and no more false texts are
// missed.
var signs = []struct {
	of     func(*doubtedSentence) float64
	weight float64
}{
	{func(*doubtedSentence) float64 { return 1 }, -3.06},
	{func(d *doubtedSentence) float64 { return float64(min(len(d.words)-d.common, maxOtherWords)) }, 0.37},
	{isSign(func(d *doubtedSentence) bool { return d.stated == nil }), -0.82},
	{isSign(func(d *doubtedSentence) bool { return d.stated != nil && len(d.verdicts) == 0 }), 0.65},
	{isSign(func(d *doubtedSentence) bool { return isQuestion(d.tokens) }), 0.67},
	{isSign((*doubtedSentence).isUnread), 1.07},
	{isSign((*doubtedSentence).isTrue), -1.27},
	{isSign(func(d *doubtedSentence) bool { return d.common == 0 }), -1.99},
	{isSign(func(d *doubtedSentence) bool { return d.common == 1 }), -1.09},
	{isSign(func(d *doubtedSentence) bool { return d.common > 2 }), -0.72},
	{isSign(func(d *doubtedSentence) bool { return hasWord(d.tokens, denying) }), 0.18},
	{isSign(func(d *doubtedSentence) bool { return d.countNames() > 1 }), 0.58},
	{isSign(func(d *doubtedSentence) bool { return d.countNames() > 2 }), 1.02},
	{isSign((*doubtedSentence).meetsOpposite), 0.41},
	{isSign(func(d *doubtedSentence) bool { return d.leavesOpen(Happened) }), 0.34},
	{isSign(func(d *doubtedSentence) bool { return d.leavesOpen(Acts) || d.leavesOpen(Dead) }), -0.80},
	{isSign(func(d *doubtedSentence) bool { return d.leavesOpen(Weather) }), -0.61},
	{isSign(func(d *doubtedSentence) bool { return d.leavesOpen(Holds) || d.leavesOpen(Gives) }), -0.20},
	{isSign(func(d *doubtedSentence) bool { return d.leavesOpen(Exists) }), -0.46},
	{isSign(func(d *doubtedSentence) bool { return d.claims(Happened) }), -0.45},
	{isSign((*doubtedSentence).meetsNumber), 0.90},
	{isSign(func(d *doubtedSentence) bool { return d.weather && mayTellWeather(d.tokens) }), 1.01},
	{isSign(func(d *doubtedSentence) bool { return d.stated != nil && tellsPast(d.tokens) }), 0.35},
	{isSign(func(d *doubtedSentence) bool { return hasHedge(d.tokens) }), 0.35},
	{isSign(func(d *doubtedSentence) bool { return hasWord(d.tokens, ownWords) }), -0.85},
}

var (
	denying  = wordSet("not no never nobody none")
	ownWords = wordSet("i my me we our us mine")
)

func isSign(present func(*doubtedSentence) bool) func(*doubtedSentence) float64 {
	return func(d *doubtedSentence) float64 {
		if present(d) {
			return 1
		}
		return 0
	}
}

// Doubtful returns the sentences of a text that the canon may deny although Check did not refuse them, and the lines of
// the canon about the text. There is no doubt where the canon tells nothing.
func Doubtful(text string, w *World, verdicts []Verdict) (sentences, told []string) {
	if told = Told(text, w); len(told) == 0 {
		return nil, nil
	}
	lines := make([]toldLine, len(told))
	for i, line := range told {
		lines[i].tokens = tokensOf(line)
		lines[i].words = contentOf(lines[i].tokens)
	}
	r := newReader(w)
	statements := r.statements(text)
	for s := range meaning.Sentences(r.spoken(text)) {
		d := doubtedSentence{tokens: tokensOf(s), weather: w.Weather != ""}
		if i := slices.IndexFunc(statements, func(st statement) bool { return st.text == s }); i >= 0 {
			d.stated = &statements[i]
		}
		for _, v := range verdicts {
			if v.Text == s {
				d.verdicts = append(d.verdicts, v)
			}
		}
		if d.findNearLines(lines); d.doubt() >= leastDoubt {
			sentences = append(sentences, s)
		}
	}
	return sentences, told
}

// A toldLine is a line of the canon.
type toldLine struct {
	tokens []token
	words  []string // those of content
}

// A doubtedSentence is a sentence with all that was read of it. stated is nil if it seems to assert nothing.
type doubtedSentence struct {
	tokens   []token
	stated   *statement
	verdicts []Verdict
	weather  bool // the canon tells the weather

	words  []string   // those of content
	near   []toldLine // lines with a common word
	common int        // words that the nearest line has
}

// findNearLines finds the lines that have words of the sentence.
func (d *doubtedSentence) findNearLines(lines []toldLine) {
	d.words = contentOf(d.tokens)
	for i, n := range countCommon(d.words, lines) {
		if n > 0 {
			d.near = append(d.near, lines[i])
		}
		d.common = max(d.common, n)
	}
}

// doubt adds the weights of the signs.
func (d *doubtedSentence) doubt() (sum float64) {
	for _, s := range signs {
		sum += s.weight * s.of(d)
	}
	return sum
}

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

// countNames returns the number of entities that a sentence names.
func (d *doubtedSentence) countNames() int {
	named := map[int]bool{}
	if d.stated != nil {
		for _, m := range d.stated.named {
			named[m.entity] = true
		}
	}
	return len(named)
}

// claims reports whether a claim of a kind was read.
func (d *doubtedSentence) claims(p Predicate) bool {
	return slices.ContainsFunc(d.verdicts, func(v Verdict) bool { return v.Predicate == p })
}

// leavesOpen reports whether the canon does not settle a claim of a kind.
func (d *doubtedSentence) leavesOpen(p Predicate) bool {
	return slices.ContainsFunc(d.verdicts, func(v Verdict) bool { return v.Predicate == p && v.Truth == Unsure })
}

// meetsNumber reports whether the sentence and a line about it have numbers.
func (d *doubtedSentence) meetsNumber() bool {
	return hasNumber(d.tokens) && slices.ContainsFunc(d.near, func(l toldLine) bool { return hasNumber(l.tokens) })
}

// hasNumber reports whether a sentence has a number but one.
func hasNumber(list []token) bool {
	for i := range list {
		if n, _, ok := numberAt(list, i); ok && n != 1 {
			return true
		}
	}
	return false
}

// meetsOpposite reports whether a line about the sentence has the opposite of one of its words.
func (d *doubtedSentence) meetsOpposite() bool {
	return slices.ContainsFunc(d.words, func(word string) bool {
		opposites := meaning.Opposites(word)
		return len(opposites) > 0 && slices.ContainsFunc(d.near, func(l toldLine) bool {
			return slices.ContainsFunc(l.words, func(w string) bool { return slices.Contains(opposites, w) })
		})
	})
}

// countCommon returns the number of words that each of some lines has: the same, synonyms or derivations. It looks up
// each word once, since [shared] takes too long for a text of many sentences.
func countCommon(words []string, lines []toldLine) []int {
	common := make([]int, len(lines))
	for _, word := range words {
		near := slices.Concat([]string{word}, meaning.Synonyms(word, meaning.Verb), meaning.Synonyms(word, meaning.Noun),
			meaning.Derived(word))
		for i, line := range lines {
			if slices.ContainsFunc(line.words, func(w string) bool { return slices.Contains(near, w) }) {
				common[i]++
			}
		}
	}
	return common
}
