package claim

import (
	"slices"
	"strings"
	"testing"
)

func TestDoubtful(t *testing.T) {
	for text, want := range map[string]bool{
		"The bridle never hangs with the page's torn old riding gear.": true,
		"Did you not know that the bridle hangs with the page?":        true,
		"The groom has the bridle.":                                    false, // it is true
		"Clouds gather.":                                               false, // about nothing in the canon
	} {
		w := saidBy("Cook")
		got, told := Doubtful(text, w, Check(text, w))
		if slices.Equal(got, []string{text}) != want || len(told) == 0 {
			t.Errorf("%q: the sentences %q are doubtful, and the canon says %q", text, got, told)
		}
	}
	if got, _ := Doubtful("The bridle never hangs.", &World{Place: None, Speaker: None, Listener: None}, nil); got != nil {
		t.Errorf("without canon %q is doubtful", got)
	}
}

func TestCountCommon(t *testing.T) {
	var lines []toldLine
	for _, line := range []string{"Great Hall: Six pillars carry the roof.", "The Groom has bridle."} {
		lines = append(lines, toldLine{words: contentOf(tokensOf(line))})
	}
	for said, want := range map[string]int{"The groom sold the bridle.": 2, "The hall stinks.": 1, "It is of the six.": 1,
		"Clouds gather.": 0} {
		if got := slices.Max(countCommon(contentOf(tokensOf(said)), lines)); got != want {
			t.Errorf("%q has %d words in common with a line, want %d", said, got, want)
		}
	}
}

func BenchmarkDoubtful(b *testing.B) {
	w := saidBy("Cook")
	text := strings.Repeat("The groom sold the bridle and carried six ladles to the chapel. ", 60)
	verdicts := Check(text, w)
	b.ReportAllocs()
	for b.Loop() {
		Doubtful(text, w, verdicts)
	}
}
