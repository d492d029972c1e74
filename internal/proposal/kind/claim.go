package kind

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/claim"
	"loregate/internal/markup"
	"loregate/internal/meaning"
	"loregate/internal/proposal"
)

// A text may embellish the canon but must not contradict it or add to it by a claim: see docs/gates.md. Claims are
// judged as the readers of the text see the canon, so that no answer depends on what is hidden from them.

// scene is where a text is said or seen.
type scene struct {
	place    canon.CardID // zero: where the speaker is
	speaker  canon.CardID // zero for a narrator
	listener canon.CardID // zero if unknown
}

// checkClaims judges the claims of a text. It adds an issue for one that the canon denies or that would add to it, or
// else a reason for a person to look at one that the canon does not settle.
func (i *inspection) checkClaims(field, text string, directions []string, s scene) {
	if i.err != nil {
		return
	}
	l := &claimLoader{inspection: i, audience: i.world.For(i.label), at: map[canon.CardID]int{}}
	w := l.load(text, s)
	w.Directions = directions
	if i.err != nil {
		return
	}
	verdicts := claim.Check(text, w)
	worst, ok := claim.Worst(verdicts)
	said := quoteClaim(worst.Text)
	switch {
	case !ok:
	case worst.Truth == claim.False && worst.Predicate == claim.Speaks:
		i.add(field, "cannot be said: "+worst.Source)
	case worst.Truth == claim.False:
		i.add(field, fmt.Sprintf("claims %s, but %s; correct it, or tell it as rumour", said, worst.Source))
	case worst.Truth == claim.New:
		i.add(field, cmp.Or(newClaims[worst.Predicate], "adds to the canon by a claim; leave it out, or tell it as rumour"))
	case worst.Predicate == claim.Speaks:
		i.review = "waits for a person: the canon does not say where the speaker is"
	default:
		i.review = fmt.Sprintf("waits for a person: the canon does not say whether this is so: %s", said)
	}
	if !ok || worst.Truth == claim.Unsure {
		i.doubt = sync.OnceValue(func() *proposal.Doubt { return newDoubt(field, text, w, verdicts) })
	}
}

// newDoubt returns the sentences of a text that its readers' canon may deny although no rule does, with the part of that
// canon that they are about. It returns nil if there are none.
func newDoubt(field, text string, w *claim.World, verdicts []claim.Verdict) *proposal.Doubt {
	sentences, told := claim.Doubtful(text, w, verdicts)
	if len(sentences) == 0 {
		return nil
	}
	d := &proposal.Doubt{Field: field, Said: text, By: nameOf(w, w.Speaker), At: nameOf(w, w.Place), Claims: sentences}
	for _, line := range told {
		d.Canon = append(d.Canon, markup.Clip(markup.OneLine(line), maxTold))
	}
	return d
}

// nameOf returns the name of an entity, or "" for none.
func nameOf(w *claim.World, e int) string {
	if e == claim.None {
		return ""
	}
	return w.Entities[e].Name
}

// findConflicts returns the issues of a text in the view of a state, whoever its audience is.
func findConflicts(ctx context.Context, s proposal.State, directions []string, text proposal.Text,
	at scene) ([]proposal.Issue, error) {
	i := newInspection(ctx, s)
	i.label = access.NewLabel(s.View().Level)
	i.checkClaims(text.Field, text.Text, directions, at)
	return i.issues, i.err
}

// cardIDOf returns the id in a stored payload, or the zero id.
func cardIDOf(id string) canon.CardID {
	u, err := uuid.Parse(id)
	if err != nil {
		return canon.CardID{}
	}
	return canon.CardID(u)
}

// newClaims are the issues for claims that add to the canon.
var newClaims = map[claim.Predicate]string{
	claim.Leads:   "claims an exit that the canon does not have; leave it out, or tell it as rumour",
	claim.Open:    "claims an exit that the canon does not have; leave it out, or tell it as rumour",
	claim.Gives:   "claims that there is a thing to take; leave it out",
	claim.Dead:    "claims a death that the canon does not have; leave it out, or tell it as rumour",
	claim.Arrives: "claims that somebody arrives who is not here in the canon; leave it out",
}

// quoteClaim quotes a sentence on one line, shortened.
func quoteClaim(text string) string {
	return "\u201c" + markup.Clip(markup.OneLine(text), maxQuoted) + "\u201d"
}

// Bounds of the part of the canon that a text is compared with.
const (
	maxQuoted    = 120
	maxTold      = 300  // characters of a sentence of the canon that a reader of doubts gets
	claimWords   = 32   // words of a text that names are searched for
	claimNames   = 8    // cards for each word
	claimTold    = 12   // words of a text that facts are searched for
	claimFacts   = 4    // facts for each word
	claimHolders = 4    // people for each office
	claimSkies   = 8    // cards whose weather is read
	claimTexts   = 40   // cards whose texts are read
	claimText    = 2000 // bytes of a card's text that are read
	claimHere    = 100  // links to a place
	claimCards   = 160
	claimParents = 5 // places around a place
)

