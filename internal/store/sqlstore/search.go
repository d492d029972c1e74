package sqlstore

import (
	"context"
	"fmt"
	"log/slog"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/markup"
	"loregate/internal/search"
	"loregate/internal/slicesx"
	"loregate/internal/store/finder"
)

// LibraryConfig connects a library of search indexes to a store.
type LibraryConfig struct {
	Dir     string // folder of the indexes; "" keeps them only in memory
	Log     *slog.Logger
	Changed func() <-chan struct{} // of the store
	// Read calls f with the reader of one snapshot and the snapshot's search data.
	Read func(ctx context.Context, f func(*Reader, Sources) error) error
}

// Sources returns the search data of a world; false if the store does not have the world. A store's
// reader implements it.
type Sources interface {
	Source(ctx context.Context, w access.WorldID) (search.Source, bool, error)
}

// NewFinder returns the finder of a store's search indexes.
func NewFinder(c LibraryConfig) *finder.Finder {
	return &finder.Finder{Library: search.NewLibrary(search.LibraryConfig{
		Dir: c.Dir,
		Read: func(ctx context.Context, world search.ID, f func(search.Source) error) error {
			return c.Read(ctx, func(_ *Reader, all Sources) error {
				from, ok, err := all.Source(ctx, access.WorldID(world))
				if err != nil || !ok {
					return err
				}
				return f(from)
			})
		},
		Worlds: func(ctx context.Context) (ids []search.ID, err error) {
			err = c.Read(ctx, func(r *Reader, _ Sources) (err error) {
				ids, err = queryAll(ctx, r.Conn, func(r Row) (search.ID, error) { return ReadID[search.ID](r, 0), nil },
					"SELECT i.id FROM world_ids i JOIN worlds w ON w.w = i.w")
				return err
			})
			return ids, err
		},
		Changed: c.Changed,
		Warn:    func(err error) { warnOfIndex(c.Log, err) },
	})}
}

func warnOfIndex(log *slog.Logger, err error) {
	log.Warn("the search index could not be updated; the update is tried again", "error", err)
}

// Scrub rewrites the index files of worlds without the text that a durable transaction erased. If
// that fails, the library's background work tries again.
func Scrub(ctx context.Context, f *finder.Finder, log *slog.Logger, worlds []access.WorldID) {
	for _, id := range worlds {
		if err := f.Library.Scrub(context.WithoutCancel(ctx), search.ID(id)); err != nil {
			warnOfIndex(log, err)
		}
	}
}

// Source is the part of a world's search.Source that is the same in every SQL database.
type Source struct {
	r  *Reader
	ID access.WorldID
	W  int64
}

// SourceOf returns the source of a world; false if the store does not have the world.
func (r *Reader) SourceOf(ctx context.Context, id access.WorldID) (Source, bool, error) {
	w, err := r.WorldNumber(ctx, id)
	return Source{r, id, w}, err == nil && w != 0, err
}

// readTags returns the tags of each given tag list card.
func (s Source) readTags(ctx context.Context, lists []canon.CardID) (map[canon.CardID][]markup.Key, error) {
	if len(lists) == 0 {
		return nil, nil
	}
	found := map[canon.CardID][]markup.Key{}
	rows := s.r.Conn.Query(ctx, "SELECT from_card, target FROM refs WHERE w = $1 AND kind = 3 AND "+
		fmt.Sprintf(s.r.Dialect.InIDs, "from_card", "$2"), s.W, s.r.Dialect.IDs(RawIDs(lists)))
	for rows.Next() {
		id := ReadID[canon.CardID](rows, 0)
		found[id] = append(found[id], markup.Key(rows.Text(1)))
	}
	return found, rows.Close()
}

// tagNames returns the names of the tags that everyone who sees a card sees on it, for each of some cards.
func (r *Reader) tagNames(ctx context.Context, w int64, cards []canon.CardID) (map[canon.CardID][]string, error) {
	if len(cards) == 0 {
		return nil, nil
	}
	found := map[canon.CardID][]string{}
	rows := r.Conn.Query(ctx, fmt.Sprintf(`SELECT c.id, f.name FROM cards c
		%[1]s cards t ON t.w = c.w AND %s AND t.parent = c.id AND t.trashed = 0 AND t.level = c.level AND t.label = c.label
		%[1]s refs f ON f.w = t.w AND f.from_card = t.id AND f.kind = 3 WHERE c.w = $1 AND `, r.Dialect.Join, tagListOf("t", "c"))+fmt.Sprintf(r.Dialect.InIDs, "c.id", "$2"),
		w, r.Dialect.IDs(RawIDs(cards)))
	for rows.Next() {
		id := ReadID[canon.CardID](rows, 0)
		found[id] = append(found[id], rows.Text(1))
	}
	return found, rows.Close()
}

