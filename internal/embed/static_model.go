package embed

import (
	"context"
	"math"
)

// Model is a static embedding model: it has one vector for each token, and a text's vector is the weighted mean of those
// of its tokens. It needs no endpoint. It is safe for concurrent use.
//
// The format of its file: the line "loregate static model 1", the length of a header as a uint32, the header in JSON, then
// for each row the length of its token as a uint16 and the token; for each row its scale, a float32; the rows, one byte
// for each number; and the SHA-256 of all these. Numbers are little-endian.
type Model struct {
	Info
	tokens map[string]uint32 // the row of each token
	list   []string          // the token of each row
	scales []float32         // by row: the weight of a token, and the size of its numbers
	rows   []int8
}

// Info describes a model.
type Info struct {
	Kind      string `json:"kind"` // Words or WordPieces
	Rows      int    `json:"rows"`
	Length    int    `json:"length"` // of a vector
	Lowercase bool   `json:"lowercase"`
	Accents   bool   `json:"accents"` // tokens have accents
	Prefix    string `json:"prefix"`  // of a piece within a word
	Unknown   string `json:"unknown"` // the token of unknown words, which is left out
}

// The kinds of models, by their tokens.
const (
	Words      = "words"
	WordPieces = "word pieces"
)

// Bounds of a model.
const (
	maxRows    = 1 << 20
	maxLength  = 4096
	maxNumbers = 1 << 29
	maxToken   = 256  // bytes
	maxTokens  = 1024 // tokens of a text that count
)

// Embed returns a vector for each text, in order. A text without a known token has a zero vector.
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = m.embedText(text)
	}
	return out, nil
}

func (m *Model) embedText(text string) []float32 {
	v := make([]float32, m.Length)
	for n, token := range m.findRows(text) {
		if n == maxTokens {
			break
		}
		row := m.rows[int(token)*m.Length:][:m.Length]
		for k, x := range row {
			v[k] += m.scales[token] * float32(x)
		}
	}
	return v
}

// setRow stores a vector with a weight as a row of small numbers.
func (m *Model) setRow(i int, v []float32, weight float64) {
	var most float64
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	if most == 0 {
		return
	}
	for k, x := range v {
		m.rows[i*m.Length+k] = int8(math.Round(float64(x) / most * 127))
	}
	m.scales[i] = float32(weight * most / 127)
}

// newModel returns a model without vectors. Tokens are added in the order of rows.
func newModel(info Info) *Model {
	return &Model{Info: info, tokens: make(map[string]uint32, info.Rows), scales: make([]float32, info.Rows),
		rows: make([]int8, info.Rows*info.Length)}
}

// isFinite reports whether all numbers of a vector can be used.
func isFinite(v []float32) bool {
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return false
		}
	}
	return true
}
