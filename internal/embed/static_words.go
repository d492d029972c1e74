package embed

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Bounds of word vectors as text.
const (
	maxWords   = 200_000 // the most frequent words, which come first
	maxLine    = 1 << 17
	leastWords = 2
)

// smoothing weights words by their frequency, as a in Arora et al. 2017, "A simple but tough-to-beat baseline for
// sentence embeddings". A word's frequency is estimated by its rank.
const smoothing = 1e-3

// ReadWords reads word vectors as text: a word and its numbers on each line, the most frequent words first. A first
// line of two numbers, as word2vec writes it, is skipped.
func ReadWords(r io.Reader) (*Model, error) {
	var words []string
	var vectors []float32
	length := 0
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), maxLine)
	for number := 1; in.Scan() && len(words) < maxWords; number++ {
		fields := strings.Fields(in.Text())
		if number == 1 && len(fields) == 2 || len(fields) == 0 {
			continue
		}
		if length == 0 {
			length = len(fields) - 1
		}
		if length >= 2 && len(fields) > length+1 {
			continue // a word with blanks
		}
		if length < 2 || length > maxLength || len(fields) != length+1 {
			return nil, fmt.Errorf("line %d is not a word and %d numbers, as in word vectors", number, max(length, 2))
		}
		if len(fields[0]) > maxToken || (len(words)+1)*length > maxNumbers {
			return nil, fmt.Errorf("line %d is too much: a word has at most %d bytes, all words %d numbers", number, maxToken,
				maxNumbers)
		}
		for _, text := range fields[1:] {
			x, err := strconv.ParseFloat(text, 32)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("line %d has %q in the place of a number", number, text[:min(len(text), 40)])
			}
			vectors = append(vectors, float32(x))
		}
		words = append(words, fields[0])
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("a line is longer than %d bytes, or the file cannot be read: %w", maxLine, err)
	}
	if len(words) < leastWords {
		return nil, fmt.Errorf("it has no word vectors: a word and its numbers on each line")
	}
	lower := !slices.ContainsFunc(words, func(w string) bool { return w != strings.ToLower(w) })
	m := newModel(Info{Kind: Words, Rows: len(words), Length: length, Lowercase: lower, Accents: true})
	mean := usualVector(vectors, length)
	for i, w := range words {
		v := vectors[i*length:][:length]
		for k := range v {
			v[k] -= mean[k]
		}
		m.setRow(i, v, smoothing/(smoothing+frequencyOf(i, len(words))))
		if _, ok := m.tokens[w]; !ok {
			m.tokens[w] = uint32(i)
		}
	}
	m.list = words
	return m, nil
}

// frequencyOf estimates the share of a word among all words of a text by its rank, from 0 (Zipf's law).
func frequencyOf(rank, words int) float64 {
	return 1 / (float64(rank+1) * (math.Log(float64(words)) + 0.5772))
}

// usualVector returns the mean of vectors, weighted by the frequencies of their words: all texts have it in common.
func usualVector(vectors []float32, length int) []float32 {
	mean := make([]float64, length)
	words, all := len(vectors)/length, 0.0
	for i := range words {
		f := frequencyOf(i, words)
		f *= smoothing / (smoothing + f)
		all += f
		for k, x := range vectors[i*length:][:length] {
			mean[k] += f * float64(x)
		}
	}
	out := make([]float32, length)
	for k := range out {
		out[k] = float32(mean[k] / all)
	}
	return out
}
