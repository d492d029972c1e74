package safety

// matchTerms marks the categories whose terms occur in a visible text, and raises scores to those of the scales.
func (p *Policy) matchTerms(seen string, found *evidence) {
	mark := func(t *term, _, _ int) { found.met[t.category], found.strong[t.category] = true, true }
	if p.format < 2 {
		for _, form := range wordForms(seen) {
			p.terms.find(p.words.latticeOfWords(form), mark)
		}
		return
	}
	tokens := readTokens(seen, p.words)
	l := p.words.lattice(tokens)
	if p.scales != nil {
		scores := p.scales.weigh(l, markSpeech(tokens))
		for i, score := range scores {
			if p.scales.bias[i] != 0 { // else the category is not weighed
				found.scores[i] = max(found.scores[i], score)
			}
		}
		mark = func(t *term, _, _ int) {
			d := p.scales.doubts[t.category]
			if scores[d.by] < d.below {
				return
			}
			found.met[t.category] = true
			if p.scales.bias[d.by] == 0 || scores[d.by] >= weakTerm {
				found.strong[t.category] = true
			}
		}
	}
	l = l.without(p.harmless.markRanges(l))
	p.terms.find(l, mark)
	framed := p.markFiction(tokens, l)
	l = l.without(framed)
	for i := range framed {
		l.ends[i] = l.ends[i] || framed[i]
	}
	p.outside.find(l, mark)
}

// markRanges marks the tokens of all matches.
func (x *index) markRanges(l lattice) []bool {
	marked := make([]bool, len(l.edges))
	x.find(l, func(_ *term, start, end int) {
		for i := start; i < min(end, len(marked)); i++ {
			marked[i] = true
		}
	})
	return marked
}

// minUnquoted is the least number of words outside quotation marks by which the words between them are
// speech in a narration.
const minUnquoted = 2

// markSpeech marks the tokens between quotation marks, if they are speech in a narration.
func markSpeech(tokens []token) []bool {
	unquoted := 0
	for _, t := range tokens {
		if !t.quoted && !t.end {
			unquoted++
		}
	}
	speech := make([]bool, len(tokens))
	for i, t := range tokens {
		speech[i] = t.quoted && unquoted >= minUnquoted
	}
	return speech
}

// markFiction marks the tokens in sentences that speak of a story or game, and of quoted speech. A sentence
// that says it is about the real world is not fiction.
func (p *Policy) markFiction(tokens []token, l lattice) []bool {
	fiction, real, framed := p.fiction.markRanges(l), p.real.markRanges(l), markSpeech(tokens)
	for from := 0; from < len(tokens); {
		to, told, meant := from, false, false
		for to < len(tokens) && !tokens[to].end {
			told, meant = told || fiction[to], meant || real[to]
			to++
		}
		for i := from; i < to; i++ {
			framed[i] = !meant && (told || framed[i])
		}
		from = to + 1
	}
	return framed
}

// latticeOfWords is the lattice of a text that has only one reading.
func (v *vocabulary) latticeOfWords(list []string) lattice {
	l := lattice{make([][]edge, len(list)), make([]bool, len(list))}
	for i, w := range list {
		for _, id := range v.appendClasses(nil, w) {
			l.edges[i] = append(l.edges[i], edge{id, 1})
		}
	}
	return l
}