// claimTypes maps types of cards to classes of entities.
var claimTypes = map[string]claim.Class{
	"location": claim.Place, "character": claim.Person, "creature": claim.Person, "npc": claim.Person,
	"person": claim.Person, "player": claim.Person,
	"item": claim.Thing, "artifact": claim.Thing, "faction": claim.Group, "event": claim.Other, "lore": claim.Other,
}

// people are the types of cards of persons.
var people = []string{"Character", "Creature", "NPC", "Person", "Player"}

// claimLoader reads the part of the canon that a text may be about.
type claimLoader struct {
	*inspection
	audience proposal.State
	world    claim.World
	cards    []proposal.Card // by entity
	at       map[canon.CardID]int
}

// load reads the place with its exits, people and weather, and the cards whose names have words in common with a text,
// with the links of all these.
func (l *claimLoader) load(text string, s scene) *claim.World {
	l.world = claim.World{Place: claim.None, Speaker: claim.None, Listener: claim.None, At: map[int]int{},
		Holder: map[int]int{},
		Within: map[int]int{}, Weathers: map[int]string{}}
	l.world.Speaker, l.world.Listener = l.add(s.speaker), l.add(s.listener)
	for _, who := range []canon.CardID{s.speaker, s.listener} {
		if s.place.IsZero() && !who.IsZero() {
			s.place = l.placeOf(who)
		}
	}
	l.world.Place = l.add(s.place)
	found := l.findCards(text)
	for _, id := range found {
		l.add(id)
	}
	l.loadTexts(append([]canon.CardID{s.place}, found...))
	l.loadPlace(s.place)
	if claim.MayTellWeather(text) {
		l.world.Weather = l.weatherAt(s.place)
		for _, id := range found[:min(len(found), claimSkies)] {
			if e, ok := l.at[id]; ok && l.world.Entities[e].Class == claim.Place && id != s.place {
				if text := l.weatherAt(id); text != "" {
					l.world.Weathers[e] = text
				}
			}
		}
	}
	l.loadLinks()
	return &l.world
}

// add adds the entity of a card and returns its number; None if the audience does not see it.
func (l *claimLoader) add(id canon.CardID) int {
	if e, ok := l.at[id]; ok {
		return e
	}
	if id.IsZero() || l.err != nil || len(l.cards) == claimCards {
		return claim.None
	}
	c, ok, err := l.audience.Card(l.ctx, id)
	if l.err = err; !ok || err != nil {
		return claim.None
	}
	e := claim.Entity{Name: c.Name[strings.LastIndexByte(c.Name, '+')+1:], Class: claimTypes[strings.ToLower(c.Type)]}
	if len(c.Fields) > 0 && json.Unmarshal(c.Fields, &e.Fields) != nil {
		e.Fields = nil
	}
	if list, ok := e.Fields["aliases"].([]any); ok {
		for _, a := range list {
			if name, ok := a.(string); ok {
				e.Aliases = append(e.Aliases, name)
			}
		}
	}
	l.at[c.ID] = len(l.cards)
	l.cards = append(l.cards, c)
	l.world.Entities = append(l.world.Entities, e)
	return len(l.cards) - 1
}

// findCards returns the cards whose names share a word with a text, and facts whose texts do. They are searched at
// present; a replay uses the cards that were found when the proposal was judged.
func (l *claimLoader) findCards(text string) []canon.CardID {
	if l.inspection.world.At != 0 {
		return l.inspection.world.Basis
	}
	words := wordsToFind(text)
	var types []string
	for t := range claimTypes {
		types = append(types, t)
	}
	slices.Sort(types)
	found := l.search(words, canon.SearchQuery{InName: true, Filter: canon.Filter{Types: types}}, claimNames)
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	facts := l.search(words[:min(len(words), claimTold)],
		canon.SearchQuery{InContent: true, Filter: canon.Filter{Types: []string{"Event", "Faction", "Lore"}}},
		claimFacts)
	holders := l.search(claim.OfficesIn(text), canon.SearchQuery{InFields: true, Filter: canon.Filter{Types: people}},
		claimHolders)
	for _, id := range append(facts, holders...) {
		if !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	l.basis = append(l.basis, found...)
	return found
}

// search returns the first cards for each of several words, each card once.
func (l *claimLoader) search(words []string, q canon.SearchQuery, limit int) (found []canon.CardID) {
	q.Mode, q.Listed = canon.MatchStem, true
	for _, q.Q = range words {
		r, err := l.audience.Search(l.ctx, q, canon.Page{Limit: limit})
		if l.err = cmp.Or(l.err, err); l.err != nil {
			return nil
		}
		for _, h := range r.Hits {
			if !slices.Contains(found, h.Card.ID) {
				found = append(found, h.Card.ID)
			}
		}
	}
	return found
}

// loadTexts reads the texts of cards.
func (l *claimLoader) loadTexts(ids []canon.CardID) {
	for _, id := range ids[:min(len(ids), claimTexts)] {
		e, ok := l.at[id]
		if !ok || l.err != nil {
			continue
		}
		text, err := l.audience.Text(l.ctx, l.cards[e])
		l.err = err
		l.world.Entities[e].Text = text[:min(len(text), claimText)]
	}
}

// wordsToFind returns the words of a text that may be part of a name, in their order, each once.
func wordsToFind(text string) (list []string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(text),
		func(r rune) bool { return strings.ContainsRune(" \t\n.,;:!?\"“”‘’'()[]—–-/", r) }) {
		if len(word) < 3 && !meaning.IsA(word, meaning.Noun, "entity") || meaning.IsFunctionWord(word) ||
			slices.Contains(list, word) {
			continue
		}
		if list = append(list, word); len(list) == claimWords {
			break
		}
	}
	return list
}

