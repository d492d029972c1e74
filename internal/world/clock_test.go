package world

import (
	"testing"
	"time"
)

func (p player) clock() int64 {
	p.s.t.Helper()
	return int64(p.call("get_player", `{"id":"`+p.id.String()+`"}`).at("player.clock").(float64))
}

// tick is the time of a place as a narrator reads it.
func (s *scene) tick(place string) int64 {
	s.t.Helper()
	return int64(s.as("user").call("get-location-context", `{"locationId":"loc-`+slug(place)+`"}`).at("item.tick").(float64))
}

// One player's rests move neither the world nor anybody else.
func TestRestsMoveNobodyElse(t *testing.T) {
	s := newScene(t)
	p, q, r := s.joins("Mira"), s.joins("Tam"), s.joins("Ann")
	r.does("north")
	far := r.clock()
	for range 12 {
		p.does("rest")
	}
	if q.clock() != 0 || r.clock() != far {
		t.Errorf("others were moved to %d and %d", q.clock(), r.clock())
	}
	if got := p.clock(); got > hour {
		t.Errorf("twelve rests took the player to %v", time.Duration(got)*time.Millisecond)
	}
	for _, place := range []string{"Quay", "Square"} {
		if got := s.tick(place); got > hour {
			t.Errorf("twelve rests took %s to %v", place, time.Duration(got)*time.Millisecond)
		}
	}
	q.does("north")
	if got := q.clock(); got > hour {
		t.Errorf("whoever walks on after them is at %v", time.Duration(got)*time.Millisecond)
	}
}
