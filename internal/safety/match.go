package safety

import "slices"

// An edge is a word or phrase of a class that begins at a token and covers span tokens.
type edge struct {
	class classID
	span  int
}

// A lattice is a text as the classes of its words and phrases. A sentence's end has no edges.
type lattice struct {
	edges [][]edge
	ends  []bool
}

// maxSpan is the most tokens that a phrase or a word written apart covers.
const maxSpan = 12

func (v *vocabulary) lattice(tokens []token) lattice {
	l := lattice{make([][]edge, len(tokens)), make([]bool, len(tokens))}
	var ids []classID
	for i, t := range tokens {
		l.ends[i] = t.end
		for at, r := range t.readings {
			ids = v.appendClasses(ids[:0], r.word)
			if len(ids) == 0 && at == 0 {
				ids = v.appendSwapped(ids, r.word)
			}
			for _, id := range ids {
				if r.span <= maxSpan {
					l.edges[i] = append(l.edges[i], edge{id, r.span})
				}
			}
		}
	}
	v.addPhrases(l)
	return l
}

// addPhrases adds the phrases of the sets, as words of their classes.
func (v *vocabulary) addPhrases(l lattice) {
	type place struct {
		at int
		edge
	}
	var list []place
	v.phrases.find(l, func(t *term, start, end int) {
		if end-start <= maxSpan {
			list = append(list, place{start, edge{classID(t.category), end - start}})
		}
	})
	for _, p := range list {
		if !slices.Contains(l.edges[p.at], p.edge) {
			l.edges[p.at] = append(l.edges[p.at], p.edge)
		}
	}
}

// without returns the lattice without the words of the marked tokens.
func (l lattice) without(marked []bool) lattice {
	out := lattice{make([][]edge, len(l.edges)), l.ends}
	for i, list := range l.edges {
		for _, e := range list {
			keep := true
			for at := i; at < min(i+e.span, len(marked)); at++ {
				keep = keep && !marked[at]
			}
			if keep {
				out.edges[i] = append(out.edges[i], e)
			}
		}
	}
	return out
}

// A state is a place in a term: the step that comes next, how many words may still be skipped before it,
// and the token at which the term began.
type state struct {
	step, skip, start int
}

// find calls found for each term that occurs, with the range of its tokens. Its time is linear in the text:
// at each token a step is waited for at most once.
func (x *index) find(l lattice, found func(t *term, start, end int)) {
	if len(x.steps) == 0 {
		return
	}
	var waiting [maxSpan + 1][]state
	var at [maxSpan + 1]map[int]int
	for i := range at {
		at[i] = map[int]int{}
	}
	push := func(token int, s state) {
		ring := token % (maxSpan + 1)
		if old, ok := at[ring][s.step]; ok {
			w := &waiting[ring][old]
			w.skip = max(w.skip, s.skip)
			w.start = min(w.start, s.start)
			return
		}
		at[ring][s.step] = len(waiting[ring])
		waiting[ring] = append(waiting[ring], s)
	}
	for i, edges := range l.edges {
		ring := i % (maxSpan + 1)
		if !l.ends[i] {
			for _, e := range edges {
				for _, first := range x.first[e.class] {
					x.advance(first, i, i+e.span, push, found)
				}
			}
			for k := 0; k < len(waiting[ring]); k++ {
				w := waiting[ring][k]
				for _, e := range edges {
					if e.class == x.steps[w.step].class {
						x.advance(w.step, w.start, i+e.span, push, found)
					}
				}
				if w.skip > 0 {
					push(i+1, state{w.step, w.skip - 1, w.start})
				}
			}
		}
		waiting[ring] = waiting[ring][:0]
		clear(at[ring])
	}
}

// advance reports a term whose step was its last, or waits for the next step, and for the one after it
// where the next may be absent.
func (x *index) advance(step, start, end int, push func(int, state), found func(*term, int, int)) {
	for ; ; step++ {
		s := &x.steps[step]
		if s.last {
			found(s.term, start, end)
			return
		}
		push(end, state{step + 1, s.skip, start})
		if !x.steps[step+1].optional {
			return
		}
	}
}
