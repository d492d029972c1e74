package world_test

import (
	"testing"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/job"
	"loregate/internal/store/sqlite/sqlitetest"
	"loregate/internal/world"
	"loregate/internal/world/worldtest"
)

func TestAcceptedExitIsCreatedOnce(t *testing.T) {
	store := sqlitetest.Open(t)
	s := worldtest.Empty(t, store)
	d := s.Dispatcher(store, world.ExitHandler(s.Canon))
	s.Build()
	s.Round(d)
	tell := func(payload string) {
		s.Change(func(p *canon.Plan) error {
			return p.Event(canon.Event{Type: string(world.ExitCreated), Scope: string(world.GlobalScope),
				Payload: []byte(payload),
				Version: 1})
		})
		s.Round(d)
	}
	quay, tower, cellar := s.IDOf("Quay").String(), s.IDOf("Tower").String(), s.IDOf("Cellar").String()
	tell(`{"fromId":"` + tower + `","toId":"` + quay + `","direction":"out","description":"A rope."}`)
	s.As("user").Call("list-exits", `{"locationId":"loc-tower"}`).Is("exits.#", 2, "exits.1.direction", "out",
		"exits.1.toLocationId", quay, "exits.1.description", "A rope.")
	tell(`{"fromId":"` + tower + `","toId":"` + cellar + `","direction":"out"}`)
	tell(`{"fromId":"` + tower + `","direction":"in"}`)
	s.As("gm").Call("list-exits", `{"locationId":"loc-tower"}`).Is("exits.#", 2, "exits.1.toLocationId", quay)
	tell(`{"fromId":"` + tower + `","toId":"` + s.IDOf("Oda Tarn").String() + `","direction":"in"}`)
	if list, err := store.Claim(t.Context(), []string{"exits"}, access.WorldID{}, s.Now.Add(time.Second), s.Now,
		9); err != nil || len(list) != 1 || list[0].State != job.DeliveryFailed {
		t.Errorf("an exit to a person: %+v, %v", list, err)
	}
}
