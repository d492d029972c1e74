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

// Views that the fixtures use. AsAll is the door's own.
var (
	AsNobody  = access.View{}
	AsUser    = access.View{Level: access.LevelUser}
	AsAlice   = access.View{Level: access.LevelUser, Subject: "alice"}
	AsGM      = access.View{Level: access.LevelGM}
	AsGMAlice = access.View{Level: access.LevelGM, Subject: "alice"}
	AsAdmin   = access.View{Level: access.LevelAdmin}
	AsAll     = access.View{Level: access.LevelAll}
)

// UUID is the nth id of a fixed series that sorts by n.
func UUID(n int) uuid.UUID {
	id := uuid.UUID{0x01, 0x99, 6: 0x70, 8: 0x80}
	binary.BigEndian.PutUint32(id[12:], uint32(n))
	return id
}

// WorldID is the id of the nth world.
func WorldID(n int) access.WorldID { return access.WorldID(UUID(n)) }

// CardID is the id of the nth card.
func CardID(n int) canon.CardID { return canon.CardID(UUID(n)) }

// LinkID is the id of the nth link.
func LinkID(n int) canon.LinkID { return canon.LinkID(UUID(n)) }

// LayerID is the id of the nth layer.
func LayerID(n int) canon.LayerID { return canon.LayerID(UUID(n)) }

// Time is the nth second of a fixed day.
func Time(n int) time.Time {
	return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
}

// HashOf is the hash of a body.
func HashOf(body string) canon.Hash { return sha256.Sum256([]byte(body)) }

// World is the nth world.
func World(n int) canon.World {
	return canon.World{ID: WorldID(n), Slug: fmt.Sprintf("world-%d", n), Title: fmt.Sprintf("World %d", n), CreatedAt: Time(0)}
}

// Card is the nth card of the first world: a living RichText of one version, written in
// commit n at Time(n). Its name may be compound; its parent is not set.
func Card(n int, name string, label access.Label) canon.Card {
	return canon.Card{
		World: WorldID(1), ID: CardID(n), Part: markup.Tag(name), Type: "RichText", Own: label,
		Name: name, Key: markup.KeyOf(name), Label: label, Rev: 1, Counts: counted(canon.Counts{}, label),
		CreatedAt: Time(n), CreatedBy: "ann", UpdatedAt: Time(n), UpdatedBy: "ann", Seq: canon.Seq(n),
	}
}

// Under is a card as the child of another.
func Under(parent, c canon.Card) canon.Card {
	c.Parent = parent.ID
	c.Label = c.Own.Meet(parent.Label)
	if part, ok := strings.CutPrefix(c.Name, parent.Name+"+"); ok {
		c.Part = part // compound where cards between them are missing
	}
	return c
}

// With is a card with a body as its content.
func With(c canon.Card, body string) canon.Card {
	c.Content, c.Size, c.Length = HashOf(body), len(body), utf8.RuneCountInString(body)
	return c
}

// Version is the version that a card's present state is.
func Version(c canon.Card) canon.Version {
	return canon.Version{
		World: c.World, Card: c.ID, Rev: c.Rev, From: c.Seq, Counts: c.Counts, Label: c.Label, Name: c.Name,
		Type: c.Type, Content: c.Content, Size: c.Size, Length: c.Length, Fields: c.Fields, Trashed: c.Trashed(),
		At: c.UpdatedAt, By: c.UpdatedBy, Op: "test", Change: UUID(int(c.Seq)),
	}
}

// Next is a card at its next version, written in commit n at Time(n).
func Next(c canon.Card, n int) canon.Card {
	c.Rev++
	c.Counts = counted(c.Counts, c.Label)
	c.UpdatedAt, c.Seq = Time(n), canon.Seq(n)
	return c
}

// Trashed is a card as it went to the trash with a root at Time(n).
func Trashed(c, root canon.Card, n int) canon.Card {
	c.TrashedAt, c.TrashRoot = Time(n), root.ID
	return c
}

// counted is one more version for each level that sees the label.
func counted(c canon.Counts, l access.Label) canon.Counts {
	for level := max(l.Level, access.LevelUser); level <= access.LevelAdmin; level++ {
		c[level-1]++
	}
	return c
}

// Commit is the commit that follows a head. Its body is not a Record.
func Commit(s canon.StreamID, after canon.Head) canon.StoredCommit {
	c := canon.StoredCommit{
		Stream: s, Seq: after.Seq + 1, ID: UUID(int(after.Seq) + 1), At: Time(int(after.Seq) + 1),
		By: "ann", Op: "test", Body: fmt.Appendf(nil, `{"seq":%d}`, after.Seq+1), Prev: after.Hash,
	}
	c.Hash = sha256.Sum256(append(c.Prev[:], c.Body...))
	return c
}

// Event is the event of the nth commit to the first world.
func Event(n int, kind, scope string, label access.Label) canon.StoredEvent {
	return canon.StoredEvent{World: WorldID(1), ID: UUID(n), Seq: canon.Seq(n), At: Time(n), By: "ann", Op: "test", Type: kind, Scope: scope, Label: label}
}

// Put writes the first world with cards, each with its version and indexed under its
// name and type, to a store.
func Put(t testing.TB, s canon.Store, cards ...canon.Card) {
	t.Helper()
	write(t, s, func(tx Writer) {
		tx.PutWorld(World(1))
		for _, c := range cards {
			tx.Card(c, c.Type)
		}
	})
}
