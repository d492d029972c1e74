package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// allLabels has one label of each sort. In the world of fillAllLabels, the hall of allLabels[i] is
// card 10+i.
var allLabels = []access.Label{Open, GM, GMAlice, Admin, AdminBoth}

// visibilityRule lists the labels that each view sees.
var visibilityRule = []struct {
	who  string
	view access.View
	sees []access.Label
}{
	{"nobody", AsNobody, nil},
	{"a user", AsUser, []access.Label{Open}},
	{"a user who is named", AsAlice, []access.Label{Open, GMAlice, AdminBoth}},
	{"a user who is named once", access.View{Level: access.LevelUser, Subject: "bob"}, []access.Label{Open, AdminBoth}},
	{"a user who is not named", access.View{Level: access.LevelUser, Subject: "carol"}, []access.Label{Open}},
	{"a gm", AsGM, []access.Label{Open, GM, GMAlice}},
	{"a gm who is named", AsGMAlice, []access.Label{Open, GM, GMAlice, AdminBoth}},
	{"an admin", AsAdmin, allLabels},
	{"the door", AsAll, allLabels},
}

// fillAllLabels fills a store with one row of each kind under each label. The first world has an
// open card 1, "Town", and under it a hall for each label, with a version of an older name, a
// reference, a tag, a layer, a link to the town and one echo card of a shared name. The town also
// has a link and a layer of each label.
func fillAllLabels(t testing.TB, s canon.Store) {
	t.Helper()
	town := Card(1, "Town", Open)
	Put(t, s, town)
	write(t, s, func(tx Writer) {
		tx.Link(canon.Link{World: WorldID(1), ID: LinkID(99), Kind: "loop", From: town.ID, To: town.ID, Label: Open,
			Since: 1})
		for i, label := range allLabels {
			n := 10 + i
			old := Under(town, Card(n, fmt.Sprintf("Town+Old %s", label), label))
			old.Codename, old.Type = "code-"+label.String(), "Kind "+label.String()
			old.Fields = fmt.Appendf(nil, `{"sort":%d,"aliases":["Known As %s","Every Hall"]}`, n, label)
			tx.Card(old, "")
			hall := Next(old, n+10)
			hall.Name, hall.Part = "Town+Hall "+label.String(), "Hall "+label.String()
			hall.Key = markup.KeyOf(hall.Name)
			tx.Card(hall, "lantern "+label.Level.String())
			tx.Refs(hall,
				canon.Ref{Kind: canon.RefLink, Target: "town", Name: "Town"},
				canon.Ref{Kind: canon.RefLink, Target: markup.KeyOf("gone " + label.String()), Name: "gone " + label.String()})
			tags := Under(hall, Card(n+20, hall.Name+"+tags", Open))
			tx.Card(tags, "")
			tx.Refs(tags,
				canon.Ref{Kind: canon.RefTag, Target: "hall", Name: "hall"},
				canon.Ref{Kind: canon.RefTag, Target: markup.KeyOf("tag " + label.String()), Name: "tag " + label.String()})
			tx.Card(Card(n+30, "Echo", label), "")
			tx.Link(canon.Link{World: WorldID(1), ID: LinkID(n), Kind: "to hall", From: town.ID, To: hall.ID, Label: Open,
				Since: 1,
				Attrs: fmt.Appendf(nil, `{"of %s":%d}`, label.Level, n)})
			tx.Link(canon.Link{World: WorldID(1), ID: LinkID(n + 10), Kind: "from hall", From: hall.ID, To: town.ID, Label: Open,
				Since: 1})
			tx.Link(canon.Link{World: WorldID(1), ID: LinkID(n + 20), Kind: "loop", From: town.ID, To: town.ID, Label: label,
				Since: 2})
			tx.Layer(canon.Layer{World: WorldID(1), ID: LayerID(n), Card: town.ID, Kind: "base", Text: label.String(),
				Label: label, Since: 1})
			tx.Layer(canon.Layer{World: WorldID(1), ID: LayerID(n + 10), Card: hall.ID, Kind: "base", Text: label.String(),
				Label: Open, Since: 1})
			tx.Event(Event(n, "seen", "hall", label))
			gone := Trashed(Card(n+40, "Gone "+label.String(), label), Card(n+40, "", label), n)
			tx.Card(gone, "")
		}
	})
}

// question is a query of the world of fillAllLabels. It returns the labels of the rows found, in
// any order, and the total or uncounted.
type question struct {
	name string
	ask  func(viewReader) ([]access.Label, canon.Total)
}

// uncounted is the total of a question without a total.
var uncounted = canon.Total{Count: -1}

