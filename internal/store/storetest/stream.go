package storetest

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func testBodies(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	texts := []string{"", "text", "nul \x00 and no UTF-8 \xff\xfe", string(bytes.Repeat([]byte("long "), 100_000))}
	put := func(w int, body string) {
		write(t, s, func(tx Writer) {
			tx.ok("PutBody", tx.Tx.PutBody(t.Context(), WorldID(w), HashOf(body), []byte(body)))
		})
	}
	has := func(w int, body string, want bool) {
		t.Helper()
		readAs(t, s, AsNobody, func(e viewReader) {
			b, ok, err := e.r.Body(e.ctx(), WorldID(w), HashOf(body))
			e.ok("Body", err)
			if ok != want || string(b) != body && want {
				t.Errorf("Body %.20q of world %d: %.20q, %v; want %v", body, w, b, ok, want)
			}
		})
	}
	write(t, s, func(tx Writer) { tx.PutWorld(World(1)); tx.PutWorld(World(2)) })
	for _, text := range texts {
		has(1, text, false)
		put(1, text)
		put(1, text)
		has(1, text, true)
		has(2, text, false)
	}
	put(2, "text")
	write(t, s, func(tx Writer) {
		tx.ok("EraseBody", tx.Tx.EraseBody(t.Context(), WorldID(1), HashOf("text")))
		tx.ok("EraseBody again", tx.Tx.EraseBody(t.Context(), WorldID(1), HashOf("text")))
	})
	has(1, "text", false)
	has(1, "", true)
	has(2, "text", true)
	put(1, "text")
	has(1, "text", true)
	t.Run("in use", func(t *testing.T) { testBodyInUse(t, s) })
}

func testBodyInUse(t *testing.T, s canon.Store) {
	c := With(Card(1, "Card", Open), "one")
	next := With(Next(c, 2), "two")
	gone := With(Card(3, "Gone", Open), "three")
	Put(t, s, c, next, Trashed(gone, gone, 1))
	inUse := func(w int, body string, want bool) {
		t.Helper()
		write(t, s, func(tx Writer) {
			got, err := tx.Tx.BodyInUse(t.Context(), WorldID(w), HashOf(body))
			tx.ok("BodyInUse", err)
			if got != want {
				t.Errorf("BodyInUse of %q in world %d: %v, want %v", body, w, got, want)
			}
		})
	}
	inUse(1, "one", true) // used by an older version
	inUse(1, "two", true)
	inUse(1, "three", true) // used by a card in the trash
	inUse(1, "four", false)
	inUse(2, "one", false)
	old := Version(c)
	old.Purged, old.To = true, 2
	write(t, s, func(tx Writer) { tx.ok("PutVersion", tx.Tx.PutVersion(t.Context(), old)) })
	inUse(1, "one", false)
	inUse(1, "two", true)
}

func testStreams(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	var first, other []canon.StoredCommit
	readAs(t, s, AsNobody, func(e viewReader) {
		head, err := e.r.Head(e.ctx(), "b")
		if err != nil || head != (canon.Head{}) {
			t.Errorf("the head of an empty stream: %+v, %v", head, err)
		}
	})
	for range 5 {
		write(t, s, func(tx Writer) { first = append(first, tx.Append("b"), tx.Append("b")) })
	}
	write(t, s, func(tx Writer) { other = append(other, tx.Append("a:é")) })
	t.Run("are listed by id, each with its head", func(t *testing.T) {
		readAs(t, s, AsNobody, func(e viewReader) {
			inB, inA := canon.StreamHead{Stream: "b", Head: canon.Head{Seq: 10, Hash: first[9].Hash}},
				canon.StreamHead{Stream: "a:é", Head: canon.Head{Seq: 1, Hash: other[0].Hash}}
			for kind, want := range map[string][]canon.StreamHead{"": {inA, inB}, "a": {inA}, "b": nil, "a:": nil, "c": nil} {
				if streams, err := e.r.Streams(e.ctx(), kind); err != nil || !slices.Equal(streams, want) {
					t.Errorf("Streams of the kind %q: %v, %v; want %v", kind, streams, err, want)
				}
			}
			head, err := e.r.Head(e.ctx(), "b")
			if want := (canon.Head{Seq: 10, Hash: first[9].Hash}); err != nil || head != want {
				t.Errorf("Head: %+v, %v; want %+v", head, err, want)
			}
		})
	})
	t.Run("yield commits in order", func(t *testing.T) { testCommits(t, s, first, other) })
	t.Run("take only the next commit", func(t *testing.T) { testAppendOrder(t, s) })
	t.Run("repeats", func(t *testing.T) { testRepeats(t, s) })
}

