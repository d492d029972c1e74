package storetest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
)

// Labels that the fixtures use.
var (
	Open      = access.NewLabel(access.LevelUser)
	GM        = access.NewLabel(access.LevelGM)
	GMAlice   = access.NewLabel(access.LevelGM, "alice")
	Admin     = access.NewLabel(access.LevelAdmin)
	AdminBoth = access.NewLabel(access.LevelAdmin, "alice", "bob")
)

// Views that the fixtures use. AsAll is the view that package canon itself uses.
var (
	AsNobody  = access.View{}
	AsUser    = access.View{Level: access.LevelUser}
	AsAlice   = access.View{Level: access.LevelUser, Subject: "alice"}
	AsGM      = access.View{Level: access.LevelGM}
	AsGMAlice = access.View{Level: access.LevelGM, Subject: "alice"}
	AsAdmin   = access.View{Level: access.LevelAdmin}
	AsAll     = access.View{Level: access.LevelAll}
)

// UUID returns the nth id of a fixed series that sorts by n.
func UUID(n int) uuid.UUID {
	id := uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x80}
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}

// WorldID returns the id of the nth world.
func WorldID(n int) access.WorldID { return access.WorldID(UUID(n)) }

// CardID returns the id of the nth card.
func CardID(n int) canon.CardID { return canon.CardID(UUID(n)) }

// LinkID returns the id of the nth link.
func LinkID(n int) canon.LinkID { return canon.LinkID(UUID(n)) }

// LayerID returns the id of the nth layer.
func LayerID(n int) canon.LayerID { return canon.LayerID(UUID(n)) }

// Time returns the nth second of a fixed day.
func Time(n int) time.Time {
	return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
}

// HashOf returns the hash of a body.
func HashOf(body string) canon.Hash { return sha256.Sum256([]byte(body)) }

// World returns the nth world.
func World(n int) canon.World {
	return canon.World{ID: WorldID(n), Slug: fmt.Sprintf("world-%d", n), Title: fmt.Sprintf("World %d", n),
		CreatedAt: Time(0)}
}

// Card returns the nth card of the first world: a living RichText card of one version, written in
// commit n at Time(n). Its name may be compound; its parent is not set.
func Card(n int, name string, label access.Label) canon.Card {
	return canon.Card{
		World: WorldID(1), ID: CardID(n), Part: markup.Tag(name), Type: "RichText", Own: label,
		Name: name, Key: markup.KeyOf(name), Label: label, Rev: 1, Counts: nextCounts(canon.Counts{}, label),
		CreatedAt: Time(n), CreatedBy: "ann", UpdatedAt: Time(n), UpdatedBy: "ann", Seq: canon.Seq(n),
	}
}

// Under returns c as a child of parent.
func Under(parent, c canon.Card) canon.Card {
	c.Parent = parent.ID
	c.Label = c.Own.Meet(parent.Label)
	if part, ok := strings.CutPrefix(c.Name, parent.Name+"+"); ok {
		c.Part = part // compound if cards between them are missing
	}
	return c
}

// With returns c with a body as its content.
func With(c canon.Card, body string) canon.Card {
	c.Content, c.Size, c.Length = HashOf(body), len(body), utf8.RuneCountInString(body)
	return c
}

// Version returns the version that describes the current state of a card.
func Version(c canon.Card) canon.Version {
	return canon.Version{
		World: c.World, Card: c.ID, Rev: c.Rev, From: c.Seq, Counts: c.Counts, Label: c.Label, Name: c.Name,
		Type: c.Type, Format: c.Format, Content: c.Content, Size: c.Size, Length: c.Length, Fields: c.Fields, Trashed: c.Trashed(),
		At: c.UpdatedAt, By: c.UpdatedBy, Op: "test", Change: UUID(int(c.Seq)),
	}
}

// Next returns c at its next version, written in commit n at Time(n).
func Next(c canon.Card, n int) canon.Card {
	c.Rev++
	c.Counts = nextCounts(c.Counts, c.Label)
	c.UpdatedAt, c.Seq = Time(n), canon.Seq(n)
	return c
}

// Trashed returns c as it is after going to the trash with root at Time(n).
func Trashed(c, root canon.Card, n int) canon.Card {
	c.TrashedAt, c.TrashRoot = Time(n), root.ID
	return c
}

// nextCounts returns c with one more version for each level that sees the label.
func nextCounts(c canon.Counts, l access.Label) canon.Counts {
	for level := max(l.Level, access.LevelUser); level <= access.LevelAdmin; level++ {
		c[level-1]++
	}
	return c
}

// Commit returns the commit that follows a head. Its body is not a Record.
func Commit(s canon.StreamID, after canon.Head) canon.StoredCommit {
	c := canon.StoredCommit{
		Stream: s, Seq: after.Seq + 1, ID: UUID(int(after.Seq) + 1), At: Time(int(after.Seq) + 1),
		By: "ann", Op: "test", Body: fmt.Appendf(nil, `{"seq":%d}`, after.Seq+1), Prev: after.Hash,
	}
	c.Hash = sha256.Sum256(append(c.Prev[:], c.Body...))
	return c
}

// Event returns the event of the nth commit to the first world.
func Event(n int, kind, scope string, label access.Label) canon.StoredEvent {
	return canon.StoredEvent{World: WorldID(1), ID: UUID(n), Seq: canon.Seq(n), At: Time(n), By: "ann", Op: "test",
		Type: kind, Scope: scope, Label: label}
}

// Put writes the first world and cards to a store. Each card gets its version, and is indexed with
// its name and its type as text.
func Put(t testing.TB, s canon.Store, cards ...canon.Card) {
	t.Helper()
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for _, c := range cards {
			tx.Card(c, c.Type)
		}
	})
}
