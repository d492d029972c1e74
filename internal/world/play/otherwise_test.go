package play_test

import (
	"strings"
	"testing"

	"loregate/internal/canon"
)

// A sentence whose reading comes to nothing is read otherwise, and no words of it are denied as a name.
func TestSentencesAreReadOtherwise(t *testing.T) {
	s, _ := newDicey(t)
	p := s.Joins("Mira")
	p.Does("go north")
	for _, text := range []string{"oda what do you sell", "madam oda how much is herb for headake", "you got work for me oda?",
		"thank you very much Oda!!", "oda why you not sing"} {
		p.Does(text).Is("results.0.outcome", "done", "results.0.verb", "talk", "events.0.payload.target.name", "Oda Tarn")
		s.Pass(5e9)
	}
}

func TestNamesThatRunOnAreCut(t *testing.T) {
	p, d, s := newShed(t)
	s.Edit(
		"Quay",
		canon.Edit{
			Content: new(shed + "<p>Iron rings are let into the wall. Fishwives shout. A plank lies across a puddle.</p>"),
		},
	)
	d.succeed = true
	for _, row := range [][2]string{
		{"hum a lullabye to the nets", "hum a lullabye"},
		{"plop myself down on the bench", "plop yourself down on the bench"},
		{"knock three times on the crate", "crate"},
		{"pull really hard on the iron rings", "iron rings"}, {"watch the fishwives haggle for a while", "Fishwives shout"},
		{"stand on the plank and face the town", "stand on the plank"}, {"look who else is here", "Here: the Salt Hound."},
		{"examine the lovely old plank", "plank"},
	} {
		got := p.Does(row[0])
		told, _ := got.At("narration").(string)
		if got.Is("results.0.outcome", "done"); !strings.Contains(told, row[1]) {
			t.Errorf("%s: %q, want %q", row[0], told, row[1])
		}
		s.Pass(5e9)
	}
	for _, row := range [][2]string{
		{"read the tariff board", "You can make out no writing on the tariff board."},
		{"write HELLO on the sword", "You see no sword here."},
		{"examine the purple zeppelin", "You see no purple zeppelin here."},
		{"look at the golden lantern of the moon", "You see no golden lantern of the moon here."},
	} {
		if told, _ := p.Does(row[0]).At("narration").(string); !strings.HasPrefix(told, row[1]) {
			t.Errorf("%s: %q, want %q", row[0], told, row[1])
		}
	}
}