func testCommits(t *testing.T, s canon.Store, first, other []canon.StoredCommit) {
	readAs(t, s, AsNobody, func(e viewReader) {
		for _, test := range []struct {
			stream canon.StreamID
			from   canon.Seq
			want   []canon.StoredCommit
		}{
			{"b", 0, first}, {"b", 1, first}, {"b", 4, first[3:]}, {"b", 10, first[9:]}, {"b", 11, nil}, {"a:é", 0, other},
			{"none", 0, nil},
		} {
			var got []canon.StoredCommit
			for c, err := range e.r.Commits(e.ctx(), test.stream, test.from) {
				e.ok("Commits", err)
				got = append(got, c)
			}
			if !sameRows(got, test.want) {
				t.Errorf("Commits of %s from %d:\n got %+v\nwant %+v", test.stream, test.from, got, test.want)
			}
		}
		n := 0
		for range e.r.Commits(e.ctx(), "b", 1) {
			if n++; n == 3 {
				break
			}
		}
		for i, c := range first {
			got, ok, err := e.r.CommitByID(e.ctx(), "b", c.ID)
			if err != nil || !ok || !reflect.DeepEqual(got, first[i]) {
				t.Errorf("CommitByID %d: %+v, %v, %v", i, got, ok, err)
			}
		}
		if _, ok, err := e.r.CommitByID(e.ctx(), "b", UUID(99)); ok || err != nil {
			t.Errorf("CommitByID of nothing: %v, %v", ok, err)
		}
		if _, ok, err := e.r.CommitByID(e.ctx(), "a:é", first[5].ID); ok || err != nil {
			t.Errorf("CommitByID of another stream's: %v, %v", ok, err)
		}
		for c, err := range e.r.Commits(e.ctx(), "b", 9) { // a second query during the iteration
			e.ok("Commits", err)
			if _, ok, err := e.r.CommitByID(e.ctx(), "b", c.ID); !ok || err != nil {
				t.Errorf("CommitByID inside Commits: %v, %v", ok, err)
			}
		}
	})
}

func testAppendOrder(t *testing.T, s canon.Store) {
	next := func() canon.StoredCommit { return Commit("b", canon.Head{Seq: 10, Hash: headOf(t, s, "b").Hash}) }
	for name, change := range map[string]func(*canon.StoredCommit){
		"the head again":      func(c *canon.StoredCommit) { c.Seq = 10 },
		"one with a gap":      func(c *canon.StoredCommit) { c.Seq = 12 },
		"number 0":            func(c *canon.StoredCommit) { c.Seq = 0 },
		"one off the chain":   func(c *canon.StoredCommit) { c.Prev = HashOf("else") },
		"the first, chained":  func(c *canon.StoredCommit) { c.Stream, c.Seq = "new", 1 },
		"the second as first": func(c *canon.StoredCommit) { c.Stream, c.Seq, c.Prev = "new", 2, canon.Hash{} },
	} {
		c := next()
		change(&c)
		write(t, s, func(tx Writer) {
			if err := tx.Tx.Append(t.Context(), c); err == nil {
				t.Errorf("Append takes %s", name)
			}
		})
	}
	if head := headOf(t, s, "b"); head.Seq != 10 {
		t.Errorf("after refused commits the head is %d", head.Seq)
	}
	write(t, s, func(tx Writer) { tx.ok("Append", tx.Tx.Append(t.Context(), next())) })
	readAs(t, s, AsNobody, func(e viewReader) {
		if streams, err := e.r.Streams(e.ctx(), ""); err != nil || len(streams) != 2 {
			t.Errorf("after refused commits there are the streams %v, %v", streams, err)
		}
	})
}

