package lore

import (
	"cmp"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/srd"
	"loregate/internal/exchange/vault"
	"loregate/internal/raceenabled"
	"loregate/internal/sample"
	"loregate/internal/store/sqlite/sqlitetest"
)

// judged is a query and its relevant facts, graded 1 to 3.
type judged struct {
	query  string
	grades map[string]int
}

// rules reports whether the query is about the rules reference.
func (j judged) rules() bool {
	for id := range j.grades {
		return strings.HasPrefix(id, "srd-")
	}
	return false
}

// judgements reads the judged queries. The comments in the file say how they were judged.
func judgements(t testing.TB) (all []judged) {
	t.Helper()
	text, err := os.ReadFile("testdata/judgements.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		query, facts, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		j := judged{query, map[string]int{}}
		for _, f := range strings.Fields(facts) {
			id, grade, _ := strings.Cut(f, "=")
			if j.grades[id], err = strconv.Atoi(grade); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		all = append(all, j)
	}
	return all
}

// ndcg returns the normalized discounted cumulative gain of the first ten facts of a ranking
// (Järvelin and Kekäläinen 2002), with gains 2^grade-1.
func (j judged) ndcg(ranking []string) float64 {
	gain := func(rank, grade int) float64 { return (math.Exp2(float64(grade)) - 1) / math.Log2(float64(rank+2)) }
	var got, ideal float64
	for i, id := range ranking[:min(10, len(ranking))] {
		got += gain(i, j.grades[id])
	}
	grades := make([]int, 0, len(j.grades))
	for _, g := range j.grades {
		grades = append(grades, g)
	}
	slices.SortFunc(grades, func(a, b int) int { return cmp.Compare(b, a) })
	for i, g := range grades[:min(10, len(grades))] {
		ideal += gain(i, g)
	}
	return got / ideal
}

// library is a world with the sample and, if the real data is next to the repository, the rules
// reference.
type library struct {
	*loreScene
	rules bool
}

func newLibrary(t testing.TB) *library {
	t.Helper()
	b := &library{loreScene: newEmptyLore(t, sqlitetest.Open(t))}
	ctx := t.Context()
	if _, err := vault.Import(ctx, b.Canon, b.Admin, sample.Files(),
		vault.Options{Options: exchange.Options{Label: "sample"}, Native: true}); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "srd-2014")
	if _, err := os.Stat(dir); err == nil {
		b.rules = true
		if _, err := srd.Import(ctx, b.Canon, b.Admin, os.DirFS(dir),
			exchange.Options{Label: "srd-2014"}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// meanNDCG returns the mean nDCG@10 of the search over the queries that take accepts, and the value
// of each query.
func (b *library) meanNDCG(take func(judged) bool) (mean float64, each map[string]float64) {
	each = map[string]float64{}
	n := 0
	for _, j := range judgements(b.T) {
		if j.rules() && !b.rules || !take(j) {
			continue
		}
		each[j.query] = j.ndcg(found(b.As("user"), j.query, `"k": 10`))
		mean += each[j.query]
		n++
	}
	return mean / float64(n), each
}

// queryKinds are the sets of queries over which means are taken.
var queryKinds = map[string]func(judged) bool{
	"sample": func(j judged) bool { return !j.rules() },
	"rules":  judged.rules,
	"all":    func(judged) bool { return true },
}

// TestLoreSearchRelevance fails if the search becomes worse than when it was written.
func TestLoreSearchRelevance(t *testing.T) {
	if raceenabled.Detected {
		t.Skip("takes minutes under the race detector, and has one caller")
	}
	b := newLibrary(t)
	if n := len(judgements(t)); n < 60 {
		t.Errorf("%d queries are judged, want 60", n)
	}
	means := map[string]float64{}
	for kind, take := range queryKinds {
		mean, each := b.meanNDCG(take)
		t.Logf("%s queries: nDCG@10 %.3f", kind, mean)
		means[kind] = mean
		for _, q := range slices.Sorted(maps.Keys(each)) {
			if testing.Verbose() && kind == "all" && each[q] < 0.5 {
				t.Logf("  %.2f %s", each[q], q)
			}
		}
	}
	if means["sample"] < 0.86 || b.rules && means["all"] < 0.79 {
		t.Errorf("the search finds less than it did: %v", means)
	}
}

// BenchmarkSearchLore searches the facts of both collections through the operation.
func BenchmarkSearchLore(b *testing.B) {
	l := newLibrary(b)
	queries := judgements(b)
	i := 0
	for b.Loop() {
		i++
		l.As("user").Call("search-lore", `{"query": `+strconv.Quote(queries[i%len(queries)].query)+`}`)
	}
}

// BenchmarkSearchLoreAfterACommit measures the first search after a change of another card.
func BenchmarkSearchLoreAfterACommit(b *testing.B) {
	l := newLibrary(b)
	i := 0
	for b.Loop() {
		b.StopTimer()
		i++
		l.Edit("Rent Quay", canon.Edit{Content: new("<p>" + strconv.Itoa(i) + "</p>")})
		b.StartTimer()
		l.As("user").Call("search-lore", `{"query": "brass flood mark"}`)
	}
}
