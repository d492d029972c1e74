package lore

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math"
	"strings"
	"sync"

	"loregate/internal/markup"
)

// Embedder turns texts into vectors of one length; texts of similar meaning have vectors close to
// each other. Callers pass many texts at once. Package embed and test fakes implement it.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// vectors ranks facts by the similarity of their vectors to that of a query. The vector of each
// text is requested once and cached as eight-bit numbers under the text's hash, no matter which
// fact it belongs to. Only facts of the searched index are compared.
type vectors struct {
	embedder Embedder
	logger   *slog.Logger

	mu   sync.Mutex // guards kept
	kept map[[32]byte]vector
}

// vector is a vector scaled so that its largest component is ±127.
type vector struct {
	at   []int8
	norm float64 // Euclidean norm of at
}

// Bounds of the requests and of the cache.
const (
	maxEmbedded  = 256     // texts that one search embeds; the next search embeds more
	maxEmbedText = 2000    // characters of a text
	maxVectors   = 200_000 // cached vectors
)

// rankByVector returns the facts nearest to a query, best first. It returns none if the model
// fails, since the words have been searched anyway.
func (v *vectors) rankByVector(ctx context.Context, x *index, query string) []ranked {
	if err := v.embedMissing(ctx, x, query); err != nil {
		v.logger.WarnContext(ctx, "lore is searched without vectors", "error", err)
		return nil
	}
	v.mu.Lock()
	asked := v.kept[textHash(query)]
	near := make(map[int32]vector, len(x.docs))
	for i, d := range x.docs {
		if at, ok := v.kept[d.sum]; ok {
			near[int32(i)] = at
		}
	}
	v.mu.Unlock()
	scores := make(map[int32]float64, len(near))
	for doc, at := range near {
		if c := asked.cosine(at); c > 0 {
			scores[doc] = c
		}
	}
	return x.topRanked(scores)
}

// embedMissing requests the vectors of the query and of facts that have none yet.
func (v *vectors) embedMissing(ctx context.Context, x *index, query string) error {
	texts := []string{}
	v.mu.Lock()
	if _, ok := v.kept[textHash(query)]; !ok {
		texts = append(texts, query)
	}
	for _, d := range x.docs {
		if len(texts) >= maxEmbedded {
			break
		}
		if _, ok := v.kept[d.sum]; !ok {
			texts = append(texts, d.embedText())
		}
	}
	v.mu.Unlock()
	if len(texts) == 0 {
		return nil
	}
	got, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept == nil || len(v.kept)+len(got) > maxVectors {
		v.kept = map[[32]byte]vector{}
	}
	for i, at := range got {
		if i < len(texts) {
			v.kept[textHash(texts[i])] = toVector(at)
		}
	}
	return nil
}

func textHash(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// embedText returns the text of a fact that is embedded: its names, then its text.
func (d *doc) embedText() string {
	return markup.Clip(d.card.Name+"\n"+strings.Join(d.card.Aliases(), "; ")+"\n"+d.text, maxEmbedText)
}

func toVector(at []float32) vector {
	var most float64
	for _, f := range at {
		most = max(most, math.Abs(float64(f)))
	}
	v := vector{at: make([]int8, len(at))}
	if most == 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return v
	}
	var sum float64
	for i, f := range at {
		v.at[i] = int8(math.Round(float64(f) / most * 127))
		sum += float64(v.at[i]) * float64(v.at[i])
	}
	v.norm = math.Sqrt(sum)
	return v
}

// cosine returns the cosine similarity of two vectors, from -1 to 1, or 0 if their lengths differ
// or one of them is zero.
func (v vector) cosine(o vector) float64 {
	if len(v.at) != len(o.at) || v.norm == 0 || o.norm == 0 {
		return 0
	}
	var dot int64
	for i := range v.at {
		dot += int64(v.at[i]) * int64(o.at[i])
	}
	return float64(dot) / (v.norm * o.norm)
}