// askEachHall queries one hall after the other, and returns the labels of those that are found.
func askEachHall(found func(e viewReader, n int, l access.Label) bool) func(viewReader) ([]access.Label, canon.Total) {
	return func(e viewReader) (out []access.Label, _ canon.Total) {
		for i, l := range allLabels {
			if found(e, 10+i, l) {
				out = append(out, l)
			}
		}
		return out, uncounted
	}
}

func labelsOf(cards []canon.Card) (out []access.Label) {
	for _, c := range cards {
		out = append(out, c.Label)
	}
	return out
}

// listHalls queries the halls as a list of cards.
func listHalls(f canon.Filter) func(viewReader) ([]access.Label, canon.Total) {
	return func(e viewReader) ([]access.Label, canon.Total) {
		cards, total := e.listPage(f, everything)
		return labelsOf(cards), total
	}
}

func searchHalls(q canon.SearchQuery) func(viewReader) ([]access.Label, canon.Total) {
	return func(e viewReader) (out []access.Label, _ canon.Total) {
		res := e.searchAll(q)
		for _, h := range res.Hits {
			out = append(out, h.Card.Label)
		}
		return out, res.Total
	}
}

// labelFromText parses the label at the end of a text such as "gone gm:alice".
func labelFromText(text string) access.Label {
	var l access.Label
	_ = l.UnmarshalText([]byte(text[strings.LastIndex(text, " ")+1:]))
	return l
}

var cardQuestions = []question{
	{"FindCards by ID", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		_, ok := e.findCard(n)
		return ok
	})},
	{"FindCards by Codename", askEachHall(func(e viewReader, _ int, l access.Label) bool {
		_, ok, err := canon.First(e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Codename: "code-" + l.String()}))
		e.ok("FindCards by Codename", err)
		return ok
	})},
	{"FindCards by Key", func(e viewReader) ([]access.Label, canon.Total) {
		cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Key: "echo"})
		e.ok("FindCards by Key", err)
		return labelsOf(cards), uncounted
	}},
	{"FindCards by OldKey", askEachHall(func(e viewReader, _ int, l access.Label) bool {
		cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{OldKey: markup.KeyOf("Town+Old " + l.String())})
		e.ok("FindCards by OldKey", err)
		return len(cards) == 1
	})},
	{"Cards by name", listHalls(canon.Filter{NameContains: "hall"})},
	{"Cards by parent", listHalls(canon.Filter{Parent: CardID(1)})},
	{"Cards that are roots", listHalls(canon.Filter{Roots: true, NotName: "Town"})},
	{"Cards by tag", listHalls(canon.Filter{Tag: "Halls"})},
	{"Cards by a tag of their own", askEachHall(func(e viewReader, n int, l access.Label) bool {
		return len(e.listCards(canon.Filter{Tag: "tag " + l.String()})) == 1
	})},
	{"Cards by type", askEachHall(func(e viewReader, n int, l access.Label) bool {
		return len(e.listCards(canon.Filter{Type: "kind " + l.String()})) == 1
	})},
	{"Descendants", func(e viewReader) ([]access.Label, canon.Total) {
		cards, total, err := e.r.Descendants(e.ctx(), e.s, CardID(1), 1, everything)
		e.ok("Descendants", err)
		return labelsOf(cards), total
	}},
	{"TypeUse", askEachHall(func(e viewReader, _ int, l access.Label) bool {
		use, err := e.r.TypeUse(e.ctx(), e.s)
		e.ok("TypeUse", err)
		return use[string(markup.KeyOf("Kind "+l.String()))] == 1
	})},
	{"CompleteNames", func(e viewReader) (out []access.Label, _ canon.Total) {
		list, err := e.r.CompleteNames(e.ctx(), e.s, "town+hall ", 100)
		e.ok("CompleteNames", err)
		for _, name := range list {
			out = append(out, labelFromText(name))
		}
		return out, uncounted
	}},
	{"FindCards by IDs", func(e viewReader) ([]access.Label, canon.Total) {
		cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{IDs: []canon.CardID{CardID(10), CardID(11), CardID(12),
			CardID(13), CardID(14)}})
		e.ok("FindCards by IDs", err)
		return labelsOf(cards), uncounted
	}},
	{"FindCards by Alias", func(e viewReader) ([]access.Label, canon.Total) {
		cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{Alias: "every_hall"})
		e.ok("FindCards by Alias", err)
		return labelsOf(cards), uncounted
	}},
	{"NearCards", func(e viewReader) ([]access.Label, canon.Total) {
		hits, err := e.r.NearCards(e.ctx(), e.s, "every hall", canon.Filter{Coded: true}, 100)
		e.ok("NearCards", err)
		var cards []canon.Card
		for _, h := range hits {
			cards = append(cards, h.Card)
		}
		return labelsOf(cards), uncounted
	}},
	{"Cards with a codename", listHalls(canon.Filter{Coded: true, Sort: canon.SortField})},
	{"Cards of types", listHalls(canon.Filter{Types: []string{"kind user", "kind gm", "kind gm:alice", "kind admin",
		"kind admin:alice,bob"}})},
	{"Cards by their field", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		at := int64(n)
		return len(e.listCards(canon.Filter{SortFrom: &at, SortTo: &at})) == 1
	})},
	{"Reach", func(e viewReader) ([]access.Label, canon.Total) {
		got, err := e.r.Reach(e.ctx(), e.s, canon.ReachQuery{From: CardID(1), Kinds: []string{"to hall"}, Depth: 3,
			Limit: 100})
		e.ok("Reach", err)
		if len(got.Cards) == 0 {
			return nil, uncounted
		}
		if len(got.Links) != len(got.Cards)-1 {
			e.t.Errorf("Reach gives %d links among %d cards", len(got.Links), len(got.Cards))
		}
		return labelsOf(got.Cards[1:]), uncounted
	}},
	{"NearNames", askEachHall(func(e viewReader, _ int, l access.Label) bool {
		list, err := e.r.NearNames(e.ctx(), e.s, "Town+Hal "+l.String(), 100)
		e.ok("NearNames", err)
		return slices.Contains(list, "Town+Hall "+l.String())
	})},
	{"Search", searchHalls(canon.SearchQuery{Q: "lantern", InContent: true, Mode: canon.MatchWord})},
	{"Search for a phrase", searchHalls(canon.SearchQuery{Q: "town hall", InName: true, Mode: canon.MatchPhrase,
		Filter: canon.Filter{Parent: CardID(1)}})},
	{"Search for a part", searchHalls(canon.SearchQuery{Q: "anter", InContent: true, Mode: canon.MatchSubstring})},
	{"Search with a tag", searchHalls(canon.SearchQuery{Q: "lantern", InContent: true, Mode: canon.MatchWord,
		Filter: canon.Filter{Tag: "hall"}})},
	{"Search by name", searchHalls(canon.SearchQuery{Q: "lantern", InContent: true, Mode: canon.MatchWord,
		Filter: canon.Filter{Sort: canon.SortName}})},
}

