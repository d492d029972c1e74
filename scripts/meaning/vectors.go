package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
)

const (
	wordCount  = 30_000 // the most frequent words
	dimensions = 100
)

// word is a word, its rank by frequency, and its vector.
type word struct {
	text string
	rank int
	at   []float64
}

// makeVectors returns the file of word vectors, made from the package's JSON. The mean of all vectors and their
// first principal component are subtracted: all words have them in common, and they hide the differences (Mu and
// Viswanath 2018).
func makeVectors(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var in struct {
		Words   []string             `json:"words"`
		Vectors map[string][]float64 `json:"vectors"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	var words []word
	for rank, w := range in.Words {
		if isWord(w) && len(in.Vectors[w]) >= dimensions && len(words) < wordCount {
			words = append(words, word{w, rank, in.Vectors[w][:dimensions]})
		}
	}
	removeMean(words)
	removeComponent(words)
	slices.SortFunc(words, func(a, b word) int { return compare(a.text, b.text) })
	return encodeVectors(words), nil
}

// isWord reports whether a token of the package is a word of two or more letters, or "i" or "a".
func isWord(w string) bool {
	for _, r := range w {
		if r < 'a' || r > 'z' {
			return false
		}
	}
	return len(w) > 1 && len(w) <= 24 || w == "i" || w == "a"
}

func removeMean(words []word) {
	mean := make([]float64, dimensions)
	for _, w := range words {
		for i, v := range w.at {
			mean[i] += v / float64(len(words))
		}
	}
	for _, w := range words {
		for i := range w.at {
			w.at[i] -= mean[i]
		}
	}
}

// removeComponent subtracts the first principal component, found by power iteration.
func removeComponent(words []word) {
	axis := make([]float64, dimensions)
	for i := range axis {
		axis[i] = 1
	}
	for range 60 {
		next := make([]float64, dimensions)
		for _, w := range words {
			along := dot(w.at, axis)
			for i, v := range w.at {
				next[i] += along * v
			}
		}
		length := math.Sqrt(dot(next, next))
		for i := range next {
			axis[i] = next[i] / length
		}
	}
	for _, w := range words {
		along := dot(w.at, axis)
		for i := range w.at {
			w.at[i] -= along * axis[i]
		}
	}
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// encodeVectors returns the file that package meaning describes.
func encodeVectors(words []word) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(words)))
	out = binary.LittleEndian.AppendUint32(out, dimensions)
	at := 0
	for _, w := range words {
		out = binary.LittleEndian.AppendUint32(out, uint32(at))
		at += len(w.text)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(at))
	for _, w := range words {
		out = binary.LittleEndian.AppendUint32(out, uint32(w.rank))
	}
	for _, w := range words {
		out = append(out, w.text...)
	}
	for _, w := range words {
		out = appendRounded(out, w.at)
	}
	return out
}

// appendRounded appends the components of a vector of length 1, as bytes that stand for -127 to 127. The largest
// is ±127.
func appendRounded(out []byte, at []float64) []byte {
	most := 0.0
	for _, v := range at {
		most = max(most, math.Abs(v))
	}
	for _, v := range at {
		out = append(out, byte(int8(math.Round(v/most*127))))
	}
	return out
}
