package prooftest

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// formerNamePlace is the place of marks in former names: names that a card, or one above it,
// had while it was hidden.
const formerNamePlace = "former name above"

// tellFormerNames creates trees of cards that become visible one after the other, in each way
// that makes the cards below a card visible. They had secret names while they were hidden.
func (s *story) tellFormerNames() {
	everybody := access.NewLabel(access.LevelUser)
	n := 0
	for _, l := range s.hidden {
		for _, open := range []func(*cardTree){openByLabel, openByMove, openByTurns, openFromTrash} {
			n++
			s.tellGrove(fmt.Sprintf("Reed House %d", n), l, everybody, open)
		}
		if l.Equal(forGM) {
			s.tellFormerEntity()
		}
	}
}

// changeBetweenCalls makes changes as the keeper between the calls of others: to cards above
// visible and hidden cards, to hidden cards, and to cards that become visible.
func (s *story) changeBetweenCalls(turn int) {
	s.t.Helper()
	opens := []func(*cardTree){openByLabel, openByMove, openByTurns, openFromTrash}
	s.tellGrove(fmt.Sprintf("Late House %d", turn), s.hidden[turn%len(s.hidden)], access.NewLabel(access.LevelUser),
		opens[turn%len(opens)])
	lendwater, motto := s.visibleCard("Lendwater"), s.visibleCard("Lendwater+Motto")
	s.tellHidden(func() {
		for i, l := range s.hidden {
			c := s.putCard(canon.NewCard{Name: fmt.Sprintf("Lendwater+Motto+%s", s.newSecretName(formerNamePlace, l)),
				Label: &l})
			s.editCard(c.ID, s.newSecret("content", l))
			s.rename(c.ID, fmt.Sprintf("Lendwater+Motto+Reed House %d %d", turn, i))
			s.do(keeper, "delete_card", map[string]any{"name": "~" + c.ID.String()})
			s.do(keeper, "restore_card", map[string]any{"name": "~" + c.ID.String()})
			s.planOnCard(c.ID, func(p *canon.Plan, c canon.Card) error { _, err := p.SetLabel(c, forOthers); return err })
		}
	})
	s.tellVisible(func() { s.rename(lendwater, "Lendwater Town") })
	s.tellVisible(func() { s.rename(motto, "Lendwater Town+Words") })
	s.tellVisible(func() {
		s.do(keeper, "delete_card", map[string]any{"name": "~" + motto.String(), "confirm": "Lendwater Town+Words"})
	})
	s.tellVisible(func() { s.do(keeper, "restore_card", map[string]any{"name": "~" + motto.String()}) })
	s.tellVisible(func() { s.rename(motto, "Lendwater Town+Motto") })
	s.tellVisible(func() { s.rename(lendwater, "Lendwater") })
}

// visibleCard returns the card that everybody sees under a name.
func (s *story) visibleCard(name string) (id canon.CardID) {
	s.t.Helper()
	text, _ := s.do(player, "get_card", map[string]any{"name": name})["id"].(string)
	if err := id.UnmarshalText([]byte(text)); err != nil {
		s.t.Fatalf("%s has the id %q: %v", name, text, err)
	}
	return id
}

// cardTree is a card with two generations below it, and its labels before and after it becomes
// visible.
type cardTree struct {
	*story
	name          string
	before, after access.Label
	root          canon.Card
	ledger, tags  canon.CardID
}

// hiddenName returns the name that a card has while it is hidden: a secret one if the whole
// story is told.
func (g *cardTree) hiddenName(otherwise string) string {
	if !g.whole {
		return otherwise
	}
	return "Zq " + g.newSecretName(formerNamePlace, g.before)
}