var rowQuestions = []question{
	{"Versions", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		rows, total, err := e.r.Versions(e.ctx(), e.s, CardID(n), everything)
		e.ok("Versions", err)
		e.checkTotal("Versions", total, len(rows))
		return len(rows) == 2
	})},
	{"VersionByCount", askEachHall(func(e viewReader, n int, l access.Label) bool {
		v, ok, err := e.r.VersionByCount(e.ctx(), e.s, CardID(n), 2)
		e.ok("VersionByCount", err)
		return ok && v.Rev == 2
	})},
	{"Feed", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, total, err := e.r.Feed(e.ctx(), e.s, canon.FeedQuery{Page: everything})
		e.ok("Feed", err)
		e.checkTotal("Feed", total, len(rows))
		for _, v := range rows {
			if v.Rev == 2 {
				out = append(out, v.Label)
			}
		}
		return out, uncounted
	}},
	{"Refs to", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, total, err := e.r.Refs(e.ctx(), e.s, canon.RefQuery{Target: "town", Page: everything})
		e.ok("Refs", err)
		for _, row := range rows {
			out = append(out, row.Card.Label)
		}
		return out, total
	}},
	{"Refs from", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		rows, total, err := e.r.Refs(e.ctx(), e.s, canon.RefQuery{From: CardID(n), Page: everything})
		e.ok("Refs", err)
		e.checkTotal("Refs", total, len(rows))
		return len(rows) == 2
	})},
	{"Wanted", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, total, err := e.r.Wanted(e.ctx(), e.s, everything)
		e.ok("Wanted", err)
		for _, w := range rows {
			out = append(out, labelFromText(w.Name))
		}
		return out, total
	}},
	{"Tags", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, total, err := e.r.Tags(e.ctx(), e.s, "tag ", everything)
		e.ok("Tags", err)
		for _, tag := range rows {
			out = append(out, labelFromText(tag.Name))
		}
		return out, total
	}},
	{"Tags of many", func(e viewReader) ([]access.Label, canon.Total) {
		rows, _, err := e.r.Tags(e.ctx(), e.s, "hall", everything)
		e.ok("Tags", err)
		seen, _ := listHalls(canon.Filter{Tag: "hall"})(e)
		if len(rows) == 0 {
			return seen, canon.Total{}
		}
		return seen, canon.Total{Count: rows[0].Count}
	}},
	{"Links by their ends", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, total, err := e.r.Links(e.ctx(), e.s, canon.LinkQuery{Kinds: []string{"to hall"}, Page: everything})
		e.ok("Links", err)
		for _, l := range rows {
			out = append(out, allLabels[slices.Index(linkIDs(10), l.ID)])
		}
		return out, total
	}},
	{"Links by their start", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		_, ok := e.findLink(n + 10)
		return ok
	})},
	{"Links by their label", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, total, err := e.r.Links(e.ctx(), e.s, canon.LinkQuery{From: CardID(1), To: CardID(1), Page: everything})
		e.ok("Links", err)
		e.checkTotal("Links", total, len(rows))
		for _, l := range rows {
			if l.ID != LinkID(99) {
				out = append(out, l.Label)
			}
		}
		return out, uncounted
	}},
	{"Links by ID", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		_, ok := e.findLink(n + 20)
		return ok
	})},
	{"Layers", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, err := e.r.Layers(e.ctx(), e.s, canon.LayerQuery{Card: CardID(1)})
		e.ok("Layers", err)
		for _, l := range rows {
			out = append(out, l.Label)
		}
		return out, uncounted
	}},
	{"Layers of the hidden", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		rows, err := e.r.Layers(e.ctx(), e.s, canon.LayerQuery{Card: CardID(n)})
		e.ok("Layers", err)
		return len(rows) == 1
	})},
	{"Layers by ID", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		_, ok := e.findLayer(n)
		return ok
	})},
	{"Events", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, total, err := e.r.Events(e.ctx(), e.s, canon.EventQuery{Page: everything})
		e.ok("Events", err)
		for _, row := range rows {
			out = append(out, row.Label)
		}
		return out, total
	}},
	{"Events by their commit", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		_, total, err := e.r.Events(e.ctx(), e.s, canon.EventQuery{ID: UUID(n), Page: everything})
		e.ok("Events", err)
		return total.Count == 1
	})},
	{"CardsAt of one card", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		_, ok, err := canon.First(e.r.CardsAt(e.ctx(), e.s, []canon.CardID{CardID(n)}, canon.Seq(n)))
		e.ok("CardsAt of one card", err)
		return ok
	})},
	{"CardsAt", func(e viewReader) (out []access.Label, _ canon.Total) {
		rows, err := e.r.CardsAt(e.ctx(), e.s, []canon.CardID{CardID(10), CardID(11), CardID(12), CardID(13),
			CardID(14)}, 1000)
		e.ok("CardsAt", err)
		for _, v := range rows {
			out = append(out, v.Label)
		}
		return out, uncounted
	}},
	{"Layers by ID of the hidden", askEachHall(func(e viewReader, n int, _ access.Label) bool {
		_, ok := e.findLayer(n + 10)
		return ok
	})},
}

