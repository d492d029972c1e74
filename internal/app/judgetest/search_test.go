package judgetest

import (
	"archive/zip"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/canon"
)

// A searchCase is a query and the cards that answer it, by name, with grades: 3 answers it, 2 helps, 1 is
// related. Kind is name, typo, alias, paraphrase, attribute, multi (several words) or question.
type searchCase struct {
	ID, Kind, Query, Source string
	Relevant                map[string]int
}

// A finder runs a query and returns names of cards, best first.
type finder struct {
	name string
	find func(t *testing.T, s *stage, query string) []string
}

var finders = []finder{{"search", searchAll}, {"search_cards", searchCards}, {"search-lore", searchLore}}

// depth is the number of results that are judged.
const depth = 10

// A searchSet is a corpus in a world of its own, and the queries that it is searched by.
type searchSet struct {
	stage *stage
	cases []searchCase
}

// TestSearch judges the ranking of whole corpora: both halves search the fifth edition's SRD, in
// cases/development/srd.zip or the folder JUDGE_CORPUS, and the locked half searches a corpus of its own too.
func TestSearch(t *testing.T) {
	for _, half := range halves {
		t.Run(half, func(t *testing.T) {
			if half == development && !whole() && os.Getenv("JUDGE_CORPUS") == "" {
				t.Skip("the whole SRD is searched by make judge, or if JUDGE_CORPUS names its folder")
			}
			a, _ := apptest.Open(t, apptest.Config(t, t.TempDir()), apptest.Quiet())
			srd := searchSet{stage: &stage{app: a, slug: "srd"}}
			var sets []searchSet
			if half == development {
				srd.cases = loadCases[searchCase](t, half, "search.jsonl")
			} else {
				srd.cases = loadCases[searchCase](t, half, "search-srd.jsonl")
				corpus := corpusWorld(loadCases[fixtureCard](t, half, "corpus.jsonl"))
				sets = append(sets, searchSet{setWorld(t, a, "corpus", corpus, "Start"),
					loadCases[searchCase](t, half, "search.jsonl")})
			}
			importCorpus(t, a, srd.stage.slug, srdFolder(t))
			sets = append(sets, srd)
			judgeSearch(t, half, "search", sets)
			a.Close(t.Context())
			c := a.Config
			judgeOracle(t, half, "search with an oracle embedder", c, newOracle(sets, 0), sets)
			simulated := newOracle(sets, realNoise)
			judgeOracle(t, half, "search with a simulated embedder", c, simulated, sets)
			alone := func(_ *testing.T, _ *stage, query string) []string { return simulated.rank(query) }
			judgeFinders(t, half, "search with a simulated embedder", []finder{{"embedder alone", alone}}, sets)
			if file := os.Getenv("JUDGE_MODEL"); file != "" {
				if _, err := app.InstallModel(c, file, "judged"); err != nil {
					t.Fatal(err)
				}
				judgeWithVectors(t, half, "search with a real embedder", c, sets)
			}
			if url := os.Getenv("JUDGE_EMBEDDER"); url != "" {
				c.Embedding.URL, c.Embedding.Model = url, "judged"
				judgeWithVectors(t, half, "search with a real embedder", c, sets)
			}
		})
	}
}

// TestSearchOfASmallWorld judges the ranking of one of the worlds that claims are judged in.
func TestSearchOfASmallWorld(t *testing.T) {
	const half = development
	cases := loadCases[searchCase](t, half, "search-small.jsonl")
	worlds := loadCases[fixtureWorld](t, half, "worlds.jsonl")
	w := worlds[slices.IndexFunc(worlds, func(w fixtureWorld) bool { return w.World == "baskerville" })].withoutHidden()
	for i, c := range w.Cards {
		if c.Type == "Character" || c.Type == "Event" {
			w.Cards[i].Codename = fmt.Sprintf("fact-%d", i)
		}
	}
	a, _ := apptest.Open(t, apptest.Config(t, t.TempDir()), apptest.Quiet())
	judgeSearch(t, half, "search small", []searchSet{{setWorld(t, a, "small", w, "Baskerville Hall"), cases}})
}

