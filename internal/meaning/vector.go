package meaning

import (
	_ "embed"
	"iter"
	"math"
	"sort"
	"strings"
	"unicode"
)

// Model names the version of the word vectors and of the way in which they are summed up.
const Model = "words-2"

// vectorFile has, all numbers little-endian uint32: the number of words and of dimensions; where each word begins, and
// the end; the rank by frequency of each word; the words, sorted; the components of each word's vector, as int8. The
// greatest component of a word is ±127. It is read in place: it takes no time to load and no heap.
//
//go:embed data/vectors.bin
var vectorFile string

// table is the file of word vectors.
type table struct {
	count, dimensions int
	starts, ranks     string
	words, components string
}

var vectors = openTable(vectorFile)

func openTable(f string) table {
	t := table{count: int(uint32At(f, 0)), dimensions: int(uint32At(f, 1))}
	f = f[8:]
	t.starts, f = f[:4*(t.count+1)], f[4*(t.count+1):]
	t.ranks, f = f[:4*t.count], f[4*t.count:]
	end := uint32At(t.starts, t.count)
	t.words, t.components = f[:end], f[end:]
	return t
}

func uint32At(s string, i int) uint32 {
	return uint32(s[4*i]) | uint32(s[4*i+1])<<8 | uint32(s[4*i+2])<<16 | uint32(s[4*i+3])<<24
}

func (t table) wordAt(i int) string { return t.words[uint32At(t.starts, i):uint32At(t.starts, i+1)] }

// findWord returns the components and the weight of a word. An unknown word has no components and the weight of a rare
// word.
func (t table) findWord(word string) (components string, weight float64) {
	i := sort.Search(t.count, func(i int) bool { return t.wordAt(i) >= word })
	if i == t.count || t.wordAt(i) != word {
		return "", 1
	}
	return t.components[i*t.dimensions:][:t.dimensions], weightOf(uint32At(t.ranks, i))
}

// weightOf returns the weight of a word with a rank: smooth inverse frequency (Arora, Liang and Ma 2017). The frequency
// follows from the rank by Zipf's law as Mandelbrot corrected it. frequencyScale is the parameter a of the paper;
// harmonic makes the frequencies of 340,000 words add up to 1.
func weightOf(rank uint32) float64 {
	frequency := 1 / (harmonic * (float64(rank) + 2.7))
	return frequencyScale / (frequencyScale + frequency)
}

const (
	frequencyScale = 1e-3
	harmonic       = 12.0
)

// A Vector stands for the meaning of a text: texts of similar meaning have vectors at a small angle. Its length is 1,
// or 0 if no word of the text is known.
type Vector []float32

// VectorOf returns the vector of a text, the weighted sum of the vectors of its words. weight returns a further weight
// of a word, in lower case; nil is 1 for each.
func VectorOf(text string, weight func(word string) float64) Vector {
	sum := make(Vector, vectors.dimensions)
	for word := range Words(text) {
		components, w := vectors.findWord(word)
		if components == "" {
			continue
		}
		if weight != nil {
			w *= weight(word)
		}
		w /= math.Sqrt(float64(dotOf(components, components)))
		for i := range sum {
			sum[i] += float32(w) * float32(int8(components[i]))
		}
	}
	return sum.scaled()
}

// scaled returns the vector with length 1, or unchanged if it is zero.
func (v Vector) scaled() Vector {
	length := float32(math.Sqrt(float64(v.Dot(v))))
	if length == 0 {
		return v
	}
	for i := range v {
		v[i] /= length
	}
	return v
}

// Dot returns the scalar product of two vectors: for vectors of texts, the cosine of their angle. Vectors of different
// dimensions have the product 0.
func (v Vector) Dot(o Vector) (sum float32) {
	if len(v) != len(o) {
		return 0
	}
	for i := range v {
		sum += v[i] * o[i]
	}
	return sum
}

// dotOf returns the scalar product of the components of two words.
func dotOf(a, b string) (sum int32) {
	for i := range len(a) {
		sum += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return sum
}

// Words returns the runs of letters of a text in lower case, without the s of a possessive.
func Words(text string) iter.Seq[string] {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	return func(yield func(string) bool) {
		for field := range strings.FieldsFuncSeq(text, isBetweenWords) {
			if word, _, _ := strings.Cut(field, "'"); word != "" && !yield(word) {
				return
			}
		}
	}
}

func isBetweenWords(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }
