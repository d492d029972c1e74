package storetest

import (
	"errors"
	"reflect"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func testWorlds(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	first, second := World(1), World(2)
	second.Slug, second.Title = "a-first-slug", "Žółw 日本"
	second.Origin, second.OriginSeq = first.ID, 7
	second.Settings = canon.Settings{Description: "d", GMParts: []string{"keeper"}, BatchRole: "admin", Starter: "Town",
		Extra: map[string]string{"k": "v"}}
	write(t, s, func(tx Writer) {
		tx.PutWorld(first)
		tx.PutWorld(second)
	})
	t.Run("worlds are listed by slug and read back whole", func(t *testing.T) { testWorldsRead(t, s, first, second) })
	t.Run("a slug belongs to one world", func(t *testing.T) {
		err := s.Write(t.Context(), func(tx canon.Tx) error {
			third := World(3)
			third.Slug = first.Slug
			if err := tx.PutWorld(t.Context(), third); !errors.Is(err, canon.ErrTaken) {
				t.Errorf("PutWorld with a slug in use: %v, want ErrTaken", err)
			}
			first.Title = "Renamed"
			return tx.PutWorld(t.Context(), first)
		})
		if err != nil {
			t.Fatalf("a world may be written again under its own slug: %v", err)
		}
		testWorldsRead(t, s, first, second)
	})
	t.Run("members", func(t *testing.T) { testMembers(t, s) })
}

func testWorldsRead(t *testing.T, s canon.Store, first, second canon.World) {
	readAs(t, s, AsAll, func(e viewReader) {
		all, err := e.r.Worlds(e.ctx(), canon.WorldQuery{All: true})
		e.ok("Worlds", err)
		if want := []canon.World{second, first}; !reflect.DeepEqual(all, want) {
			t.Errorf("Worlds:\n got %+v\nwant %+v", all, want)
		}
		for _, want := range []canon.World{first, second, second} {
			got, ok, err := canon.First(e.r.Worlds(e.ctx(), canon.WorldQuery{ID: want.ID}))
			e.ok("Worlds by ID", err)
			if !ok || !reflect.DeepEqual(got, want) {
				t.Errorf("World: %+v, %v, want %+v", got, ok, want)
			}
		}
		got, ok, err := canon.First(e.r.Worlds(e.ctx(), canon.WorldQuery{Slug: second.Slug}))
		e.ok("Worlds by Slug", err)
		if !ok || got.ID != second.ID {
			t.Errorf("Worlds by Slug: %+v, %v", got, ok)
		}
		for _, none := range []canon.WorldQuery{{}, {ID: WorldID(9)}, {Slug: "nowhere"}} {
			if found, err := e.r.Worlds(e.ctx(), none); len(found) > 0 || err != nil {
				t.Errorf("%+v: %+v, %v; want no world", none, found, err)
			}
		}
	})
}

func testMembers(t *testing.T, s canon.Store) {
	put := func(members ...canon.Member) {
		write(t, s, func(tx Writer) {
			for _, m := range members {
				tx.ok("PutMember", tx.Tx.PutMember(t.Context(), m))
			}
		})
	}
	want := func(members, memberships []canon.Member) {
		t.Helper()
		readAs(t, s, AsAll, func(e viewReader) {
			got, err := e.r.Members(e.ctx(), canon.MemberQuery{World: WorldID(1)})
			e.ok("Members", err)
			if !sameRows(got, members) {
				t.Errorf("Members of the first world: %+v, want %+v", got, members)
			}
			got, err = e.r.Members(e.ctx(), canon.MemberQuery{Subject: "ann"})
			e.ok("Members by Subject", err)
			if !sameRows(got, memberships) {
				t.Errorf("Members by Subject ann: %+v, want %+v", got, memberships)
			}
		})
	}
	bob := canon.Member{World: WorldID(1), Subject: "bob", Role: access.RoleUser, May: access.MayPropose,
		Player: CardID(5)}
	ann := canon.Member{World: WorldID(1), Subject: "ann", Role: access.RoleGM}
	there := canon.Member{World: WorldID(2), Subject: "ann", Role: access.RoleAdmin}
	put(bob, there, ann)
	want([]canon.Member{ann, bob}, []canon.Member{ann, there})

	ann.Role = access.RoleAdmin
	put(ann)
	want([]canon.Member{ann, bob}, []canon.Member{ann, there})

	ann.Role = access.RoleNone
	put(ann)
	want([]canon.Member{ann, bob}, []canon.Member{ann, there})
}

// sameRows compares rows; nil equals empty.
func sameRows[T any](a, b []T) bool {
	return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b)
}
