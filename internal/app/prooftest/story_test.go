package prooftest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// story fills a stage. To tell a part of the story is to make its calls. Visible parts happen
// on every stage, at the same times and with the same ids; hidden parts happen only where the
// whole story is told.
type story struct {
	*stage
	mint      *markMint
	whole     bool
	hidden    []access.Label
	beat      int
	known     namePool
	who       access.Caller     // the audience, who plays and hosts
	ids       map[string]string // of visible things, by the story's own names
	others    int               // number of calls of tellOthers
	sample    []sampleCard      // cards of the sample world that the declared examples name
	conflicts int               // number of conflicts made by the inputs by hand
	asked     int               // number of proposals made by the inputs by hand
	benAway   bool              // Ben Low has left the harbour
	shades    int               // hidden players made by feeds
}

// namePool has the names and words that callers use in their calls.
type namePool struct {
	names   []string // of visible cards
	hidden  []string // names, keys, ids and codenames of hidden cards, and misspelt ones
	words   []string // to search for
	guesses []string // words of hidden cards
	types   []string
	tags    []string
	ids     []string // of visible and hidden cards, changes and jobs
}

// tellVisible calls f, whose changes the audience sees. The time of a beat is the same in both twins, although the
// hidden parts take milliseconds, and is never before that of a call: limits that processes share are exchanged at
// any moment, so that a clock that goes back would count calls in one twin that it does not count in the other.
func (s *story) tellVisible(f func()) {
	s.src.mu.Lock()
	s.beat = max(s.beat, int(s.src.now.Sub(begin)/(10*time.Second))) + 1
	s.src.now = begin.Add(time.Duration(s.beat) * 10 * time.Second)
	s.src.mu.Unlock()
	f()
}

// tellHidden calls f, whose changes the audience does not see, if the whole story is told.
func (s *story) tellHidden(f func()) {
	if !s.whole {
		return
	}
	s.src.advance(time.Millisecond)
	s.src.setHidden(true)
	f()
	s.src.setHidden(false)
}

// newSecret returns the word of a new mark for a hidden place.
func (s *story) newSecret(place string, l access.Label) string {
	w := s.mint.newMark(place, l)
	s.known.guesses = append(s.known.guesses, w)
	return w
}

// newSecretName is newSecret as a name, which callers will ask for.
func (s *story) newSecretName(place string, l access.Label) string {
	w := s.newSecret(place, l)
	name := strings.ToUpper(w[:1]) + w[1:]
	s.known.hidden = append(s.known.hidden, name, w[:8]+" "+w[9:])
	return name
}

// putCard creates a card as the keeper.
func (s *story) putCard(n canon.NewCard) canon.Card {
	s.t.Helper()
	var made canon.Card
	s.commitPlan(func(p *canon.Plan) (err error) {
		made, err = p.Create(n)
		return err
	})
	return made
}

// editCard changes a card's content by its id.
func (s *story) editCard(id canon.CardID, content string) {
	s.t.Helper()
	s.commitPlan(func(p *canon.Plan) error {
		c, err := p.Card("~" + id.String())
		if err == nil {
			_, err = p.Update(c, canon.Edit{Content: &content})
		}
		return err
	})
}

// planOnCard commits a plan about a card by its id.
func (s *story) planOnCard(id canon.CardID, f func(*canon.Plan, canon.Card) error) {
	s.t.Helper()
	s.commitPlan(func(p *canon.Plan) error {
		c, err := p.Card("~" + id.String())
		if err != nil {
			return err
		}
		return f(p, c)
	})
}

