package archive

import (
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// A name that a card had while it was hidden from a caller does not appear in any of that caller's
// answers.
func TestAHiddenFormerParentNameIsNotShown(t *testing.T) {
	s := newDesk(t)
	s.Do("gm", "create_card", `{"name": "Zq Baker Is The Killer", "level": "gm", "content": "bread"}`)
	s.Do("gm", "create_card", `{"name": "Zq Baker Is The Killer+tags", "type": "Pointer", "content": "[[guild]]"}`)
	s.Do("gm", "create_card", `{"name": "Zq Baker Is The Killer+oven+door", "content": "iron"}`)
	s.Do("admin", "rename_card", `{"name": "Zq Baker Is The Killer", "new_name": "Baker"}`)
	s.Do("admin", "set_card_level", `{"name": "Baker", "level": "user"}`)
	for _, name := range []string{"Baker", "Baker+tags", "Baker+oven", "Baker+oven+door"} {
		s.As("user").Call("get_card_history", `{"name": "`+name+`"}`).Want("versions.0.name", name).Lacks("Zq")
		s.As("user").Call("get_revision", `{"name": "`+name+`", "version": 1}`).Want("name", name).Lacks("Zq")
		s.As("user").Call("diff_card", `{"name": "`+name+`"}`).Lacks("Zq")
	}
	s.As("user").Call("recent_changes", `{}`).Has("Baker+oven+door").Lacks("Zq")
	for _, old := range []string{"Zq Baker Is The Killer", "Zq Baker Is The Killer+tags",
		"Zq Baker Is The Killer+oven+door"} {
		s.As("user").WantNotFound("get_card", `{"name": "`+old+`"}`)
		s.As("gm").Call("get_card", `{"name": "`+old+`"}`).Want("renamed_from", old)
	}
	s.As("gm").Call("recent_changes", `{}`).Has("Zq Baker Is The Killer+oven+door")
	s.As("gm").Call("get_card_history", `{"name": "Baker+tags"}`).Has("Zq Baker Is The Killer+tags")
	s.wantRebuilt()
}

func TestCreatedParentsRevealNothing(t *testing.T) {
	s := newDesk(t)
	s.wrote("Rent Quay", "wet")
	s.Do("gm", "create_card", `{"name": "Rent Quay+The Harbourmaster murdered his brother+GM", "content": "with a rope"}`)
	s.Do("gm", "batch_cards",
		`{"ops": [{"action": "create", "name": "Rent Quay+The baker knows+AI"}, {"action": "update", "name": "Rent Quay+The cook lies+GM", "content": "x", "fetch_or_initialize": true}]}`)
	s.Do("gm", "create_card",
		`{"name": "Rent Quay+crane", "fields": {"+The crew drowned him+GM": "x", "+A debt+ledger": {"content": "x", "level": "gm"}}}`)
	s.Do("gm", "create_card", `{"name": "The tide is late+scene", "level": "gm", "content": "x"}`)
	s.As("user").Call("search_cards",
		`{"prefix": "Rent Quay", "limit": 100}`).Has("Rent Quay+crane").Lacks("murdered").Lacks("knows").Lacks("lies").Lacks("drowned").Lacks("debt")
	s.As("user").WantNotFound("get_card", `{"name": "The tide is late"}`)
	s.As("user").Call("recent_changes", `{}`).Lacks("murdered").Lacks("tide")
	s.As("gm").Call("search_cards",
		`{"prefix": "Rent Quay", "limit": 100}`).Has("murdered his brother").Has("baker knows").Has("cook lies").Has("drowned him").Has("A debt")
}

// A call that raises a card's level and rewrites it raises the level first. Otherwise the new
// content, meant for few, would be in a version that more readers get once the card is shown again.
func TestALevelIsRaisedBeforeTheRestIsWritten(t *testing.T) {
	s := newDesk(t)
	s.made(canon.NewCard{Name: "Inn", Content: "beer"}, canon.NewCard{Name: "Inn+note", Content: "all is well"})
	s.Do("admin", "update_card", `{"name": "Inn", "fields": {"+note": {"content": "the cook is a spy", "level": "gm"}}}`)
	s.edited("Inn+note", "all is well")
	s.leveled("Inn+note", access.LevelUser)
	s.As("user").Call("get_card_history", `{"name": "Inn+note"}`).Want("versions.#", 1)
	s.As("user").Call("get_revision", `{"name": "Inn+note", "version": 2}`).Lacks("spy")
}
