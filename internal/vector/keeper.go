package vector

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/wait"
)

// Embedder turns texts into vectors of one length; texts of similar meaning have vectors close to each other.
type Embedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Config configures a Keeper. Embedder and Model are required.
type Config struct {
	Embedder Embedder
	Model    string // identifies the model: other models have other vectors
	Folder   string // of the files; "" keeps vectors in memory only
	// Weight is the influence of vectors beside words; 0 is 1, that of a model which understands sentences.
	Weight float64
	// Recall is told the recall of stored vectors against those of the model, sampled from cards that everybody sees; nil
	// samples nothing.
	Recall func(w access.WorldID, share float64)
	Logger *slog.Logger
	Now    func() time.Time
}

// Keeper keeps the vectors of all worlds. It is safe for concurrent use.
type Keeper struct {
	cfg     Config
	breaker wait.Breaker

	mu     sync.RWMutex // guards worlds
	worlds map[access.WorldID]*world

	askMu sync.Mutex // guards asked
	asked map[question]vector
}

// world is the state of a world's vectors.
type world struct {
	head   canon.Seq // the commit whose cards are listed
	levels map[access.Level]*partition
}

// partition holds the vectors of the cards that everyone at a level sees, and nobody below it.
type partition struct {
	cards   map[canon.CardID]key
	vectors map[key][]vector
	size    int // number of vectors
	missing int // cards without vectors
}

// question is a query that was asked. Queries are kept by level, so that a fast answer tells nobody that others asked.
type question struct {
	world access.WorldID
	level access.Level
	text  string
}

// New returns a Keeper.
func New(c Config) (*Keeper, error) {
	if c.Embedder == nil || c.Model == "" {
		return nil, errors.New("vector: Embedder and Model must be set")
	}
	c.Logger, c.Weight = cmp.Or(c.Logger, slog.Default()), cmp.Or(c.Weight, 1)
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Keeper{cfg: c, worlds: map[access.WorldID]*world{}, asked: map[question]vector{}}, nil
}

// Bounds of a search.
const (
	askTimeout  = 2 * time.Second
	breakerRest = time.Minute // of searches without a model that has failed three times
	maxAsked    = 256         // queries whose vectors are kept
	maxNear     = 1000        // cards of an answer
	maxQuery    = 1000        // bytes of a query
)

// Weights of an answer. On both halves of the development searches, by a hash of their ids, all-MiniLM-L6-v2 gains most at
// a score of 1 for four standard deviations.
const (
	deviationScore = 1.0 / 4
	leastDeviation = 0.5
	leastSpread    = cosineScale / 1e4 // of cosines that tell cards apart; they are rounded
)

// Near implements [canon.Nearness].
func (k *Keeper) Near(ctx context.Context, id access.WorldID, level access.Level, query string) (out canon.NearResult) {
	asked, ok := k.askVector(ctx, question{id, level, query[:min(len(query), maxQuery)]})
	k.mu.RLock()
	defer k.mu.RUnlock()
	w := k.worlds[id]
	if !ok || w == nil {
		return out
	}
	out.Ready, out.At = true, w.head
	var list []canon.NearCard
	var sum, squares int64 // below 2^59, as no cosine is above cosineScale
	for l, p := range w.levels {
		if l > level {
			continue
		}
		out.Ready = out.Ready && p.missing == 0
		for card, of := range p.cards {
			if all := p.vectors[of]; len(all) > 0 {
				nearest := int64(math.MinInt64)
				for _, v := range all {
					nearest = max(nearest, asked.cosine(v))
				}
				list = append(list, canon.NearCard{ID: card, Score: float64(nearest)})
				sum, squares = sum+nearest, squares+nearest*nearest
			}
		}
	}
	out.Cards = scoreNear(list, float64(sum), float64(squares))
	for i := range out.Cards {
		out.Cards[i].Score *= k.cfg.Weight
	}
	return out
}

// scoreNear replaces cosines by scores, and returns the best of them.
func scoreNear(list []canon.NearCard, sum, squares float64) []canon.NearCard {
	n := float64(max(len(list), 1))
	mean := sum / n
	spread := math.Sqrt(max(squares/n-mean*mean, 0))
	if spread < leastSpread {
		return nil
	}
	for i := range list {
		list[i].Score = (list[i].Score - mean) / spread
	}
	list = slices.DeleteFunc(list, func(c canon.NearCard) bool { return c.Score < leastDeviation })
	slices.SortFunc(list, func(a, b canon.NearCard) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.ID[:], b.ID[:]))
	})
	list = list[:min(len(list), maxNear)]
	for i := range list {
		list[i].Score *= deviationScore
	}
	return list
}

// askVector returns the vector of a query. ok is false if the model does not answer in time.
func (k *Keeper) askVector(ctx context.Context, q question) (v vector, ok bool) {
	k.askMu.Lock()
	v, ok = k.asked[q]
	k.askMu.Unlock()
	if ok {
		return v, true
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	got, err := k.embed(ctx, []string{q.text})
	if err != nil {
		return v, false
	}
	v = toVector(got[0])
	k.askMu.Lock()
	defer k.askMu.Unlock()
	if len(k.asked) >= maxAsked {
		clear(k.asked)
	}
	k.asked[q] = v
	return v, true
}

// errResting is the error of embed while the model is not asked.
var errResting = errors.New("the embedding model failed three times in a row and is not asked for a minute")

// embed asks the model, unless it has failed often.
func (k *Keeper) embed(ctx context.Context, texts []string) ([][]float32, error) {
	if k.breaker.Left(k.cfg.Now()) > 0 {
		return nil, errResting
	}
	got, err := k.cfg.Embedder.Embed(ctx, texts)
	if err == nil && (len(got) != len(texts) || len(got[0]) == 0 || len(got[0]) > maxLength) {
		err = errors.New("the embedding model gave vectors of the wrong number or length")
	}
	if !errors.Is(err, context.Canceled) {
		k.breaker.Note(k.cfg.Now(), err != nil, breakerRest)
	}
	if err != nil {
		k.cfg.Logger.WarnContext(ctx, "texts could not be embedded; searches do without them", "error", err)
	}
	return got, err
}

// fileOf returns the file of a level's vectors, or "" if they are kept in memory only.
func (k *Keeper) fileOf(w access.WorldID, level access.Level) string {
	if k.cfg.Folder == "" {
		return ""
	}
	return filepath.Join(k.modelFolder(), w.String(), strconv.Itoa(int(level))+".vec")
}

func (k *Keeper) modelFolder() string {
	sum := sha256.Sum256([]byte(k.cfg.Model))
	return filepath.Join(k.cfg.Folder, hex.EncodeToString(sum[:8]))
}