// tellOpening creates cards that everybody sees.
func (s *story) tellOpening() {
	do := func(operation string, input map[string]any) { s.tellVisible(func() { s.do(player, operation, input) }) }
	do("create_card", map[string]any{"name": "Guildhouse", "type": "Cardtype", "content": "<p>A house of a guild.</p>",
		"fields": map[string]any{"schema": map[string]any{"type": "object",
			"properties": map[string]any{"rank": map[string]any{"type": "integer"}}}}})
	do("create_card", map[string]any{"name": "Lendwater",
		"content": "<h2>Water</h2><p>Beside [[Oda Tarn]] and the [[Missing Place]] lies {{Lendwater+Motto}} and {{Nemesis}} and {{:vault}}.</p>" +
			"<h2>Road</h2><p>The lantern road of [[Nemesis]] and [[Salt Quay]].</p><p>[[Wanted Bridge]]</p>"})
	do("create_card", map[string]any{"name": "Lendwater+Motto", "type": "Phrase", "content": "Pay the lantern tide"})
	do("create_card", map[string]any{"name": "Oda Tarn", "type": "Character", "codename": "oda",
		"content": "<p>Founder of [[Lendwater]]; carries a lantern.</p>",
		"fields": map[string]any{"role": "founder", "+tags": map[string]any{"type": "Pointer",
			"content": "[[founder]]\n[[history]]"}}})
	do("create_card", map[string]any{"name": "Mill Guild", "type": "Guildhouse", "content": "<p>The mill by the mist.</p>",
		"fields": map[string]any{"rank": 3}})
	do("create_card", map[string]any{"name": "List of Places", "type": "Pointer",
		"content": "[[Place 1 ferry]]\n[[Place 2 road]]\n[[Nemesis]]"})
	do("create_card", map[string]any{"name": "people_of", "type": "Query",
		"content": `{"type": "Character", "tag": "{{faction_tag}}"}`,
		"fields":  map[string]any{"description": "Who is of a faction"}})
	do("create_card", map[string]any{"name": "Annals", "content": "<h1>Annals</h1>" +
		strings.Repeat("<p>A year of lantern, ferry and mist at the quay.</p>", 250)})
	do("create_card", map[string]any{"name": "Guildhouse+*type+*default", "content": "<p>A house by the lantern.</p>"})
	do("create_card", map[string]any{"name": "Lore+*type"})
	do("create_card", map[string]any{"name": "Terms", "type": "Pointer", "content": "[[lantern]]\n[[ferry]]"})
	do("upload_attachment", map[string]any{"name": "Salt Quay+map", "data": []byte("a map of the quay"),
		"filename": "map.txt"})
	words := []string{"lantern", "ferry", "road", "mist", "tide", "bell"}
	for i := range 24 {
		name := fmt.Sprintf("Place %d %s", i, words[i%len(words)])
		do("create_card", map[string]any{"name": name, "type": []string{"RichText", "Lore", "Markdown"}[i%3],
			"content": fmt.Sprintf("The %s of the %s, near [[Wanted %d]] and [[Place 0 lantern]]; {{Place 1 ferry}}", words[i%6],
				words[i%5], i%4)})
		if i%4 == 0 {
			do("create_card", map[string]any{"name": name + "+tags", "type": "Pointer", "content": "[[history]]\n[[tag " +
				words[i%6] + "]]"})
		}
		if i%5 == 0 {
			do("create_card", map[string]any{"name": name + "+Notes+Deep", "content": "notes of " + words[i%6]})
		}
		s.known.names = append(s.known.names, name)
	}
	for i := range 3 {
		do("update_card", map[string]any{"name": "Oda Tarn",
			"content": fmt.Sprintf("<p>Founder of [[Lendwater]], edition %d; carries a lantern.</p>", i)})
	}
	s.tellVisible(func() {
		s.do(keeper, "create_card", map[string]any{"name": "Old Ferry", "content": "a ferry, formerly"})
	})
	s.tellVisible(func() { s.do(keeper, "rename_card", map[string]any{"name": "Old Ferry", "new_name": "New Ferry"}) })
	s.tellVisible(func() { s.do(keeper, "create_card", map[string]any{"name": "Gone Tavern", "content": "a tavern"}) })
	s.tellVisible(func() { s.do(keeper, "delete_card", map[string]any{"name": "Gone Tavern"}) })
	oda, _ := s.do(player, "get_card", map[string]any{"name": "Oda Tarn"})["id"].(string)
	s.noteID("oda", oda)
	s.known.names = append(s.known.names, "Lendwater", "Lendwater+Motto", "Oda Tarn", "Oda Tarn+tags", "Mill Guild",
		"List of Places", "people_of", "Annals",
		"Salt Quay", "Salt Quay+map", "New Ferry", "Old Ferry", "Guildhouse", "Terms", "oda tarn", ":oda", "Sunken Bell",
		"Crypt", "Crypt+Door", "Place 0 lantern+Notes")
	s.known.hidden = append(s.known.hidden, "Nemesis", "nemesi", "Nemesus", ":vault", "Lendwater+GM", "Oda Tarn+AI",
		"Lendwater+GM+Plot", "Gone Tavern", "Missing Place", "Nothing At All", "Lendwatr", "Wanted 1", "Once Seen",
		"Salt Quay+cellar")
	s.known.words = append(words, "the", "lantern ferry", "quay", "nemesis", "place", "lant*", "founder", "a", "e",
		"year mist", "wanted")
	s.known.types = []string{"RichText", "Lore", "Character", "Guildhouse", "Pointer", "Query", "Cardtype", "Nothing",
		"Dreadhouse"}
	s.known.tags = []string{"founder", "history", "tag lantern", "tag", "nothing", "secret"}
}

