package prooftest

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// formerName is the place of marks in names that a card, or one above it, bore while it was
// hidden.
const formerName = "former name above"

// tellFormerNames tells of cards that come into sight one after the other, in each of the
// ways that open what lies below a card. While they were hidden they had secret names.
func (s *story) tellFormerNames() {
	everybody := access.NewLabel(access.LevelUser)
	n := 0
	for _, l := range s.hidden {
		for _, open := range []func(*grove){byLabel, byMove, byTurns, fromTrash} {
			n++
			s.tellGrove(fmt.Sprintf("Reed House %d", n), l, everybody, open)
		}
		if l.Equal(forGM) {
			s.tellFormerEntity()
		}
	}
}

// stir has the keeper act between the calls of others: on what stands above cards in sight
// and out of it, on what is hidden, and on what comes into sight.
func (s *story) stir(turn int) {
	s.t.Helper()
	opens := []func(*grove){byLabel, byMove, byTurns, fromTrash}
	s.tellGrove(fmt.Sprintf("Late House %d", turn), s.hidden[turn%len(s.hidden)], access.NewLabel(access.LevelUser), opens[turn%len(opens)])
	lendwater, motto := s.cardCalled("Lendwater"), s.cardCalled("Lendwater+Motto")
	s.unseen(func() {
		for i, l := range s.hidden {
			c := s.put(canon.NewCard{Name: fmt.Sprintf("Lendwater+Motto+%s", s.secretName(formerName, l)), Label: &l})
			s.edit(c.ID, s.secret("content", l))
			s.rename(c.ID, fmt.Sprintf("Lendwater+Motto+Reed House %d %d", turn, i))
			s.do(keeper, "delete_card", map[string]any{"name": "~" + c.ID.String()})
			s.do(keeper, "restore_card", map[string]any{"name": "~" + c.ID.String()})
			s.onCard(c.ID, func(p *canon.Plan, c canon.Card) error { _, err := p.SetLabel(c, forOthers); return err })
		}
	})
	s.seen(func() { s.rename(lendwater, "Lendwater Town") })
	s.seen(func() { s.rename(motto, "Lendwater Town+Words") })
	s.seen(func() {
		s.do(keeper, "delete_card", map[string]any{"name": "~" + motto.String(), "confirm": "Lendwater Town+Words"})
	})
	s.seen(func() { s.do(keeper, "restore_card", map[string]any{"name": "~" + motto.String()}) })
	s.seen(func() { s.rename(motto, "Lendwater Town+Motto") })
	s.seen(func() { s.rename(lendwater, "Lendwater") })
}

// cardCalled is the card that everybody sees by a name.
func (s *story) cardCalled(name string) (id canon.CardID) {
	s.t.Helper()
	text, _ := s.do(player, "get_card", map[string]any{"name": name})["id"].(string)
	if err := id.UnmarshalText([]byte(text)); err != nil {
		s.t.Fatalf("%s has the id %q: %v", name, text, err)
	}
	return id
}

// grove is a card with two generations below it, and how it is hidden and shown.
type grove struct {
	*story
	name          string
	before, after access.Label
	root          canon.Card
	ledger, tags  canon.CardID
}

// secretly is a name that a card bears while it is hidden: a secret one where the story is
// told whole.
func (g *grove) secretly(otherwise string) string {
	if !g.whole {
		return otherwise
	}
	return "Zq " + g.secretName(formerName, g.before)
}

func (s *story) tellGrove(name string, before, after access.Label, open func(*grove)) {
	g := &grove{story: s, name: name, before: before, after: after}
	var den canon.Card
	s.seen(func() {
		den = s.put(canon.NewCard{Name: g.secretly("Den of " + name), Label: &before})
	})
	was := g.secretly(name)
	s.seen(func() {
		g.root = s.put(canon.NewCard{Name: den.Name + "+" + was, Content: "<p>A reed house by the lantern.</p>"})
	})
	s.seen(func() {
		g.tags = s.put(canon.NewCard{Name: g.root.Name + "+tags", Type: "Pointer", Content: "[[history]]"}).ID
	})
	s.seen(func() { g.ledger = s.put(canon.NewCard{Name: g.root.Name + "+ledger", Content: "rent"}).ID })
	s.seen(func() { s.put(canon.NewCard{Name: g.root.Name + "+ledger+page", Content: "tide"}) })
	s.unseen(func() {
		s.rename(g.root.ID, den.Name+"+"+g.secretly(name))
		s.edit(g.ledger, s.secret("older version", before))
	})
	s.seen(func() { s.edit(g.ledger, "rent, paid") }) // under a secret name
	s.unseen(func() { s.rename(g.root.ID, den.Name+"+"+name) })
	open(g)
	s.seen(func() { s.rename(g.root.ID, name+" Hall") })
	s.seen(func() { s.edit(g.ledger, "rent, paid twice") })
	// What was moved by the one above it is undone and given back below that one.
	s.seen(func() { s.rename(g.tags, name+" Hall+labels") })
	s.seen(func() {
		list, _ := s.do(keeper, "get_card_history", map[string]any{"name": "~" + g.tags.String()})["versions"].([]any)
		last, _ := list[0].(map[string]any)
		s.do(keeper, "undo_change", map[string]any{"id": last["change_id"]})
	})
	for _, below := range []string{"", "+tags", "+ledger", "+ledger+page", "+labels"} {
		s.known.names = append(s.known.names, name+below, name+" Hall"+below)
	}
	s.known.ids = append(s.known.ids, g.root.ID.String(), g.tags.String(), den.ID.String())
}