// NamedWith returns cards that the caller sees only because their labels name the subject, with their
// searchable texts and the names of their tags.
func (r *Reader) NamedWith(ctx context.Context, world access.WorldID, cards []canon.Card,
	docs []*canon.SearchDoc) ([]finder.Named, error) {
	w, err := r.WorldNumber(ctx, world)
	if err != nil {
		return nil, err
	}
	tags, err := r.tagNames(ctx, w, slicesx.Map(cards, func(c canon.Card) canon.CardID { return c.ID }))
	list := make([]finder.Named, len(cards))
	for i, c := range cards {
		list[i] = finder.Named{Card: c, Doc: docs[i], Tags: tags[c.ID]}
	}
	return list, err
}

// Head implements search.Source.
func (s Source) Head(ctx context.Context) (seq uint64, hash string, err error) {
	h, err := s.r.Head(ctx, canon.WorldStream(s.ID))
	return uint64(h.Seq), h.Hash.String(), err
}

// HasCommit implements search.Source.
func (s Source) HasCommit(ctx context.Context, seq uint64, hash string) (bool, error) {
	if seq == 0 {
		return true, nil
	}
	stream := canon.WorldStream(s.ID)
	at, err := s.r.StreamRow(ctx, stream)
	if err != nil || at.Number == 0 {
		return false, err
	}
	c, found, err := canon.First(s.r.queryCommits(ctx, stream, s.r.Dialect.CommitsFrom, at.Number, seq, int64(1)))
	return found && uint64(c.Seq) == seq && c.Hash.String() == hash, err
}

// NamedCards returns the living cards that the caller sees only because their labels name the
// subject, by key and id.
func (r *Reader) NamedCards(ctx context.Context, s canon.Visibility) ([]canon.Card, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok || !sc.Named {
		return nil, err
	}
	return r.QueryCards(ctx, sc.World, "SELECT "+r.Dialect.Columns.Card+" FROM cards c"+r.Dialect.IndexedBy("cards_named")+
		" WHERE c.w = $1 AND "+sc.NamedOnly("c")+" AND c.trashed = 0 ORDER BY c.key, c.id", sc.Args...)
}

// NamedBearers returns the cards that have a tag through a tag list that the caller sees only
// because the list's label names the subject.
func (r *Reader) NamedBearers(ctx context.Context, s canon.Visibility, tag markup.Key) ([]canon.CardID, error) {
	sc, ok, err := r.Scope(ctx, s)
	if !ok || !sc.Named {
		return nil, err
	}
	return queryAll(ctx, r.Conn, func(r Row) (canon.CardID, error) { return ReadID[canon.CardID](r, 0), nil },
		fmt.Sprintf(`SELECT DISTINCT b.id FROM cards t%s %s cards b ON b.w = t.w AND b.id = t.parent
			WHERE t.w = $1 AND t.trashed = 0 AND %s AND %s AND %s
			AND EXISTS (SELECT 1 FROM refs f WHERE f.w = t.w AND f.from_card = t.id AND f.kind = 3 AND f.target = %s)`,
			r.Dialect.IndexedBy("cards_named"), r.Dialect.Join, sc.NamedOnly("t"), sc.Living("b"), tagListOf("t", "b"),
			sc.Add(string(tag))), sc.Args...)
}

// IndexRow is the stored search data of a card.
type IndexRow struct {
	Gen   int64
	ID    canon.CardID
	Card  *canon.Card      // nil if no living card has the id
	Level int64            // the higher one of the card's level and its text's
	Doc   *canon.SearchDoc // nil if only the name can be searched
}

// IndexChanges converts stored search data to changes of the index.
func (s Source) IndexChanges(ctx context.Context, list []IndexRow) ([]search.Change, error) {
	var lists, cards []canon.CardID
	for _, row := range list {
		switch {
		case row.Card == nil:
		case row.Card.IsTagList():
			lists = append(lists, row.ID)
		default:
			cards = append(cards, row.ID)
		}
	}
	tags, err := s.readTags(ctx, lists)
	if err != nil {
		return nil, err
	}
	names, err := s.r.tagNames(ctx, s.W, cards)
	if err != nil {
		return nil, err
	}
	changes := make([]search.Change, len(list))
	for i, row := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		changes[i] = search.Change{Gen: row.Gen, ID: search.ID(row.ID)}
		if row.Card != nil {
			row.Card.World = s.ID
			if row.Card.IsTagList() {
				changes[i].Doc = finder.TagList(row.Card, int(row.Level), tags[row.ID])
			} else {
				changes[i].Doc = finder.Document(row.Card, int(row.Level), row.Doc, names[row.ID])
			}
		}
	}
	return changes, nil
}