// tellShown creates cards that an audience sees because of a label.
func (s *story) tellShown(l access.Label) {
	at := l.Level.String()
	s.tellVisible(func() {
		s.putCard(canon.NewCard{Name: "Watch " + at, Content: "<p>The watch by the lantern of [[Nemesis]].</p>", Label: &l})
	})
	s.tellVisible(func() {
		s.putCard(canon.NewCard{Name: "Watch " + at + "+tags", Type: "Pointer", Content: "[[history]]\n[[secret]]",
			Label: &l, AsWritten: true})
	})
	s.tellVisible(func() { s.putCard(canon.NewCard{Name: "Oda Tarn", Content: "<p>What Oda hides.</p>", Label: &l}) })
	s.tellVisible(func() { s.putCard(canon.NewCard{Name: "Salt Quay+cellar", Content: "<p>A cellar.</p>", Label: &l}) })
	s.known.names = append(s.known.names, "Watch "+at, "Watch "+at+"+tags", "Salt Quay+cellar")
}

// tellReveals creates cards that were hidden once and are now visible: their past stays hidden.
func (s *story) tellReveals(before, after access.Label, name string) {
	var bell, crypt, door canon.Card
	s.tellVisible(func() { bell = s.putCard(canon.NewCard{Name: name, Content: "<p>A bell.</p>", Label: &before}) })
	s.tellVisible(func() {
		crypt = s.putCard(canon.NewCard{Name: name + " Crypt", Content: "<p>A crypt.</p>", Label: &before})
	})
	s.tellVisible(func() { door = s.putCard(canon.NewCard{Name: name + " Crypt+Door", Content: "<p>A door.</p>"}) })
	s.tellHidden(func() {
		for range 3 {
			s.editCard(bell.ID, "<p>The bell of "+s.newSecret("older version", before)+"</p>")
		}
		s.editCard(door.ID, "<p>The door of "+s.newSecret("older version below", before)+"</p>")
		s.editCard(crypt.ID, "<p>{{+Door}} "+s.newSecret("older version", before)+"</p>")
		was := s.newSecretName("older name", before)
		s.planOnCard(bell.ID, func(p *canon.Plan, c canon.Card) error { _, err := p.Rename(c, was); return err })
		s.planOnCard(bell.ID, func(p *canon.Plan, c canon.Card) error { _, err := p.Rename(c, name); return err })
		s.editCard(door.ID, "<p>A door.</p>")
		s.editCard(crypt.ID, "<p>A crypt.</p>")
		s.editCard(bell.ID, "<p>A bell.</p>")
	})
	s.tellVisible(func() {
		s.editCard(bell.ID, "<p>A bell that tolls.</p>")
		s.editCard(crypt.ID, "<p>A crypt. {{+Door}}</p>")
		s.editCard(door.ID, "<p>A shut door.</p>")
	})
	for _, c := range []canon.Card{bell, crypt} {
		s.tellVisible(func() {
			s.planOnCard(c.ID, func(p *canon.Plan, c canon.Card) error { _, err := p.SetLabel(c, after); return err })
		})
		s.known.names = append(s.known.names, c.Name)
	}
	s.known.names = append(s.known.names, name+" Crypt+Door")
	s.tellVisible(func() { s.editCard(bell.ID, "<p>A bell for all.</p>") })
}

// tellMixed makes changes that are partly visible: one commit about a visible card and hidden
// ones, and hidden links and layers of visible cards.
func (s *story) tellMixed() {
	content := "<p>The quay.</p>"
	for _, l := range append([]access.Label{access.NewLabel(access.LevelUser)}, s.hidden...) {
		s.tellVisible(func() {
			content += "<p>Wet.</p>"
			s.commitPlan(func(p *canon.Plan) error {
				c, err := p.Card("Salt Quay")
				if err != nil {
					return err
				}
				if _, err := p.Update(c, canon.Edit{Content: &content}); err != nil || !s.whole || l.Level == access.LevelUser {
					return err
				}
				s.src.setHidden(true)
				defer s.src.setHidden(false)
				return s.planHidden(p, c, l)
			})
		})
	}
}

// planHidden plans hidden changes along with a visible one.
func (s *story) planHidden(p *canon.Plan, c canon.Card, l access.Label) error {
	n := canon.NewCard{Name: "Salt Quay+" + s.newSecretName("name below", l), Content: "<p>" + s.newSecret("content", l) +
		" lantern</p>", Label: &l}
	below, err := p.Create(n)
	if err != nil {
		return err
	}
	p.Note(s.mint.newUnshownMark("note", l))
	attrs, err := json.Marshal(map[string]string{"why": s.mint.newUnshownMark("link", l)})
	if err != nil {
		return err
	}
	if _, err := p.Link(canon.Link{Kind: "relationship", From: c.ID, To: below.ID, Attrs: attrs, Label: l}); err != nil {
		return err
	}
	_, err = p.Layer(canon.Layer{Card: c.ID, Kind: "ambient", Text: s.mint.newUnshownMark("layer", l), Label: l})
	return err
}
