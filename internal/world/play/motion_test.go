package play_test

import (
	"strings"
	"testing"

	"loregate/internal/canon"
)

// A motion up to somebody or something that is here succeeds without a check, and the rest of the command is done.
func TestMotionInsideAPlace(t *testing.T) {
	p, d, s := newShed(t)
	s.Edit("Quay", canon.Edit{Content: new(shed + "<p>Fish boxes stand by the bar. A plank lies across a puddle.</p>")})
	d.succeed = false
	for _, row := range [][]string{
		{"go over to the salt hound and pet it", "the Salt Hound.\n\n", "pet the Salt Hound"}, {"walk up to the hound", "the Salt Hound"},
		{"climb onto the fish boxes and look around", "climb onto the fish boxes", "A tariff board leans here"},
		{"go to the bar", "the bar"}, {"head for the bar", "the bar"}, {"approach the hound", "the Salt Hound"},
		{"walk across the plank", "walk across the plank"}, {"cross the plank", "cross the plank"},
		{"run around the bollard", "run around the bollard"}, {"hop over to the hound", "the Salt Hound"},
		{"wander over to the nets and touch them", "the nets.\n\n", "You touch the nets."},
		{"step up to the bench and sit down", "the bench.\n\n", "sit"}, {"go back to the quay", "You are at Quay already."},
		{"return to the quay", "You are at Quay already."},
		{"walk over to the lantern and warm my hands", "the lantern.\n\n", "hands"},
	} {
		got := p.Does(row[0])
		got.Is("results.0.outcome", "done", "events.0.type", "Player.Act")
		told, _ := got.At("narration").(string)
		for _, want := range row[1:] {
			if !strings.Contains(told, want) {
				t.Errorf("%s: %q, want %q", row[0], told, want)
			}
		}
		if strings.Contains(told, "breath") || strings.Contains(told, "You see no") {
			t.Errorf("%s: %q", row[0], told)
		}
		s.Pass(10e9)
	}
	if len(d.checks) > 0 || p.Stands() != "Quay" {
		t.Errorf("checks %v at %s", d.checks, p.Stands())
	}
	for _, text := range []string{"go west to the bench", "go to the east", "walk west along the nets", "go to the moon"} {
		p.Does(text).Is("results.0.outcome", "impossible")
		s.Pass(10e9)
	}
}

// A motion leads through the exit that any of its names means.
func TestMotionTowardAnExit(t *testing.T) {
	p, d, s := newShed(t)
	for _, text := range []string{
		"walk out along the nets to the square", "go over to the square", "stroll along the bench to the Square",
		"walk past the bollard toward the square", "run across the square", "head out to the square",
	} {
		p.Does(text).Is("results.0.outcome", "done", "events.0.type", "Player.Move")
		if at := p.Stands(); at != "Square" {
			t.Errorf("%s: at %s", text, at)
		}
		p.Does("go south")
		s.Pass(10e9)
	}
	p.Does("make it dance").Is("results.0.reason", "no_target")
	p.Does("go over to the square and ask Oda about the square").Is("results.1.verb", "talk", "results.1.outcome", "done")
	if len(d.checks) > 0 {
		t.Errorf("checks %v", d.checks)
	}
}
