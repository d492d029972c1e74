package front

import (
	"context"
	"math"
	"slices"

	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/op"
)

// Bounds of passages.
const (
	passageChars = 400  // of a passage
	passageText  = 8000 // bytes of a text in which a passage is looked for
)

// readPassage returns the part of a page that is nearest to a question; other if the page cannot be
// read.
func (f *Front) readPassage(ctx context.Context, c *op.Call, id, question, other string) (string, error) {
	page, err := invoke[struct {
		Text string `json:"text"`
	}](ctx, f, c, "fetch", args{"id": id})
	switch {
	case err == nil && page.Text != "":
		return passageOf(markup.Clip(page.Text, passageText), question), nil
	case err == nil, fault.KindOf(err) == fault.NotFound:
		return other, nil
	}
	return "", err
}

// passageOf returns the sentence of a text that has most of the words of a question, or words near to
// them, and as many of the sentences around it as there is room for. A word counts the more, the fewer
// sentences have it.
func passageOf(text, question string) string {
	sentences := slices.Collect(meaning.Sentences(text))
	words, in := make([][]word, len(sentences)), map[string]int{}
	for i, s := range sentences {
		words[i] = wordsOf(s, 1)
		for _, stem := range stemsOf(words[i]) {
			in[stem]++
		}
	}
	q := newQuery(question, func(stem string) float64 {
		return math.Log(1 + float64(len(sentences))/float64(max(in[stem], 1)))
	})
	best, most := 0, 0.0
	for i := range sentences {
		if sum, _ := q.match(words[i]); sum > most {
			best, most = i, sum
		}
	}
	if len(sentences) == 0 {
		return ""
	}
	passage := sentences[best]
	for before, after := best-1, best+1; before >= 0 || after < len(sentences); before, after = before-1, after+1 {
		if after < len(sentences) && len(passage)+len(sentences[after]) < passageChars {
			passage += " " + sentences[after]
		}
		if before >= 0 && len(passage)+len(sentences[before]) < passageChars {
			passage = sentences[before] + " " + passage
		}
		if len(passage) > passageChars/2 {
			break
		}
	}
	return cutSentence(passage, 2*passageChars)
}