// srdFolder returns the folder with the SRD in JSON.
func srdFolder(t *testing.T) string {
	t.Helper()
	if folder := os.Getenv("JUDGE_CORPUS"); folder != "" {
		return folder
	}
	archive, err := zip.OpenReader(filepath.Join("cases", development, "srd.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	folder := t.TempDir()
	if err := os.CopyFS(folder, archive); err != nil {
		t.Fatal(err)
	}
	return folder
}

func importCorpus(t *testing.T, a *app.App, slug, folder string) {
	t.Helper()
	if _, err := a.CreateWorld(t.Context(), canon.NewWorld{Slug: slug, Title: "Corpus"}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Import(t.Context(), "srd", slug, folder, app.ImportOptions{Level: access.LevelUser}); err != nil {
		t.Fatal(err)
	}
}

func corpusWorld(cards []fixtureCard) fixtureWorld {
	start := fixtureCard{Name: "Start", Type: "Location", Text: "A place."}
	return fixtureWorld{Title: "Corpus", Cards: append([]fixtureCard{start}, cards...)}
}

// judgeSearch reports the mean nDCG@10 of each finder, over all queries and by kind. The figures with a bar are
// those of the finder that is worst at it.
func judgeSearch(t *testing.T, half, row string, sets []searchSet) {
	t.Helper()
	worst, counts := judgeFinders(t, half, row, finders, sets)
	for _, kind := range sortedKeys(worst) {
		report(t, half, row, kind, worst[kind], counts[kind])
	}
}

// judgeFinders reports the mean nDCG@10 of each finder, and returns the least ones by kind and their numbers of cases.
func judgeFinders(t *testing.T, half, row string, list []finder, sets []searchSet) (worst map[string]float64,
	counts map[string]int) {
	t.Helper()
	worst, counts = map[string]float64{}, map[string]int{}
	for _, f := range list {
		byKind := map[string][]float64{}
		for _, set := range sets {
			for _, c := range set.cases {
				score := ndcg(f.find(t, set.stage, c.Query), c.Relevant)
				byKind[c.Kind] = append(byKind[c.Kind], score)
				byKind["nDCG@10"] = append(byKind["nDCG@10"], score)
				if score < 0.5 {
					logMiss(t, half, "%s %s: %.2f for %q", f.name, c.ID, score, c.Query)
				}
			}
		}
		for _, kind := range sortedKeys(byKind) {
			value, n := mean(byKind[kind]), len(byKind[kind])
			report(t, half, row, f.name+": "+kind, value, n)
			if best, ok := worst[kind]; !ok || value < best {
				worst[kind] = value
			}
			counts[kind] = n
		}
	}
	return worst, counts
}

// ndcg returns the normalised discounted cumulative gain of the first ten names: each name gains
// 2^grade-1, divided by the logarithm of its rank plus one.
func ndcg(names []string, grades map[string]int) float64 {
	gain := func(grade, rank int) float64 { return (math.Exp2(float64(grade)) - 1) / math.Log2(float64(rank+2)) }
	got, seen := 0.0, map[string]bool{}
	for rank, name := range names[:min(len(names), depth)] {
		if !seen[name] {
			got += gain(grades[name], rank)
		}
		seen[name] = true
	}
	best := make([]int, 0, len(grades))
	for _, grade := range grades {
		best = append(best, grade)
	}
	slices.SortFunc(best, func(a, b int) int { return cmp.Compare(b, a) })
	ideal := 0.0
	for rank, grade := range best[:min(len(best), depth)] {
		ideal += gain(grade, rank)
	}
	return got / ideal
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(max(len(list), 1))
}

func searchAll(t *testing.T, s *stage, query string) (names []string) {
	t.Helper()
	var answer struct{ Results []struct{ Title string } }
	s.mustCall(t, "search", map[string]any{"query": query}, &answer)
	for _, r := range answer.Results {
		names = append(names, r.Title)
	}
	return names
}

func searchCards(t *testing.T, s *stage, query string) (names []string) {
	t.Helper()
	var answer struct{ Cards []struct{ Name string } }
	s.mustCall(t, "search_cards", map[string]any{"q": query, "limit": depth}, &answer)
	for _, c := range answer.Cards {
		names = append(names, c.Name)
	}
	return names
}

func searchLore(t *testing.T, s *stage, query string) (names []string) {
	t.Helper()
	var answer struct{ Items []struct{ FactID string } }
	s.mustCall(t, "search-lore", map[string]any{"query": query, "k": depth}, &answer)
	for _, f := range answer.Items {
		names = append(names, s.nameOfFact(t, f.FactID))
	}
	return names
}

// nameOfFact returns the name of the card with a codename.
func (s *stage) nameOfFact(t *testing.T, codename string) string {
	t.Helper()
	if name, ok := s.factNames[codename]; ok {
		return name
	}
	if s.factNames == nil {
		s.factNames = map[string]string{}
	}
	var card struct{ Name string }
	s.mustCall(t, "get_card", map[string]any{"name": ":" + codename, "max_content_length": 1}, &card)
	s.factNames[codename] = card.Name
	return card.Name
}
