package prooftest

import (
	"encoding/json"
	"fmt"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// tellSecrets creates cards that only those of a label see, with a mark in every place that can
// hold a word.
func (s *story) tellSecrets(l access.Label) {
	name := func(place string) string { return s.newSecretName(place, l) }
	word := func(place string) string { return s.newSecret(place, l) }
	own := func(n canon.NewCard) canon.Card {
		n.Label = &l
		c := s.putCard(n)
		s.known.ids = append(s.known.ids, c.ID.String())
		s.known.hidden = append(s.known.hidden, c.Name, string(c.Key), "~"+c.ID.String(), withTypo(c.Name))
		return c
	}
	s.tellHidden(func() {
		codename := "vault-" + word("codename")
		s.known.hidden = append(s.known.hidden, ":"+codename)
		fields, err := json.Marshal(map[string]string{"motive": word("field"), word("field name"): "x"})
		if err != nil {
			s.t.Fatal(err)
		}
		enemy := own(canon.NewCard{Name: "Nemesis", Codename: codename, Fields: fields,
			Content: "<h2>" + word("heading") +
				"</h2><p>Nemesis of [[Oda Tarn]], [[Lendwater]] and [[Missing Place]], by the lantern. [[" + name("wanted name") +
				"]] {{Lendwater}}</p>"})
		own(canon.NewCard{Name: "Vault " + l.Level.String() + fmt.Sprint(len(l.Subjects)), Codename: "vault",
			Content: word("content")})
		own(canon.NewCard{Name: "Lendwater+" + name("name below"), Content: "<p>lantern " + word("content") + "</p>"})
		own(canon.NewCard{Name: "Lendwater+Motto+" + name("name below")})
		own(canon.NewCard{Name: "Oda Tarn", Content: "<p>" + word("homonym") + " [[Wanted 1]]</p>"})
		own(canon.NewCard{Name: "Oda Tarn+tags", Type: "Pointer", AsWritten: true, Content: "[[founder]]\n[[secret]]\n[[" +
			name("tag") + "]]"})
		own(canon.NewCard{Name: "Wanted Bridge", Content: "tide"})
		own(canon.NewCard{Name: "Lore+*type+*default", Content: "<p>" + word("template") + "</p>"})
		own(canon.NewCard{Name: "Guildhouse+*type+*default", Content: "<p>" + word("template") + "</p>"})
		own(canon.NewCard{Name: "Missing Place", Content: "road"})
		own(canon.NewCard{Name: "Place 1 ferry+tags", Type: "Pointer", AsWritten: true, Content: "[[tag lantern]]\n[[secret]]"})
		if len(l.Subjects) == 0 { // the parts make these GM cards, even if subjects are named
			own(canon.NewCard{Name: "Lendwater+GM+Plot", Content: word("gm part")})
			if l.Level == access.LevelGM { // cards created along with it get the same level
				s.do(keeper, "create_card", map[string]any{"name": "Salt Quay+" + name("name above a GM part") + "+GM",
					"content": word("gm part")})
			}
			own(canon.NewCard{Name: "Oda Tarn+AI", Content: word("ai part") + " ferry"})
		}
		s.tellSecretsOfSample(l)
		s.tellSecretTypes(l, own)
		s.tellSecretFile(l)
		s.tellSecretMass(l, own)
		s.tellSecretPast(l, own, enemy)
		s.tellSecretPeople()
	})
}

// withTypo returns a name with two letters swapped.
func withTypo(name string) string {
	r := []rune(name)
	if len(r) > 3 {
		r[1], r[2] = r[2], r[1]
	}
	return string(r)
}

func (s *story) tellSecretTypes(l access.Label, own func(canon.NewCard) canon.Card) {
	schema := func(word string) json.RawMessage {
		return json.RawMessage(`{"schema": {"type": "object", "title": "` + word + `", "properties": {"` + word +
			`": {"type": "string"}}}}`)
	}
	dread := own(canon.NewCard{Name: s.newSecretName("type", l), Type: "Cardtype", Content: "<p>" +
		s.newSecret("type's description", l) + "</p>", Fields: schema(s.newSecret("schema", l))})
	s.known.types = append(s.known.types, dread.Name)
	own(canon.NewCard{Name: "Dreadhouse", Type: "Cardtype", Content: "dread"})
	own(canon.NewCard{Name: "Guildhouse", Type: "Cardtype", Content: s.newSecret("type of the same name", l),
		Fields: schema(s.newSecret("schema", l))})
	if len(l.Subjects) == 0 { // everybody who sees a card must see its type
		own(canon.NewCard{Name: "House of " + s.newSecretName("name", l), Type: dread.Name, Content: "mist"})
	}
	own(canon.NewCard{Name: "query " + s.newSecretName("query", l), Type: "Query", Content: `{"name": "{{` +
		s.newSecret("placeholder", l) + `}}"}`,
		Fields: json.RawMessage(`{"description": "` + s.newSecret("query's description", l) + `"}`)})
	own(canon.NewCard{Name: "people_of", Type: "Query", Content: `{"prefix": "` + s.newSecret("query's filter", l) + `"}`})
}

func (s *story) tellSecretFile(l access.Label) {
	bytes := []byte("a secret map: " + s.newSecret("file", l))
	fields := json.RawMessage(`{"file_name": "` + s.newSecret("file's name", l) + `.txt"}`)
	s.putCard(canon.NewCard{Name: "Salt Quay+map", Type: "File", File: bytes, Fields: fields, Label: &l})
	s.putCard(canon.NewCard{Name: "Place 2 road+sketch", Type: "File", File: bytes, Fields: fields, Label: &l})
	s.known.hidden = append(s.known.hidden, "Place 2 road+sketch")
}

// tellSecretMass creates as many hidden cards as there are visible ones, with the same names
// and words: an answer that counts, ranks or samples them then differs.
func (s *story) tellSecretMass(l access.Label, own func(canon.NewCard) canon.Card) {
	words := []string{"lantern", "ferry", "road", "mist", "tide", "bell"}
	s.commitPlan(func(p *canon.Plan) error {
		for i := range 30 {
			_, err := p.Create(canon.NewCard{Name: fmt.Sprintf("Place %d %s", i, words[i%len(words)]),
				Type: []string{"RichText", "Lore"}[i%2], Label: &l,
				Content: strings.Repeat("lantern ferry road mist tide bell the year quay ",
					1+i%4) + fmt.Sprintf("[[Wanted %d]] [[Wanted Bridge]] {{Place 1 ferry}}", i%7)})
			if err != nil {
				return err
			}
		}
		return nil
	})
	own(canon.NewCard{Name: "Place " + s.newSecretName("name", l), Content: strings.Repeat("lantern ", 40)})
}

// tellSecretPast creates trash, former names, and cards that everybody could see once.
func (s *story) tellSecretPast(l access.Label, own func(canon.NewCard) canon.Card, enemy canon.Card) {
	trash := func(c canon.Card) {
		s.planOnCard(c.ID, func(p *canon.Plan, c canon.Card) error { return p.Trash(c) })
	}
	trash(own(canon.NewCard{Name: s.newSecretName("name in the trash", l),
		Content: s.newSecret("content in the trash", l)}))
	trash(own(canon.NewCard{Name: "Gone Tavern", Content: s.newSecret("content in the trash", l)}))
	moved := own(canon.NewCard{Name: s.newSecretName("former name", l), Content: "tide"})
	later := s.newSecretName("later name", l)
	s.do(keeper, "rename_card", map[string]any{"name": "~" + moved.ID.String(), "new_name": later})
	// Visible cards link to the nemesis by its former name.
	s.do(keeper, "rename_card", map[string]any{"name": "~" + enemy.ID.String(), "new_name": "Nemesis " +
		s.newSecretName("new name of a link's target", l)})
	for range 2 {
		s.editCard(enemy.ID, "<p>"+s.newSecret("content", l)+" lantern [[Oda Tarn]]</p>")
	}
	once := s.putCard(canon.NewCard{Name: "Once Seen " + l.Level.String() + fmt.Sprint(len(l.Subjects)),
		Content: "<p>seen by all, with a lantern</p>"})
	s.planOnCard(once.ID, func(p *canon.Plan, c canon.Card) error { _, err := p.SetLabel(c, l); return err })
	s.editCard(once.ID, "<p>"+s.newSecret("content of a card once seen", l)+"</p>")
	s.known.ids = append(s.known.ids, once.ID.String())
}

// tellSecretPeople creates members, labels with names and settings that only admins see.
func (s *story) tellSecretPeople() {
	admins := access.NewLabel(access.LevelAdmin)
	member := access.Subject(s.mint.newUnshownMark("member", admins))
	s.commitPlan(func(p *canon.Plan) error { return p.SetMember(canon.MemberImage{Subject: member, Role: access.RoleGM}) })
	named := access.NewLabel(access.LevelAdmin, access.Subject(s.mint.newUnshownMark("named subject", admins)))
	s.putCard(canon.NewCard{Name: "For one only " + s.newSecretName("name", named), Content: s.newSecret("content", named),
		Label: &named})
	s.commitPlan(func(p *canon.Plan) error {
		set := p.World().Settings
		set.Extra = map[string]string{"system": set.Extra["system"], "x": s.mint.newUnshownMark("settings", admins)}
		return p.Configure("Lendwater", set)
	})
}

// tellOtherWorld creates worlds of other people, full of marks: one that the stranger opens,
// and one that nobody opens.
func (s *story) tellOtherWorld() {
	s.tellHidden(func() {
		home := s.world
		s.tellWorld("otherland", "otherland")
		s.tellWorld("w-"+s.mint.newUnshownMark("slug of a world", access.NewLabel(access.LevelAdmin)), "nowhere")
		s.mint.all[len(s.mint.all)-4].world = "nowhere"
		s.known.ids = append(s.known.ids, s.world.String())
		s.world = home
	})
}

func (s *story) tellWorld(slug, as string) {
	first := len(s.mint.all)
	everyone := access.NewLabel(access.LevelUser)
	w, err := s.app.CreateWorld(s.t.Context(), canon.NewWorld{Slug: slug})
	if err != nil {
		s.t.Fatal(err)
	}
	s.world = w.ID
	s.do(keeper, "create_card", map[string]any{"name": s.mint.newMark("name elsewhere", everyone), "content": "lantern " +
		s.mint.newMark("content elsewhere", everyone)})
	s.do(keeper, "create_card", map[string]any{"name": "Oda Tarn", "content": "ferry " +
		s.mint.newMark("content elsewhere", everyone)})
	for i := range s.mint.all[first:] {
		s.mint.all[first+i].world = as
	}
}

// tellAll tells the whole story to an audience that sees the shown labels beside the cards that
// all see.
func (s *story) tellAll(shown ...access.Label) {
	s.tellOpening()
	s.tellSample()
	s.tellTown()
	s.tellCampaign()
	s.tellGame()
	s.tellFight()
	s.tellMade()
	for i, l := range s.hidden {
		if i%2 == 0 {
			s.tellSecrets(l)
			s.tellSecretPlay(l)
		}
	}
	s.tellTownLater()
	for _, l := range shown {
		s.tellShown(l)
	}
	if len(s.hidden) > 0 {
		s.tellReveals(s.hidden[0], access.NewLabel(access.LevelUser), "Sunken Bell")
	}
	s.tellFormerNames()
	s.tellMixed()
	for i, l := range s.hidden {
		if i%2 == 1 {
			s.tellSecrets(l)
			s.tellSecretPlay(l)
		}
	}
	s.tellOtherWorld()
	s.tellVisible(func() {})
}