// rename gives a card a name, as the keeper.
func (s *story) rename(id canon.CardID, name string) {
	s.t.Helper()
	s.do(keeper, "rename_card", map[string]any{"name": "~" + id.String(), "new_name": name})
}

func (g *grove) label(l access.Label) {
	g.t.Helper()
	in := map[string]any{"name": "~" + g.root.ID.String(), "level": l.Level.String()}
	if len(l.Subjects) > 0 {
		in["subjects"] = l.Subjects
	}
	g.do(keeper, "set_card_level", in)
}

// byLabel moves a card out to the open while it keeps the label, and then opens that.
func byLabel(g *grove) {
	g.seen(func() { g.label(g.before) })
	g.seen(func() { g.rename(g.root.ID, g.name) })
	g.seen(func() { g.label(g.after) })
}

// byMove moves a card from below a hidden one.
func byMove(g *grove) { g.seen(func() { g.rename(g.root.ID, g.name) }) }

// byTurns opens a card, hides it again and opens it under another name.
func byTurns(g *grove) {
	g.seen(func() { g.rename(g.root.ID, g.name) })
	g.seen(func() { g.label(g.before) })
	g.unseen(func() {
		g.rename(g.root.ID, g.secretly(""))
		g.rename(g.root.ID, g.name+" Court")
	})
	if !g.whole {
		g.src.hide(true)
		g.rename(g.root.ID, g.name+" Court")
		g.src.hide(false)
	}
	g.seen(func() { g.label(g.after) })
}

// fromTrash opens a card that has been to the trash.
func fromTrash(g *grove) {
	g.seen(func() { g.label(g.before) })
	g.seen(func() { g.rename(g.root.ID, g.name) })
	g.seen(func() {
		g.do(keeper, "delete_card", map[string]any{"name": "~" + g.root.ID.String(), "confirm": g.name})
	})
	g.seen(func() { g.do(keeper, "restore_card", map[string]any{"name": "~" + g.root.ID.String()}) })
	g.seen(func() { g.label(g.after) })
}

// tellFormerEntity reveals an entity of a campaign that had another name.
func (s *story) tellFormerEntity() {
	in := func(kv ...any) map[string]any {
		m := given("gm", kv...).input
		m["campaign_id"] = "lendwater"
		return m
	}
	g := &grove{story: s, before: forGM}
	id := s.noted("baker", keeper, "entity_create", "id", in("name", g.secretly("Bram Oven"), "entity_type", "npc", "description", "Bakes.", "tags", []string{"history"}))
	s.unseen(func() { s.do(keeper, "entity_update", in("entity_id", id, "name", "Bram Oven")) })
	if !s.whole {
		s.src.hide(true)
		s.do(keeper, "entity_update", in("entity_id", id, "description", "Bakes."))
		s.src.hide(false)
	}
	s.seen(func() { s.do(keeper, "reveal", in("items", []any{map[string]any{"entity_id": id}})) })
	s.known.names = append(s.known.names, "Bram Oven", "Bram Oven+tags")
}

// writes are calls by which somebody without much right writes what bears, bore or will
// bear the names of cards in sight and out of it, with what each is read by.
func writes(known pool, turn int) (list []request) {
	for i, name := range slices.Concat(known.hidden, known.names) {
		if (i+turn)%(2*stride()) > 0 || strings.HasPrefix(name, "~") || strings.HasPrefix(name, ":") {
			continue
		}
		key := fmt.Sprintf("write %d %d", turn, i)
		create := map[string]any{"name": name, "content": "mine", "idempotency_key": key}
		tool := func(name string, in map[string]any) request {
			return overMCP("tools/call", map[string]any{"name": name, "arguments": in})
		}
		list = append(list, [][]request{
			{tool("create_card", create), tool("create_card", create)},
			{tool("create_card", map[string]any{"name": name + "+my note", "content": "mine"})},
			{tool("batch_cards", map[string]any{"mode": []string{"per_item", "transactional"}[i/4%2], "ops": []any{
				map[string]any{"action": "create", "name": name, "content": "mine"},
				map[string]any{"action": "update", "name": name, "content": "mine, later"},
				map[string]any{"action": "create", "name": name + "+part", "fetch_or_initialize": true}}})},
			{tool("update_card", map[string]any{"name": name, "content": "mine", "if_match": "1"}), tool("update_card", map[string]any{"name": name, "content": "mine", "if_match": "2"})},
			{tool("rename_card", map[string]any{"name": name, "new_name": "Mine " + name, "dry_run": true}), tool("delete_card", map[string]any{"name": name, "dry_run": true}),
				tool("restore_card", map[string]any{"name": name}), tool("restore_card", map[string]any{"name": name, "to_version": 1}), tool("set_card_level", map[string]any{"name": name, "level": "user"})},
		}[(i+turn)%5]...)
		list = append(list, tool("get_card", map[string]any{"name": name}), tool("get_card_history", map[string]any{"name": name}),
			tool("diff_card", map[string]any{"name": name}), tool("search_cards", map[string]any{"q": name}))
	}
	return append(list, overMCP("tools/call", map[string]any{"name": "recent_changes", "arguments": map[string]any{"limit": 100}}),
		overMCP("tools/call", map[string]any{"name": "wanted_cards", "arguments": map[string]any{"limit": 100}}))
}
