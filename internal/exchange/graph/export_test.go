package graph

import (
	"os"
	"path/filepath"
	"testing"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
)

func TestAGraphComesBack(t *testing.T) {
	checkComesBack(t, `{"entityType":"person","name":"Mira","observations":["plots"],"type":"entity","visibility":"gm"}
{"entityType":"person","name":"Mira","observations":["rows"],"type":"entity"}
{"entityType":"town","name":"Weir","observations":["old"],"type":"entity"}
{"from":"Mira","relationType":"haunts","to":"Weir","type":"relation","visibility":"gm"}
{"from":"Weir","relationType":"fears","to":"Mira","type":"relation","visibility":"gm"}
`)
	checkComesBack(t, `{"entityType":"person","name":"Mira","observations":["rows a ferry","is *old*"],"type":"entity"}
{"entityType":"town","name":"Weir","observations":["has a mill\nwith a wheel"],"type":"entity"}
{"from":"Mira","relationType":"lives in","to":"Weir","type":"relation"}
`)
}

func checkComesBack(t *testing.T, text string) {
	t.Helper()
	s := exchangetest.NewOn(t, memory.New())
	s.Import(Import, exchangetest.Files(map[string]string{"m.jsonl": text}), exchange.Options{Label: "x"})
	name := filepath.Join(t.TempDir(), "m.jsonl")
	if _, err := Export(t.Context(), s.Canon, s.As("gm"), name); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != text {
		t.Errorf("the graph came back as\n%s\nnot as\n%s (%v)", got, text, err)
	}
}