// placeOf returns the location of a card, or the zero id if the audience does not see it there.
func (l *claimLoader) placeOf(who canon.CardID) canon.CardID {
	for _, k := range l.links(canon.LinkQuery{From: who, Kinds: []string{"at", "within"}}) {
		if e := l.add(k.To); e != claim.None && l.world.Entities[e].Class == claim.Place {
			return k.To
		}
	}
	return canon.CardID{}
}

// loadPlace adds what is at a place and next to it.
func (l *claimLoader) loadPlace(place canon.CardID) {
	if l.world.Place == claim.None {
		return
	}
	l.world.Entities[l.world.Place].Near = true
	for _, x := range l.links(canon.LinkQuery{From: place, Kinds: []string{"exit"}}) {
		if to := l.add(x.To); to != claim.None {
			l.world.Entities[to].Near = true
		}
	}
	for _, x := range l.links(canon.LinkQuery{To: place, Kinds: []string{"at", "within"},
		Page: canon.Page{Limit: claimHere}}) {
		if who := l.add(x.From); who != claim.None {
			l.world.Entities[who].Near = true
		}
	}
}

// weatherAt returns the weather of a place: its latest layer of that kind. Only the world's clock tells whether a layer
// with a beginning or an end is in force, so such weather counts as unknown.
func (l *claimLoader) weatherAt(place canon.CardID) string {
	if l.world.Place == claim.None || l.err != nil {
		return ""
	}
	layers, err := l.audience.Layers(l.ctx, canon.LayerQuery{Card: place, AsOf: l.audience.At})
	l.err = err
	for _, y := range layers { // latest written first
		if y.Kind != "weather" {
			continue
		}
		if y.FromTick == 0 && y.ToTick == 0 {
			return y.Text
		}
		return ""
	}
	return ""
}

// loadLinks adds the links of all entities, and the entities at their other ends.
func (l *claimLoader) loadLinks() {
	var froms []canon.CardID
	for _, c := range l.cards {
		froms = append(froms, c.ID)
	}
	links := l.links(canon.LinkQuery{Froms: froms, Kinds: []string{"exit", "at", "within", "holds", "relationship"}})
	for e, c := range l.cards[:len(froms)] {
		switch l.world.Entities[e].Class {
		case claim.Thing:
			links = append(links, l.links(canon.LinkQuery{To: c.ID, Kinds: []string{"holds"}})...)
		case claim.Person:
			links = append(links, l.links(canon.LinkQuery{To: c.ID, Kinds: []string{"relationship"}})...)
		}
	}
	seen := map[canon.LinkID]bool{}
	for _, k := range links {
		if !seen[k.ID] {
			seen[k.ID] = true
			l.addLink(k)
		}
	}
	for range claimParents {
		l.loadParents()
	}
}

func (l *claimLoader) links(q canon.LinkQuery) []canon.Link {
	if l.err != nil {
		return nil
	}
	list, err := l.audience.Links(l.ctx, q)
	l.err = err
	return list
}

func (l *claimLoader) addLink(k canon.Link) {
	from, to := l.add(k.From), l.add(k.To)
	if from == claim.None || to == claim.None {
		return
	}
	var attrs struct{ Direction, LockState, Type string }
	_ = json.Unmarshal(k.Attrs, &attrs) // attributes of another form say nothing
	w := &l.world
	place := w.Entities[to].Class == claim.Place
	switch {
	case k.Kind == "exit":
		w.Exits = append(w.Exits, claim.Exit{From: from, To: to, Direction: attrs.Direction, Lock: attrs.LockState})
	case k.Kind == "holds":
		w.Holder[to] = from
	case k.Kind == "relationship":
		w.Relations = append(w.Relations, claim.Relation{From: from, To: to, Type: attrs.Type})
	case place && w.Entities[from].Class == claim.Place:
		w.Within[from] = to
	case place:
		w.At[from] = to
	}
}

// loadParents adds the places around the places that somebody is at.
func (l *claimLoader) loadParents() {
	var froms []canon.CardID
	for _, at := range l.world.At {
		if _, ok := l.world.Within[at]; !ok {
			froms = append(froms, l.cards[at].ID)
		}
	}
	for _, at := range l.world.Within {
		if _, ok := l.world.Within[at]; !ok {
			froms = append(froms, l.cards[at].ID)
		}
	}
	if len(froms) == 0 {
		return
	}
	for _, k := range l.links(canon.LinkQuery{Froms: froms, Kinds: []string{"within"}}) {
		l.addLink(k)
	}
}
