package search

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// The runs of a vocabulary are the three bytes after one another that its terms and the
// '\n' after each consist of. A dictionary of some size knows for each run the terms that
// have it: grams has 8 bytes a run, sorted, of which 4 are the run and 4 say where its terms
// begin in gramTerms; there they are uvarints of the differences, the first to -1.

const (
	gramSize = 3
	// gramsFrom is how many bytes of terms a dictionary has at least that knows runs: those of
	// some 100 documents. To go through fewer takes under 10 µs, and they are soon merged.
	gramsFrom = 1 << 14
)

// gramOf is a run as a number; its order is that of the bytes.
func gramOf(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// addGrams writes the runs of a dictionary's terms.
func (d *dictionary) addGrams() {
	if len(d.wordData) < gramsFrom {
		return
	}
	pairs := make([]uint64, 0, len(d.wordData))
	for term := range d.size() {
		word := d.wordData[number(d.words, term):number(d.words, term+1)]
		for ; len(word) >= gramSize; word = word[1:] {
			pairs = append(pairs, uint64(gramOf(word))<<32|uint64(term))
		}
	}
	last, before := end, end
	for _, pair := range slices.Compact(sortedByGram(pairs)) {
		gram, term := uint32(pair>>32), uint32(pair)
		if gram != last {
			d.grams = binary.LittleEndian.AppendUint32(d.grams, gram)
			d.grams = binary.LittleEndian.AppendUint32(d.grams, uint32(len(d.gramTerms)))
			last, before = gram, end
		}
		d.gramTerms = binary.AppendUvarint(d.gramTerms, uint64(term-before))
		before = term
	}
}

// sortedByGram puts pairs of a gram and a term, which come by term, in the order of the grams:
// byte by byte, from the last, which takes a fifth of the time of comparing them. It uses
// their memory.
func sortedByGram(pairs []uint64) []uint64 {
	other := make([]uint64, len(pairs))
	for shift := 32; shift < 32+8*gramSize; shift += 8 {
		var from [256]int
		for _, pair := range pairs {
			from[byte(pair>>shift)]++
		}
		at := 0
		for b, n := range from {
			from[b] = at
			at += n
		}
		for _, pair := range pairs {
			b := byte(pair >> shift)
			other[from[b]] = pair
			from[b]++
		}
		pairs, other = other, pairs
	}
	return pairs
}

// containing gives the terms that a text lies in, where '\n' stands for their end.
func (d *dictionary) containing(text []byte) (terms []int) {
	if len(d.grams) == 0 || len(text) < gramSize {
		return d.scanned(text)
	}
	var rarest []byte
	for at := 0; at+gramSize <= len(text); at++ {
		list := d.having(gramOf(text[at:]))
		if len(list) == 0 {
			return nil
		}
		if rarest == nil || len(list) < len(rarest) {
			rarest = list
		}
	}
	term := end
	for at := 0; at < len(rarest); {
		var step uint32
		step, at = uvarintAt(rarest, at)
		term += step
		from, to := number(d.words, int(term)), number(d.words, int(term)+1)
		if len(text) == gramSize || bytes.Contains(d.wordData[from:to], text) {
			terms = append(terms, int(term))
		}
	}
	return terms
}

// having gives the terms of a run, as they are kept.
func (d *dictionary) having(gram uint32) []byte {
	n := len(d.grams) / 8
	i := sort.Search(n, func(i int) bool { return uint32(number(d.grams, 2*i)) >= gram })
	if i == n || uint32(number(d.grams, 2*i)) != gram {
		return nil
	}
	to := len(d.gramTerms)
	if i+1 < n {
		to = number(d.grams, 2*i+3)
	}
	return d.gramTerms[number(d.grams, 2*i+1):to]
}

// scanned is containing for a dictionary without runs, or a text shorter than one.
func (d *dictionary) scanned(text []byte) (terms []int) {
	for from := 0; ; {
		i := bytes.Index(d.wordData[from:], text)
		if i < 0 {
			return terms
		}
		at := uint32(from + i)
		term := sort.Search(d.size(), func(i int) bool { return uint32(number(d.words, i+1)) > at })
		terms = append(terms, term)
		from = number(d.words, term+1)
	}
}
