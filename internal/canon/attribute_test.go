package canon_test

import (
	"strings"
	"testing"

	"loregate/internal/canon"
)

func TestAttributeText(t *testing.T) {
	got := strings.Fields(canon.AttributeText("Creature", []byte(`{"aliases": ["Nobody"], "challengeRating": 5,
		"kind": {"name": "undead"}, "senses": ["darkvision"], "ritual": true, "hover": false, "url": "/api/wraith",
		"weight": 0.5, "deep": {"a": {"b": {"c": {"d": "lost"}}}}, "text": "`+strings.Repeat("long ", 20)+`"}`)))
	want := []string{"Creature", "5", "challenge\ue0005", "Rating\ue0005", "undead", "darkvision",
		"ritual"}
	has := " " + strings.Join(got, " ") + " "
	for _, w := range want {
		if !strings.Contains(has, " "+w+" ") {
			t.Errorf("the attributes %q lack %q", got, w)
		}
	}
	for _, w := range []string{"Nobody", " kind ", "weight", "hover", "wraith", "lost", "long"} {
		if strings.Contains(has, w) {
			t.Errorf("the attributes %q have %q", got, w)
		}
	}
	if got := canon.AttributeText("Note", []byte(`{`)); got != "Note" {
		t.Errorf("damaged fields give %q", got)
	}
}