func (s *story) tellGrove(name string, before, after access.Label, open func(*cardTree)) {
	g := &cardTree{story: s, name: name, before: before, after: after}
	var den canon.Card
	s.tellVisible(func() {
		den = s.putCard(canon.NewCard{Name: g.hiddenName("Den of " + name), Label: &before})
	})
	was := g.hiddenName(name)
	s.tellVisible(func() {
		g.root = s.putCard(canon.NewCard{Name: den.Name + "+" + was, Content: "<p>A reed house by the lantern.</p>"})
	})
	s.tellVisible(func() {
		g.tags = s.putCard(canon.NewCard{Name: g.root.Name + "+tags", Type: "Pointer", Content: "[[history]]"}).ID
	})
	s.tellVisible(func() { g.ledger = s.putCard(canon.NewCard{Name: g.root.Name + "+ledger", Content: "rent"}).ID })
	s.tellVisible(func() { s.putCard(canon.NewCard{Name: g.root.Name + "+ledger+page", Content: "tide"}) })
	s.tellHidden(func() {
		s.rename(g.root.ID, den.Name+"+"+g.hiddenName(name))
		s.editCard(g.ledger, s.newSecret("older version", before))
	})
	s.tellVisible(func() { s.editCard(g.ledger, "rent, paid") }) // under a secret name
	s.tellHidden(func() { s.rename(g.root.ID, den.Name+"+"+name) })
	open(g)
	s.tellVisible(func() { s.rename(g.root.ID, name+" Hall") })
	s.tellVisible(func() { s.editCard(g.ledger, "rent, paid twice") })
	// A card that was moved along with its parent is renamed, and the change is undone, under
	// the parent's new name.
	s.tellVisible(func() { s.rename(g.tags, name+" Hall+labels") })
	s.tellVisible(func() {
		list, _ := s.do(keeper, "get_card_history", map[string]any{"name": "~" + g.tags.String()})["versions"].([]any)
		last, _ := list[0].(map[string]any)
		s.do(keeper, "undo_change", map[string]any{"id": last["change_id"]})
	})
	for _, below := range []string{"", "+tags", "+ledger", "+ledger+page", "+labels"} {
		s.known.names = append(s.known.names, name+below, name+" Hall"+below)
	}
	s.known.ids = append(s.known.ids, g.root.ID.String(), g.tags.String(), den.ID.String())
}

// rename renames a card as the keeper.
func (s *story) rename(id canon.CardID, name string) {
	s.t.Helper()
	s.do(keeper, "rename_card", map[string]any{"name": "~" + id.String(), "new_name": name})
}

func (g *cardTree) setLabel(l access.Label) {
	g.t.Helper()
	in := map[string]any{"name": "~" + g.root.ID.String(), "level": l.Level.String()}
	if len(l.Subjects) > 0 {
		in["subjects"] = l.Subjects
	}
	g.do(keeper, "set_card_level", in)
}

// openByLabel moves a card out of a hidden one while it keeps its label, and then opens the
// label.
func openByLabel(g *cardTree) {
	g.tellVisible(func() { g.setLabel(g.before) })
	g.tellVisible(func() { g.rename(g.root.ID, g.name) })
	g.tellVisible(func() { g.setLabel(g.after) })
}

// openByMove moves a card out of a hidden one.
func openByMove(g *cardTree) { g.tellVisible(func() { g.rename(g.root.ID, g.name) }) }

// openByTurns opens a card, hides it again and opens it under another name.
func openByTurns(g *cardTree) {
	g.tellVisible(func() { g.rename(g.root.ID, g.name) })
	g.tellVisible(func() { g.setLabel(g.before) })
	g.tellHidden(func() {
		g.rename(g.root.ID, g.hiddenName(""))
		g.rename(g.root.ID, g.name+" Court")
	})
	if !g.whole {
		g.src.setHidden(true)
		g.rename(g.root.ID, g.name+" Court")
		g.src.setHidden(false)
	}
	g.tellVisible(func() { g.setLabel(g.after) })
}