func headOf(t *testing.T, s canon.Store, id canon.StreamID) (head canon.Head) {
	t.Helper()
	readAs(t, s, AsNobody, func(e viewReader) {
		var err error
		head, err = e.r.Head(e.ctx(), id)
		e.ok("Head", err)
	})
	return head
}

func testRepeats(t *testing.T, s canon.Store) {
	long := canon.Repeat{Account: "k1", Key: "a", InputHash: HashOf("in"), Stream: "b", Seq: 7, Expires: Time(1)}
	again := long
	again.InputHash, again.Seq, again.Expires = HashOf("other"), 8, Time(2)
	find := func(account, key string, want canon.Repeat) {
		t.Helper()
		readAs(t, s, AsNobody, func(e viewReader) {
			got, ok, err := e.r.Repeat(e.ctx(), account, key)
			e.ok("Repeat", err)
			if ok != (want != canon.Repeat{}) || !reflect.DeepEqual(got, want) {
				t.Errorf("Repeat %s, %s: %+v, %v; want %+v", account, key, got, ok, want)
			}
		})
	}
	find("k1", "a", canon.Repeat{})
	write(t, s, func(tx Writer) { tx.ok("PutRepeat", tx.Tx.PutRepeat(t.Context(), long)) })
	find("k1", "a", long) // although it has expired: package canon checks the time
	find("k2", "a", canon.Repeat{})
	find("k1", "A", canon.Repeat{})
	write(t, s, func(tx Writer) { tx.ok("PutRepeat", tx.Tx.PutRepeat(t.Context(), again)) })
	find("k1", "a", again)
}