func linkIDs(from int) (out []canon.LinkID) {
	for i := range allLabels {
		out = append(out, LinkID(from+i))
	}
	return out
}

// testVisibility runs each question through each view, and compares the result and its total with
// visibilityRule.
func testVisibility(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	fillAllLabels(t, s)
	for _, q := range slices.Concat(cardQuestions, rowQuestions) {
		for _, v := range visibilityRule {
			readAs(t, s, v.view, func(e viewReader) {
				got, total := q.ask(e)
				if labelsText(got) != labelsText(v.sees) {
					t.Errorf("%s: %s finds %s, want %s", q.name, v.who, labelsText(got), labelsText(v.sees))
				}
				if total != uncounted && total != (canon.Total{Count: len(v.sees)}) {
					t.Errorf("%s: %s is told of %+v, want %d", q.name, v.who, total, len(v.sees))
				}
			})
		}
	}
	t.Run("another world", func(t *testing.T) { testOtherWorld(t, s) })
}

// testOtherWorld runs each question on an empty world.
func testOtherWorld(t *testing.T, s canon.Store) {
	write(t, s, func(tx Writer) { tx.PutWorld(World(2)) })
	err := s.Read(t.Context(), func(r canon.Reader) error {
		for _, q := range slices.Concat(cardQuestions, rowQuestions) {
			got, total := q.ask(viewReader{t, r, canon.Visibility{World: WorldID(2), View: AsAll}})
			if len(got) > 0 || total != uncounted && total != (canon.Total{}) {
				t.Errorf("%s: the other world finds %s, %+v", q.name, labelsText(got), total)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// labelsText returns labels as one text, sorted.
func labelsText(labels []access.Label) string {
	out := []string{}
	for _, l := range labels {
		out = append(out, l.String())
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}
