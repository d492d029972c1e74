package storetest

import (
	"slices"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
)

func testTree(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	putTree(t, s)
	for _, test := range []struct {
		name  string
		view  access.View
		of    int
		depth int
		page  canon.Page
		want  []string
		total int
	}{
		{"children by creation, then id", AsUser, 1, 1, everything, []string{"R+b", "R+a", "R+c"}, 3},
		{"generations, in the order of their parents", AsUser, 1, 2, everything,
			[]string{"R+b", "R+a", "R+c", "R+b+z", "R+a+y", "R+a+x"}, 6},
		{"three deep", AsUser, 1, 3, everything, []string{"R+b", "R+a", "R+c", "R+b+z", "R+a+y", "R+a+x", "R+b+z+deep"}, 7},
		{"deeper than it goes", AsUser, 1, 100, everything,
			[]string{"R+b", "R+a", "R+c", "R+b+z", "R+a+y", "R+a+x", "R+b+z+deep"}, 7},
		{"no depth", AsUser, 1, 0, everything, []string{}, 0},
		{"a page over generations", AsUser, 1, 2, canon.Page{Limit: 2, Offset: 2}, []string{"R+c", "R+b+z"}, 6},
		{"past the end", AsUser, 1, 2, canon.Page{Limit: 2, Offset: 6}, []string{}, 6},
		{"one generation, past the end", AsUser, 1, 1, canon.Page{Limit: 2, Offset: 5}, []string{}, 3},
		{"one generation, its last page", AsUser, 1, 1, canon.Page{Limit: 2, Offset: 2}, []string{"R+c"}, 3},
		{"how many alone", AsUser, 1, 2, canon.Page{}, []string{}, 6},
		{"how many children alone", AsGM, 1, 1, canon.Page{}, []string{}, 4},
		{"children of what is hidden, though one be open itself", AsUser, 40, 1, everything, []string{}, 0},
		{"children of what is in the trash", AsAdmin, 30, 1, everything, []string{}, 0},
		{"from the middle", AsUser, 3, 5, everything, []string{"R+a+y", "R+a+x"}, 2},
		{"of a leaf", AsUser, 4, 5, everything, []string{}, 0},
		{"the gm's own in its place", AsGM, 1, 2, everything,
			[]string{"R+b", "R+gm", "R+a", "R+c", "R+b+z", "R+gm+notes", "R+a+y", "R+a+x"}, 8},
		{"below what is hidden", AsUser, 20, 5, everything, []string{}, 0},
		{"below what is hidden, though it be open itself", AsUser, 40, 5, everything, []string{}, 0},
		{"below what is in the trash", AsAdmin, 30, 5, everything, []string{}, 0},
		{"below nothing", AsAdmin, 77, 5, everything, []string{}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			readAs(t, s, test.view, func(e viewReader) {
				cards, total, err := e.r.Descendants(e.ctx(), e.s, CardID(test.of), test.depth, test.page)
				e.ok("Descendants", err)
				if got := cardNames(cards); !slices.Equal(got, test.want) {
					t.Errorf(" got %q\nwant %q", got, test.want)
				}
				e.checkTotal("Descendants", total, test.total)
			})
		})
	}
}

// putTree writes a tree whose order of creation is not that of its names or ids: b (card 2) is
// oldest, then gm, then a and c at the same time.
func putTree(t *testing.T, s canon.Store) {
	t.Helper()
	at := func(c canon.Card, n int) canon.Card {
		c.CreatedAt = Time(n)
		return c
	}
	root := at(Card(1, "R", Open), 50)
	b := at(Under(root, Card(2, "R+b", Open)), 10)
	a := at(Under(root, Card(3, "R+a", Open)), 12)
	c := at(Under(root, Card(4, "R+c", Open)), 12)
	z := at(Under(b, Card(8, "R+b+z", Open)), 30)
	gm := at(Under(root, Card(20, "R+gm", GM)), 11)
	gone := Trashed(at(Under(root, Card(30, "R+gone", Open)), 13), Card(30, "", Open), 60)
	odd := Card(41, "H+odd", Open) // a label that a real write would not give it
	odd.Parent = CardID(40)
	Put(t, s, root, c, a, b, gm, gone, z, Card(40, "H", GM), odd,
		at(Under(a, Card(7, "R+a+x", Open)), 9),
		at(Under(a, Card(6, "R+a+y", Open)), 8),
		at(Under(z, Card(9, "R+b+z+deep", Open)), 1),
		at(Under(gm, Card(21, "R+gm+notes", Open)), 1),
		Trashed(at(Under(gone, Card(31, "R+gone+child", Open)), 14), gone, 60))
}

// withTrash returns a view that also sees the trash.
func withTrash(v access.View) access.View {
	v.Trash = true
	return v
}