// openFromTrash opens a card that was in the trash.
func openFromTrash(g *cardTree) {
	g.tellVisible(func() { g.setLabel(g.before) })
	g.tellVisible(func() { g.rename(g.root.ID, g.name) })
	g.tellVisible(func() {
		g.do(keeper, "delete_card", map[string]any{"name": "~" + g.root.ID.String(), "confirm": g.name})
	})
	g.tellVisible(func() { g.do(keeper, "restore_card", map[string]any{"name": "~" + g.root.ID.String()}) })
	g.tellVisible(func() { g.setLabel(g.after) })
}

// tellFormerEntity reveals an entity of a campaign that had another name.
func (s *story) tellFormerEntity() {
	in := func(kv ...any) map[string]any {
		m := given(kv...).input
		m["campaign_id"] = "lendwater"
		return m
	}
	g := &cardTree{story: s, before: forGM}
	id := s.doAndNote("baker", keeper, "entity_create", "id",
		in("name", g.hiddenName("Bram Oven"), "entity_type", "npc", "description", "Bakes.", "tags", []string{"history"}))
	s.tellHidden(func() { s.do(keeper, "entity_update", in("entity_id", id, "name", "Bram Oven")) })
	if !s.whole {
		s.src.setHidden(true)
		s.do(keeper, "entity_update", in("entity_id", id, "description", "Bakes."))
		s.src.setHidden(false)
	}
	s.tellVisible(func() { s.do(keeper, "reveal", in("items", []any{map[string]any{"entity_id": id}})) })
	s.known.names = append(s.known.names, "Bram Oven", "Bram Oven+tags")
}

// writeCalls returns calls by which a caller with few rights writes cards under names of
// visible and hidden cards, present and former, and calls that read the results.
func writeCalls(known namePool, turn int) (list []request) {
	for i, name := range slices.Concat(known.hidden, known.names) {
		if (i+turn)%(2*stride()) > 0 || strings.HasPrefix(name, "~") || strings.HasPrefix(name, ":") {
			continue
		}
		key := fmt.Sprintf("write %d %d", turn, i)
		create := map[string]any{"name": name, "content": "mine", "idempotency_key": key}
		tool := func(name string, in map[string]any) request {
			return mcpRequest("tools/call", map[string]any{"name": name, "arguments": in})
		}
		list = append(list, [][]request{
			{tool("create_card", create), tool("create_card", create)},
			{tool("create_card", map[string]any{"name": name + "+my note", "content": "mine"})},
			{tool("batch_cards", map[string]any{"mode": []string{"per_item", "transactional"}[i/4%2], "ops": []any{
				map[string]any{"action": "create", "name": name, "content": "mine"},
				map[string]any{"action": "update", "name": name, "content": "mine, later"},
				map[string]any{"action": "create", "name": name + "+part", "fetch_or_initialize": true}}})},
			{tool("update_card", map[string]any{"name": name, "content": "mine", "if_match": "1"}),
				tool("update_card", map[string]any{"name": name, "content": "mine", "if_match": "2"})},
			{tool("rename_card", map[string]any{"name": name, "new_name": "Mine " + name, "dry_run": true}),
				tool("delete_card", map[string]any{"name": name, "dry_run": true}),
				tool("restore_card", map[string]any{"name": name}),
				tool("restore_card", map[string]any{"name": name, "to_version": 1}),
				tool("set_card_level", map[string]any{"name": name, "level": "user"})},
		}[(i+turn)%5]...)
		list = append(list, tool("get_card", map[string]any{"name": name}),
			tool("get_card_history", map[string]any{"name": name}),
			tool("diff_card", map[string]any{"name": name}), tool("search_cards", map[string]any{"q": name}))
	}
	return append(list, mcpRequest("tools/call", map[string]any{"name": "recent_changes",
		"arguments": map[string]any{"limit": 100}}),
		mcpRequest("tools/call", map[string]any{"name": "wanted_cards", "arguments": map[string]any{"limit": 100}}))
}
