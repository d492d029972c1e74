package lore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/wait"
)

// Embedder turns texts into vectors of one length; texts of similar meaning have vectors close to
// each other. Callers pass many texts at once. Package embed and test fakes implement it.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// vectors ranks facts by the similarity of their vectors to that of a query. The vector of each fact
// is requested once for each version of its text and names, and cached as eight-bit numbers. Only
// facts that everyone at the reader's level sees are compared.
type vectors struct {
	embedder Embedder
	logger   *slog.Logger
	breaker  wait.Breaker

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

// breakerRest is the time for which searches do without a model that has failed three times.
const breakerRest = time.Minute

// maxVectorFacts is the number of facts, in the order of their names, that vectors are compared of.
const maxVectorFacts = canon.CountCap

// vectorWeight is the score of a fact whose vector is six standard deviations nearer to the query
// than usual, relative to the best hit by words. Simulated models of quality 0.68 to 0.98 gain most at
// about 1.
const vectorWeight = 1.0

// addByVector adds the facts nearest to a query to the hits by words, and orders both by words and
// vectors together. It returns the hits unchanged if the model fails or has failed often.
func (v *vectors) addByVector(ctx context.Context, snap *canon.Snapshot, f canon.Filter, query string,
	hits []canon.Hit) ([]canon.Hit, error) {
	now := snap.Clock()
	if v.breaker.Left(now) > 0 {
		return hits, nil
	}
	facts, _, err := snap.Cards(ctx, f, canon.Page{Limit: maxVectorFacts})
	if err != nil {
		return nil, err
	}
	facts = slices.DeleteFunc(facts, func(c canon.Card) bool { return snap.View().Level < c.Label.Level })
	asked, err := v.embedMissing(ctx, snap, facts, query)
	if !errors.Is(err, context.Canceled) {
		v.breaker.Note(now, err != nil, breakerRest)
	}
	if err != nil {
		v.logger.WarnContext(ctx, "lore is searched without vectors", "error", err)
		return hits, nil
	}
	return mergeByVector(hits, facts, v.deviations(asked, facts)), nil
}

// deviations returns how many standard deviations the vector of each fact is nearer to a query's
// than the mean; 0 for a fact without a vector.
func (v *vectors) deviations(asked vector, facts []canon.Card) []float64 {
	list := make([]float64, len(facts))
	known := make([]bool, len(facts))
	var n, sum, squares float64
	v.mu.Lock()
	for i, c := range facts {
		at, ok := v.kept[factHash(c)]
		if known[i] = ok; ok {
			list[i] = asked.cosine(at)
			n, sum, squares = n+1, sum+list[i], squares+list[i]*list[i]
		}
	}
	v.mu.Unlock()
	mean := sum / max(n, 1)
	deviation := math.Sqrt(max(squares/max(n, 1)-mean*mean, 0))
	for i := range list {
		if known[i] = known[i] && deviation > minDeviation; known[i] {
			list[i] = max(0, (list[i]-mean)/deviation)
		} else {
			list[i] = 0
		}
	}
	return list
}

// minDeviation is the least standard deviation of cosines that tells facts apart.
const minDeviation = 1e-6

// mergeByVector adds vectorWeight/6 for each deviation to the scores of facts, and sorts them. Hits
// without a score stay last.
func mergeByVector(hits []canon.Hit, facts []canon.Card, deviations []float64) []canon.Hit {
	at := map[canon.CardID]int{}
	var own []canon.Hit
	scored := hits[:0:0]
	most := 1e-9
	for _, h := range hits {
		if h.Score == 0 {
			own = append(own, h)
			continue
		}
		at[h.Card.ID] = len(scored)
		scored = append(scored, h)
		most = max(most, h.Score)
	}
	for i := range scored {
		scored[i].Score /= most
	}
	for i, c := range facts {
		n, ok := at[c.ID]
		if !ok && deviations[i] < minAlone {
			continue
		}
		if !ok {
			n = len(scored)
			scored = append(scored, canon.Hit{Card: c})
		}
		scored[n].Score += vectorWeight * deviations[i] / 6
	}
	slices.SortFunc(scored, func(a, b canon.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Card.Codename, b.Card.Codename))
	})
	return append(scored, own...)
}

// minAlone is the least number of deviations of a fact that is found by its vector alone.
const minAlone = 0.5

// embedMissing requests the vectors of the query and of facts that have none yet, and returns that of
// the query.
func (v *vectors) embedMissing(ctx context.Context, snap *canon.Snapshot, facts []canon.Card,
	query string) (vector, error) {
	keys, texts := [][32]byte{}, []string{}
	v.mu.Lock()
	asked, ok := v.kept[textHash(query)]
	if !ok {
		keys, texts = append(keys, textHash(query)), append(texts, query)
	}
	var missing []canon.Card
	for _, c := range facts {
		if _, ok := v.kept[factHash(c)]; !ok && len(missing) < maxEmbedded {
			missing = append(missing, c)
		}
	}
	v.mu.Unlock()
	for _, c := range missing {
		text, err := textOf(ctx, snap, c)
		if err != nil {
			return asked, err
		}
		keys, texts = append(keys, factHash(c)), append(texts, embedText(c, text))
	}
	if len(texts) == 0 {
		return asked, nil
	}
	got, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return asked, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.kept == nil || len(v.kept)+len(got) > maxVectors {
		v.kept = map[[32]byte]vector{}
	}
	for i, at := range got {
		if i < len(keys) {
			v.kept[keys[i]] = toVector(at)
		}
	}
	if !ok {
		asked = v.kept[textHash(query)]
	}
	return asked, nil
}

// factHash returns the key of a fact's vector: a hash of the world, the card, its names, the kind of
// its text and the hash of its content. Equal texts of two cards have two keys, so that the time of an
// answer does not tell that a hidden card has the same text.
func factHash(c canon.Card) [32]byte {
	return textHash(strings.Join(append([]string{string(c.World[:]), string(c.ID[:]), string(c.Content[:]), c.Type, c.Name},
		c.Aliases()...), "\x00"))
}

func textHash(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// embedText returns the text of a fact that is embedded: its names, then its text.
func embedText(c canon.Card, text string) string {
	return markup.Clip(c.Name+"\n"+strings.Join(c.Aliases(), "; ")+"\n"+text, maxEmbedText)
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
