package command

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDoubtsFindWrongIntents judges the weights of the signs on the development intents of judgetest: a wrong reading
// must be doubted more than a right one as often as where the weights were fitted without the author of a case.
func TestDoubtsFindWrongIntents(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "app", "judgetest", "cases", "development", "intents.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var right, wrong []float64
	asked := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			Text string
			Want []string
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		p := Parse(c.Text)
		verb, _, unsure := p.First()
		if verb == "" {
			verb = "unknown"
		}
		if unsure {
			asked++
		}
		_, doubt := p.doubts()
		if slices.Contains(c.Want, string(verb)) {
			right = append(right, doubt)
		} else {
			wrong = append(wrong, doubt)
		}
	}
	above := 0
	for _, w := range wrong {
		for _, r := range right {
			if w > r {
				above++
			}
		}
	}
	area := float64(above) / float64(len(right)*len(wrong))
	share := float64(asked) / float64(len(right)+len(wrong))
	t.Logf("%d of %d readings are wrong; AUC of doubt %.3f, asked %.3f", len(wrong), len(right)+len(wrong), area, share)
	if area < 0.8 || share > 0.25 {
		t.Errorf("the AUC of doubt is %.3f, and a model is asked for %.3f: fit the weights again", area, share)
	}
}
