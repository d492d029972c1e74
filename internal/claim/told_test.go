package claim

import (
	"slices"
	"strings"
	"testing"
)

func TestUnread(t *testing.T) {
	for text, want := range map[string]string{
		"The bridle hangs with the page's gear.":      "The bridle hangs with the page's gear.",
		"The groom has the bridle.":                   "", // read
		"Follow the page out. Does the page know it?": "", // an order and a question
		"Clouds gather.":                              "", // about nobody
	} {
		w := saidBy("Cook")
		if got := strings.Join(Unread(text, w, Check(text, w)), " "); got != want {
			t.Errorf("%q has the unread sentences %q, want %q", text, got, want)
		}
	}
}

func TestHaveInCommon(t *testing.T) {
	lines := []string{"Great Hall: Six pillars carry the roof.", "The Groom has bridle."}
	for said, want := range map[string]int{"The groom sold the bridle.": 2, "The hall stinks.": 1, "It is of the six.": 1,
		"Clouds gather.": 0} {
		got := 0
		for HaveInCommon([]string{"Clouds gather.", said}, lines, got+1) {
			got++
		}
		if got != want {
			t.Errorf("%q has %d words in common with a line, want %d", said, got, want)
		}
	}
}

func BenchmarkHaveInCommon(b *testing.B) {
	said := strings.Fields(strings.Repeat("The_groom_sold_the_bridle_and_carried_six_ladles_to_the_chapel. ", 60))
	for i := range said {
		said[i] = strings.ReplaceAll(said[i], "_", " ")
	}
	lines := slices.Repeat(
		[]string{"Great Hall: Twelve windows of coloured glass light the nave, and a stone floor echoes."},
		maxTold,
	)
	b.ReportAllocs()
	for b.Loop() {
		HaveInCommon(said, lines, 3)
	}
}
