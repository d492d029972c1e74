package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/fault"
	"loregate/internal/store/memory"
)

func (s *scene) importTurns(text string, o exchange.Options) exchange.Summary {
	s.T.Helper()
	sum, err := Import(s.T.Context(), s.Canon, s.As("admin"), strings.NewReader(text), o)
	if err != nil {
		s.T.Fatal(err)
	}
	return sum
}

func TestTurnsBecomeCards(t *testing.T) {
	s := newScene(t)
	record := `{"ep": "E1", "n": 0, "names": ["MATT"], "text": "Hello [[there]]"}

{"ep": "E1", "n": 1, "names": ["A", "B"], "text": "both", "mood": "glad"}
nonsense
{"ep": "E1"}
{"ep": "a/b", "n": 1}
{"ep": "E1", "n": 1, "text": "again"}
{"ep": "E2", "n": 12345, "text": "x` + strings.Repeat("x", maxTurnLine) + `"}
{"ep": "E2", "n": 12345}`
	sum := s.importTurns(record, exchange.Options{Label: "play"})
	if sum.Created != 5 {
		t.Errorf("created %d, want 5: %s", sum.Created, sum)
	}
	var got []string
	for _, p := range sum.Problems {
		got = append(got, p.String())
	}
	want := []string{
		"play:4: is not a JSON object; left out",
		"play:5: has no valid ep or n, or names or text of another type; left out",
		`play:6: "a/b" is not a valid name of an episode, or 1 not a valid number of a turn; left out`,
		"play:7: turn 1 of E1 occurs twice; left out",
		"play:8: is longer than 1048576 bytes; left out",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems %q\nwant %q", got, want)
	}
	c, text, _ := s.Content("user", "E1+0001")
	if text != "both" || string(c.Fields) != `{"mood":"glad","speakers":["A","B"]}` || c.Type != "PlainText" {
		t.Errorf("E1+0001: %q %s %s", text, c.Fields, c.Type)
	}
	if again := s.importTurns(record, exchange.Options{Label: "play"}); again.Created+again.Updated > 0 {
		t.Errorf("importing again: %s", exchangetest.FirstLine(again))
	}
}

func TestSecretTurnsStaySecret(t *testing.T) {
	s := newScene(t)
	s.importTurns(`{"ep":"E1","n":1,"text":"psst"}`, exchange.Options{Level: access.LevelGM})
	if _, _, ok := s.Content("user", "E1"); ok {
		t.Error("a user sees the episode")
	}
	if _, text, _ := s.Content("gm", "E1+0001"); text != "psst" {
		t.Errorf("the gm reads %q", text)
	}
}

func TestBrokenFileIsReported(t *testing.T) {
	var lines bytes.Buffer
	for i := range 50 {
		fmt.Fprintf(&lines, `{"ep":"E1","n":%d,"text":"%x"}`+"\n", i, time.Duration(i*7919))
	}
	s := newStoredScene(t)
	_, err := Import(t.Context(), s.Canon, s.As("admin"),
		io.MultiReader(&lines, iotest.ErrReader(errors.New("the disk is damaged"))), exchange.Options{})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("half a file: %v", err)
	}
	if _, _, ok := s.Content("user", "E1+0000"); !ok {
		t.Error("what could be read did not come in")
	}
}

// FuzzTurns checks that no bytes cause a panic, or cards that players see against the level.
func FuzzTurns(f *testing.F) {
	f.Add([]byte(`{"ep": "E1", "n": 0, "names": ["MATT"], "text": "Hello [[there]]"}`))
	f.Add([]byte(`{"ep": "E1+gm", "n": -1e99, "names": [null, {}]}` + "\n{}\n[]"))
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(ctx context.Context, c *canon.Canon, g access.Grant, _ fs.FS, o exchange.Options) (exchange.Summary,
			error) {
			return Import(ctx, c, g, bytes.NewReader(data), o)
		}
		exchangetest.CheckHostile(t, memory.New(), nil, read)
	})
}

func TestRealTurns(t *testing.T) {
	if testing.Short() {
		t.Skip("120,000 turns take a while")
	}
	if os.Getenv("LOREGATE_TEST_TURNS") == "" {
		t.Skip("set LOREGATE_TEST_TURNS=1 to import 120,000 turns")
	}
	f, err := os.Open(filepath.Join(exchangetest.RealData(t, "crd3-campaign1"), "turns.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := newStoredScene(t)
	var most uint64
	start := time.Now()
	sum, err := Import(t.Context(), s.Canon, s.As("admin"), f,
		exchange.Options{Label: "crd3", Progress: func(done, _ int) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
		}})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("%s%s, %.0f cards/s, %d MiB", sum, took.Round(time.Millisecond), float64(sum.Created)/took.Seconds(), most>>20)
	if sum.Created < 120_000 || most > 500<<20 {
		t.Errorf("%d cards, %d MiB", sum.Created, most>>20)
	}
	if _, text, _ := s.Content("user", "C1E001+0002"); !strings.Contains(text, "Grog Strongjaw") {
		t.Errorf("C1E001+0002: %q", text)
	}
}

// TestHiddenTurnsStandInPlace imports a turn with a hidden part and a hidden field.
func TestHiddenTurnsStandInPlace(t *testing.T) {
	s := newScene(t)
	record := `{"ep":"E1","n":1,"text":"I nod [gm]and lie[/gm] to him.","mood":"[gm]afraid[/gm]","tone":"calm"}`
	sum := s.importTurns(record, exchange.Options{})
	if _, text, _ := s.Content("gm", "E1+0001"); text != "I nod [gm]and lie[/gm] to him." || sum.Hidden != 1 {
		t.Errorf("game masters read %q; %d cards with hidden parts", text, sum.Hidden)
	}
	c, text, _ := s.Content("user", "E1+0001")
	if strings.Contains(text, "lie") || string(c.Fields) != `{"tone":"calm"}` {
		t.Errorf("players read %q %s", text, c.Fields)
	}
	if again := s.importTurns(record, exchange.Options{}); again.Created+again.Updated > 0 {
		t.Errorf("importing again: %s", exchangetest.FirstLine(again))
	}
}
