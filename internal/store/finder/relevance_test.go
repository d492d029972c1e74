package finder

import (
	"slices"
	"testing"

	"loregate/internal/canon"
	"loregate/internal/search"
)

func TestWordsAreSearchedWithRelatedOnes(t *testing.T) {
	texts := func(language, word string) (list []string) {
		for _, v := range variantsOf(language, word) {
			list = append(list, v.Piece.Text)
		}
		return list
	}
	if got := texts("en", "slumber"); got[0] != "slumber" || !slices.Contains(got, "sleep") {
		t.Errorf("slumber is searched as %q", got)
	}
	if got := texts("de", "slumber"); len(got) != 1 {
		t.Errorf("in another language slumber is searched as %q", got)
	}
	for _, word := range []string{"run", "get", "take", "set"} { // words of many senses
		if got := texts("en", word); len(got) > maxRelated+1 {
			t.Errorf("%q is searched as %d words, want at most %d", word, len(got), maxRelated+1)
		}
	}
	if got := synonymsOf("en", "big cat"); got["lion"] != 1 {
		t.Errorf("names for a big cat: %v", got)
	}
	if got := synonymsOf("en", "the biggest of all cats"); got != nil {
		t.Errorf("a sentence has the names %v", got)
	}
}

// TestSideCardsFollowTheirCard gives a list of tags the greater score.
func TestSideCardsFollowTheirCard(t *testing.T) {
	quay := canon.Card{ID: canon.CardID{1}, Key: "quay", Name: "Quay"}
	tags := canon.Card{ID: canon.CardID{2}, Key: "quay+tag", Name: "Quay+tags", Parent: quay.ID}
	sea := canon.Card{ID: canon.CardID{3}, Key: "sea", Name: "Sea"}
	hit := func(c canon.Card, score float64) search.Hit {
		return search.Hit{ID: search.ID(c.ID), Row: rowOf(&c, 1), Score: score}
	}
	f := fusion{near: map[search.ID]float64{{3}: 1}, isSide: func(b []byte) bool { return readRow(b).ownName() == "Quay+tags" }}
	items := f.fuseHits(search.Ranking{Hits: []search.Hit{hit(tags, 9), hit(quay, 2)}, Also: []search.Hit{hit(sea, 0)}})
	var names []string
	for _, x := range items {
		names = append(names, readRow(x.row).ownName())
	}
	if want := []string{"Sea", "Quay", "Quay+tags"}; !slices.Equal(names, want) {
		t.Errorf("the order is %q, want %q", names, want)
	}
}
