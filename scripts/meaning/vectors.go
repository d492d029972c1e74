package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"slices"
)

// dimensions is the number of components of a vector.
const dimensions = 192

// word is a word, its rank by frequency, and its vector.
type word struct {
	text string
	rank int
	at   []float64
}

// makeVectors returns the file of word vectors, made from the JSON of distil.py. The mean of all vectors is
// subtracted: all words have it in common, and it hides the differences (Mu and Viswanath 2018).
func makeVectors(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var in struct {
		Words   []string    `json:"words"`
		Ranks   []int       `json:"ranks"`
		Vectors [][]float64 `json:"vectors"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, err
	}
	var words []word
	for i, w := range in.Words {
		words = append(words, word{w, in.Ranks[i], in.Vectors[i]})
	}
	removeMean(words)
	slices.SortFunc(words, func(a, b word) int { return compare(a.text, b.text) })
	return encodeVectors(words), nil
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