// dumpTables returns the dumps of all tables of a world.
func dumpTables(t testing.TB, s canon.Store, w access.WorldID) string {
	t.Helper()
	var text bytes.Buffer
	err := s.Read(t.Context(), func(r canon.Reader) error {
		for _, table := range canon.Tables {
			text.WriteString("# " + string(table) + "\n")
			for line, err := range r.Dump(t.Context(), w, table) {
				if err != nil {
					return err
				}
				text.WriteString(line + "\n")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("Dump: %v", err)
	}
	return text.String()
}

func testDump(t *testing.T, open func(*testing.T) canon.Store) {
	t.Run("writes a row as JSON", func(t *testing.T) { testDumpLines(t, open(t)) })
	t.Run("depends on the rows alone", func(t *testing.T) { testDumpOrder(t, open) })
	t.Run("is empty after Clear, and the same when written again", func(t *testing.T) { testClear(t, open(t)) })
	t.Run("knows its tables", func(t *testing.T) {
		err := open(t).Read(t.Context(), func(r canon.Reader) error {
			for _, err := range r.Dump(t.Context(), WorldID(1), "nonsense") {
				return err
			}
			return nil
		})
		if err == nil {
			t.Error("a table that is not there dumps without an error")
		}
	})
}

const dumped = `# world
{"ID":"01990000-0000-7000-8000-000000000001","Slug":"world-1","Title":"World 1","Settings":{"description":"\u003cé\u003e"},"CreatedAt":"2026-03-01T00:00:00Z","Origin":"00000000-0000-0000-0000-000000000000","OriginSeq":0}
# members
{"World":"01990000-0000-7000-8000-000000000001","Subject":"ann","Role":"gm","Player":"00000000-0000-0000-0000-000000000000"}
# cards
{"World":"01990000-0000-7000-8000-000000000001","ID":"01990000-0000-7000-8000-000000000001","Parent":"00000000-0000-0000-0000-000000000000","Part":"Été","Codename":"","Type":"RichText","Content":"","Size":0,"Length":0,"Fields":{"a":1},"Own":"gm:alice","Name":"Été","Key":"été","Label":"gm:alice","Rev":1,"Counts":[0,1,1],"CreatedAt":"2026-03-01T00:00:01Z","CreatedBy":"ann","UpdatedAt":"2026-03-01T00:00:01.5Z","UpdatedBy":"ann","Seq":1,"TrashedAt":"0001-01-01T00:00:00Z","TrashRoot":"00000000-0000-0000-0000-000000000000"}
# versions
{"World":"01990000-0000-7000-8000-000000000001","Card":"01990000-0000-7000-8000-000000000001","Rev":1,"From":1,"To":0,"Counts":[0,1,1],"Label":"gm:alice","Name":"Été","Type":"RichText","Content":"","Size":0,"Length":0,"Fields":{"a":1},"Trashed":false,"Purged":false,"At":"2026-03-01T00:00:01.5Z","By":"ann","Op":"test","Change":"01990000-0000-7000-8000-000000000001"}
# refs
{"From":"01990000-0000-7000-8000-000000000001","Kind":1,"Target":"zed","Name":"Zed","Order":0}
# links
{"World":"01990000-0000-7000-8000-000000000001","ID":"01990000-0000-7000-8000-000000000001","Kind":"loop","From":"01990000-0000-7000-8000-000000000001","To":"01990000-0000-7000-8000-000000000001","Attrs":null,"Label":"user","Since":1,"Until":0,"At":"2026-03-01T00:00:01Z"}
# layers
{"World":"01990000-0000-7000-8000-000000000001","ID":"01990000-0000-7000-8000-000000000001","Card":"01990000-0000-7000-8000-000000000001","Kind":"base","Text":"t","FromTick":-1,"ToTick":0,"Label":"user","At":"2026-03-01T00:00:01Z","Since":1,"Until":0}
# events
{"World":"01990000-0000-7000-8000-000000000001","ID":"01990000-0000-7000-8000-000000000002","Seq":2,"At":"2026-03-01T00:00:02Z","By":"ann","Op":"test","Type":"moved","Scope":"place:1","Actor":{"kind":"npc","id":"7"},"Correlation":"c","Causation":"d","Key":"k","Version":3,"Payload":{"é":"\u003c"},"Label":"gm:alice"}
# search
{"Card":"01990000-0000-7000-8000-000000000001","Label":"gm:alice","Name":"Été","Text":"a text"}
`

func testDumpLines(t *testing.T, s canon.Store) {
	c := Card(1, "Été", GMAlice)
	c.Fields = []byte(`{"a":1}`)
	c.UpdatedAt = c.UpdatedAt.Add(500_000_000)
	w := World(1)
	w.Settings.Description = "<é>"
	write(t, s, func(tx Writer) {
		tx.PutWorld(w)
		tx.ok("PutMember", tx.Tx.PutMember(t.Context(), canon.Member{World: w.ID, Subject: "ann", Role: access.RoleGM}))
		tx.Card(c, "a text")
		tx.Refs(c, refTo(link, "Zed"))
		tx.Link(canon.Link{World: w.ID, ID: LinkID(1), Kind: "loop", From: c.ID, To: c.ID, Label: Open, Since: 1,
			At: Time(1)})
		tx.Layer(canon.Layer{World: w.ID, ID: LayerID(1), Card: c.ID, Kind: "base", Text: "t", FromTick: -1, Label: Open,
			Since: 1, At: Time(1)})
		e := Event(2, "moved", "place:1", GMAlice)
		e.Actor, e.Correlation, e.Causation, e.Key, e.Version = canon.EventActor{Kind: "npc", ID: "7"}, "c", "d", "k", 3
		e.Payload = []byte(`{"é": "<"}`)
		tx.Event(e)
	})
	if got := dumpTables(t, s, w.ID); got != dumped {
		t.Errorf("the dump is\n%s\nwant\n%s", got, dumped)
	}
	if got := dumpTables(t, s, WorldID(2)); got != dumpTables(t, s, WorldID(3)) {
		t.Errorf("the dump of another world is\n%s", got)
	}
}

// testDumpOrder writes the same cards in two orders, in one store with other states in between.
func testDumpOrder(t *testing.T, open func(*testing.T) canon.Store) {
	a, b, c := Card(1, "A", Open), Card(2, "B", GMAlice), Card(3, "C", AdminBoth)
	straight, astray := open(t), open(t)
	Put(t, straight, a, b, c)
	Put(t, astray, c, b)
	write(t, astray, func(tx Writer) { tx.Refs(b, refTo(link, "Zed")) })
	other := b
	other.Label, other.Name = Admin, "Other"
	Put(t, astray, other)
	write(t, astray, func(tx Writer) { tx.Refs(b) })
	Put(t, astray, b, a)
	if x, y := dumpTables(t, straight, WorldID(1)), dumpTables(t, astray, WorldID(1)); x != y {
		t.Errorf("the same rows dump as\n%s\nand as\n%s", x, y)
	}
}

func testClear(t *testing.T, s canon.Store) {
	fillAllLabels(t, s)
	write(t, s, func(tx Writer) {
		other := Card(1, "Elsewhere", Open)
		other.World = WorldID(2)
		tx.PutWorld(World(2))
		tx.Card(other, "text")
		tx.ok("PutMember", tx.Tx.PutMember(t.Context(), canon.Member{World: WorldID(1), Subject: "ann", Role: access.RoleGM}))
		tx.ok("PutBody", tx.Tx.PutBody(t.Context(), WorldID(1), HashOf("b"), []byte("b")))
		tx.ok("PutRepeat", tx.Tx.PutRepeat(t.Context(), canon.Repeat{Account: "k", Key: "a", Stream: "s", Seq: 1}))
		tx.Append("s")
	})
	empty, full, elsewhere := dumpTables(t, s, WorldID(9)), dumpTables(t, s, WorldID(1)), dumpTables(t, s, WorldID(2))
	clear := errors.New("not kept")
	err := s.Write(t.Context(), func(tx canon.Tx) error { return errors.Join(tx.Clear(t.Context(), WorldID(1)), clear) })
	if !errors.Is(err, clear) || dumpTables(t, s, WorldID(1)) != full {
		t.Errorf("a Clear that failed has cleared: %v", err)
	}
	write(t, s, func(tx Writer) { tx.ok("Clear", tx.Tx.Clear(t.Context(), WorldID(1))) })
	if got := dumpTables(t, s, WorldID(1)); got != empty {
		t.Errorf("after Clear there is\n%s", got)
	}
	if got := dumpTables(t, s, WorldID(2)); got != elsewhere {
		t.Errorf("Clear has changed another world:\n%s\nwas\n%s", got, elsewhere)
	}
	readAs(t, s, AsAll, func(e viewReader) {
		_, body, _ := e.r.Body(e.ctx(), WorldID(1), HashOf("b"))
		_, repeat, _ := e.r.Repeat(e.ctx(), "k", "a")
		head, _ := e.r.Head(e.ctx(), "s")
		if !body || !repeat || head.Seq != 1 {
			t.Errorf("Clear leaves bodies (%v), repeats (%v) and streams (%d)", body, repeat, head.Seq)
		}
		res := e.searchAll(canon.SearchQuery{Q: "lantern", InContent: true, Mode: word})
		if len(res.Hits) > 0 {
			t.Errorf("after Clear the index finds %q", hitNames(res))
		}
	})
	fillAllLabels(t, s)
	write(t, s, func(tx Writer) {
		tx.ok("PutMember", tx.Tx.PutMember(t.Context(), canon.Member{World: WorldID(1), Subject: "ann", Role: access.RoleGM}))
	})
	if got := dumpTables(t, s, WorldID(1)); got != full {
		t.Errorf("written again, the world dumps as\n%s\nwant\n%s", got, full)
	}
}