func testTrash(t *testing.T, open func(*testing.T) canon.Store) {
	s := open(t)
	root := Card(1, "Root", Open)
	gm := Card(5, "Zz GM root", GM)
	b, a := Under(root, Card(2, "Root+b", Open)), Under(root, Card(3, "Root+a", Admin))
	Put(t, s, Trashed(root, root, 10), Trashed(b, root, 10), Trashed(a, root, 10), Card(4, "Alive", Open),
		Trashed(gm, gm, 20),
		Trashed(Card(6, "Zebra", Admin), Card(6, "", Admin), 10), Trashed(Card(7, "Root", Admin), Card(7, "", Admin), 10))

	t.Run("is for admins, latest first", func(t *testing.T) {
		for _, test := range []struct {
			view  access.View
			page  canon.Page
			want  []canon.CardID
			total int
		}{
			{AsAdmin, everything, []canon.CardID{CardID(5), CardID(1), CardID(7), CardID(6)}, 4},
			{AsAll, canon.Page{Limit: 2, Offset: 1}, []canon.CardID{CardID(1), CardID(7)}, 4},
			{AsAdmin, canon.Page{Limit: 2, Offset: 4}, []canon.CardID{}, 4},
			{AsGM, everything, []canon.CardID{}, 0},
			{AsUser, everything, []canon.CardID{}, 0},
			{withTrash(AsGM), everything, []canon.CardID{CardID(5), CardID(1)}, 2},
			{withTrash(AsUser), everything, []canon.CardID{CardID(1)}, 1},
		} {
			readAs(t, s, test.view, func(e viewReader) {
				cards, total, err := e.r.Trash(e.ctx(), e.s, test.page)
				e.ok("Trash", err)
				if got := cardIDs(cards); !slices.Equal(got, test.want) {
					t.Errorf("Trash for %v: %v, want %v", test.view, got, test.want)
				}
				e.checkTotal("Trash", total, test.total)
			})
		}
	})
	t.Run("keeps together what went together, the root first", func(t *testing.T) {
		for of, want := range map[int][]canon.CardID{1: {CardID(1), CardID(3), CardID(2)}, 5: {CardID(5)}, 2: {}, 4: {}} {
			readAs(t, s, AsAll, func(e viewReader) {
				cards, err := e.r.FindCards(e.ctx(), e.s, canon.CardQuery{TrashRoot: CardID(of)})
				e.ok("FindCards by TrashRoot", err)
				if got := cardIDs(cards); !slices.Equal(got, want) {
					t.Errorf("FindCards by TrashRoot %d: %v, want %v", of, got, want)
				}
			})
		}
	})
	t.Run("its cards are found by id, by those who see the trash", func(t *testing.T) { testTrashNamed(t, s) })
	t.Run("a restored card is back", func(t *testing.T) {
		Put(t, s, Next(gm, 30))
		readAs(t, s, AsGM, func(e viewReader) {
			if c, ok := e.findCard(5); !ok || c.Trashed() {
				t.Errorf("the restored card: %v, %v", c, ok)
			}
			if got := hitNames(e.searchAll(canon.SearchQuery{Q: "gm", InName: true, Mode: canon.MatchWord})); !slices.Equal(got,
				[]string{"Zz GM root"}) {
				t.Errorf("Search finds %q", got)
			}
		})
	})
}

func testTrashNamed(t *testing.T, s canon.Store) {
	for _, v := range []access.View{AsUser, AsGM, AsAdmin, AsAll, withTrash(AsUser), withTrash(AsGM)} {
		readAs(t, s, v, func(e viewReader) {
			want := v.SeesTrash()
			if _, ok := e.findCard(1); ok != want {
				t.Errorf("FindCards by ID for %v: %v", v, ok)
			}
			rows, _, err := e.r.Versions(e.ctx(), e.s, CardID(1), everything)
			e.ok("Versions", err)
			if len(rows) == 1 != want {
				t.Errorf("Versions for %v: %d", v, len(rows))
			}
			_, ok, err := e.r.VersionByCount(e.ctx(), e.s, CardID(1), 1)
			e.ok("VersionByCount", err)
			if ok != want {
				t.Errorf("VersionByCount for %v: %v", v, ok)
			}
			feed, _, err := e.r.Feed(e.ctx(), e.s, canon.FeedQuery{Page: everything})
			e.ok("Feed", err)
			if slices.ContainsFunc(feed, func(v canon.Version) bool { return v.Card == CardID(1) }) {
				t.Errorf("Feed for %v has the card", v)
			}
			if got := cardNames(e.listCards(canon.Filter{})); !slices.Equal(got, []string{"Alive"}) {
				t.Errorf("Cards for %v: %q", v, got)
			}
		})
	}
}
