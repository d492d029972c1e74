package canon

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// WorldStreamData is a world outside of a store: the stream of its canon and the contents that it names.
// Everything else follows from them.
type WorldStreamData struct {
	World    World
	Commits  iter.Seq2[[]byte, error] // the records in JSON, from the first commit on
	Contents iter.Seq2[[]byte, error] // each content once, in the order of their hashes; erased ones are missing
	Manifest StreamManifest
}

// StreamManifest is everything that must be true of a world's stream after it was copied.
type StreamManifest struct {
	Commits  int
	Head     Hash // of the last commit
	Contents int
	// Tables are the digests of the tables that follow from the stream without any derived texts; nil if
	// the source has no such tables.
	Tables map[Table]Hash
}

// streamTables are the tables whose rows depend on the stream alone. References and searchable texts also
// depend on the program that reads them out of the contents.
var streamTables = []Table{"world", "members", "cards", "versions", "links", "layers", "events"}

// ExportStream calls f with a world's whole stream, as it is in one snapshot. It needs an operator's
// grant, because the stream holds everything: hidden cards, their history, members and the trash.
func (c *Canon) ExportStream(ctx context.Context, g access.Grant, w access.WorldID,
	f func(WorldStreamData) error) error {
	if !g.Valid() || !g.Caller().Operator {
		return fault.New(fault.Denied, "only the instance's operator can export a world with everything that is hidden")
	}
	g.NoteWorldShown()
	return c.read(ctx, func(r Reader) error {
		world, ok, err := finishedWorld(ctx, r, w)
		if err != nil || !ok {
			return fmt.Errorf("canon: world %s: present %t: %w", w, ok, err)
		}
		head, err := r.Head(ctx, WorldStream(w))
		if err != nil {
			return err
		}
		named, err := namedContents(ctx, r, w)
		if err != nil {
			return err
		}
		contents := 0
		for _, err := range readContents(ctx, r, w, named) {
			if err != nil {
				return err
			}
			contents++
		}
		commits := 0
		for _, err := range r.Commits(ctx, WorldStream(w), 1) {
			if err != nil {
				return err
			}
			commits++
		}
		d := WorldStreamData{World: world, Contents: bodiesOf(readContents(ctx, r, w, named)),
			Commits: func(yield func([]byte, error) bool) {
				for commit, err := range r.Commits(ctx, WorldStream(w), 1) {
					if !yield(commit.Body, err) {
						return
					}
				}
			},
			Manifest: StreamManifest{Commits: commits, Head: head.Hash, Contents: contents, Tables: map[Table]Hash{}}}
		for _, t := range streamTables {
			sum, err := Digest(ctx, r, w, t)
			if err != nil {
				return err
			}
			d.Manifest.Tables[t] = sum.Sum
		}
		return f(d)
	})
}

// contentList lists the contents that commits name, each once.
type contentList struct {
	list []namedContent
	seen map[Hash]bool
}

// namedContent is a content that a commit names, with its size in bytes.
type namedContent struct {
	hash Hash
	size int
	raw  Hash // of the stored file that the content is cleaned from; zero for other contents
}

// stored returns the hash under which the store has the content.
func (c namedContent) stored() Hash {
	if c.raw != (Hash{}) {
		return c.raw
	}
	return c.hash
}

// add adds the contents that a commit names and returns the number of their bytes.
func (l *contentList) add(commit StoredCommit) (size int, err error) {
	rec, err := commit.Record()
	if err != nil {
		return 0, err
	}
	for _, ch := range rec.Changes {
		h, ok := ch.Content()
		if !ok || l.seen[h] {
			continue
		}
		c := namedContent{hash: h}
		if ch.Card != nil {
			c.size = ch.Card.Size
		} else {
			c.size = ch.Text.Size
		}
		if l.seen == nil {
			l.seen = map[Hash]bool{}
		}
		l.seen[h], l.list, size = true, append(l.list, c), size+c.size
	}
	return size, nil
}

// namedContents returns the contents that a world's stream names, by hash. Some may be erased.
func namedContents(ctx context.Context, r Reader, w access.WorldID) ([]namedContent, error) {
	var named contentList
	for commit, err := range r.Commits(ctx, WorldStream(w), 1) {
		if err == nil {
			_, err = named.add(commit)
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(named.list, namedContent.compareHash)
	return named.list, nil
}

func (c namedContent) compareHash(d namedContent) int { return slices.Compare(c.hash[:], d.hash[:]) }

// content is a content of a world.
type content struct {
	hash Hash
	body []byte
}

func bodiesOf(list iter.Seq2[content, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for c, err := range list {
			if !yield(c.body, err) {
				return
			}
		}
	}
}

// readContents yields those of some contents that the store has. It prefetches them in parts, except
// large ones.
func readContents(ctx context.Context, r Reader, w access.WorldID, list []namedContent) iter.Seq2[content, error] {
	return func(yield func(content, error) bool) {
		for i, end := 0, 0; i < len(list); i++ {
			if i == end {
				n, size := Needs{World: w}, 0
				for ; end < len(list) && size < partBytes; end++ {
					if c := list[end]; c.size <= prefetchSize {
						n.Bodies, size = append(n.Bodies, c.stored()), size+c.size+len(c.hash)
					}
				}
				if err := Prefetch(ctx, r, n); err != nil {
					yield(content{}, err)
					return
				}
			}
			b, ok, err := r.Body(ctx, w, list[i].stored())
			if ok && list[i].raw != (Hash{}) {
				b, _ = CleanFile(b) // it was possible when the content was named
			}
			if (ok || err != nil) && !yield(content{list[i].hash, b}, err) {
				return
			}
		}
	}
}

// ExportView calls f with a new world that holds the part of the grant's world which the grant sees: its
// living cards with their layers and links, under their ids, without history and members. Nothing in it
// depends on anything that the grant does not see. The id of the new world follows from its contents.
func (c *Canon) ExportView(ctx context.Context, g access.Grant, f func(WorldStreamData) error) error {
	if !g.Valid() {
		return errClosed
	}
	g.NoteWorldShown()
	return c.read(ctx, func(r Reader) error {
		world, ok, err := finishedWorld(ctx, r, g.World())
		if err != nil || !ok {
			return fmt.Errorf("canon: world %s: present %t: %w", g.World(), ok, err)
		}
		x := &forkContent{
			r:      r,
			all:    Visibility{world.ID, g.View()},
			done:   map[CardID]bool{},
			view:   true,
			latest: world.CreatedAt,
		}
		if err := x.addCards(ctx); err != nil {
			return err
		}
		if err := x.addLinks(ctx); err != nil {
			return err
		}
		named, err := x.dropErased(ctx, world.ID)
		if err != nil {
			return err
		}
		first, err := x.openImage(ctx, world)
		if err != nil {
			return err
		}
		d, err := x.newStream(first, world.Slug)
		if err != nil {
			return err
		}
		d.Contents, d.Manifest.Contents = bodiesOf(readContents(ctx, r, world.ID, named)), len(named)
		return f(d)
	})
}

// dropErased removes erased contents from the collected cards, and makes the cards of files as the view sees them. It
// returns the other contents by hash.
func (f *forkContent) dropErased(ctx context.Context, w access.WorldID) (list []namedContent, err error) {
	type source struct {
		hash  Hash
		clean bool
	}
	seen := map[source]namedContent{}
	for _, ch := range f.changes {
		if ch.Card == nil {
			continue
		}
		c, isFile := ch.Card, TextOf(ch.Card.Type) == TextFile
		c.Fields = fieldsSeen(f.all.View, c.Type, c.Fields)
		if c.Content == (Hash{}) {
			continue
		}
		from := source{c.Content, isFile && !seesOrigins(f.all.View)}
		kept, known := seen[from]
		if !known {
			if kept, err = f.keepContent(ctx, w, from.hash, from.clean); err != nil {
				return nil, err
			}
			if seen[from] = kept; kept.hash != (Hash{}) {
				list = append(list, kept)
			}
		}
		if c.Content, c.Size = kept.hash, kept.size; isFile || kept.hash == (Hash{}) {
			c.Length = kept.size
		}
	}
	slices.SortFunc(list, namedContent.compareHash)
	// Files that differ only in the data that describe them are one.
	return slices.CompactFunc(list, func(a, b namedContent) bool { return a.hash == b.hash }), nil
}

// keepContent returns a content as the new world names it; the zero one if it is erased, or is a picture that
// cannot be cleaned.
func (f *forkContent) keepContent(ctx context.Context, w access.WorldID, h Hash, clean bool) (namedContent, error) {
	b, ok, err := f.r.Body(ctx, w, h)
	switch {
	case err != nil || !ok:
		return namedContent{}, err
	case !clean:
		return namedContent{hash: h, size: len(b)}, nil
	}
	if b, ok = CleanFile(b); !ok {
		return namedContent{}, nil
	}
	return namedContent{hash: sha256.Sum256(b), size: len(b), raw: h}, nil
}

// openImage returns the settings of a world that every member may know. Labels of a view hold the effect of
// the name rules, so the rules are left out; the default ones are switched off if they would hide a card.
func (f *forkContent) openImage(ctx context.Context, w World) (WorldImage, error) {
	im := WorldImage{Title: w.Title, Settings: Settings{Description: w.Settings.Description}}
	if lang := w.Settings.Extra[LanguageSetting]; lang != "" {
		im.Settings.Extra = map[string]string{LanguageSetting: lang}
	}
	if f.relaxed {
		im.Settings.GMParts = []string{}
	}
	if w.Settings.Starter == "" {
		return im, nil
	}
	_, seen, err := First(f.r.FindCards(ctx, f.all, CardQuery{Key: markup.KeyOf(w.Settings.Starter)}))
	if seen {
		im.Settings.Starter = w.Settings.Starter
	}
	return im, err
}

// exportSubject is the author of the commits of a view.
const exportSubject access.Subject = "export"

// newStream returns the collected changes as the stream of a new world. All ids that it makes follow from
// the changes.
func (f *forkContent) newStream(first WorldImage, slug string) (d WorldStreamData, err error) {
	content, err := json.Marshal([]any{slug, first, f.changes})
	if err != nil {
		return d, fmt.Errorf("canon: encode world: %w", err)
	}
	d.World = World{ID: access.WorldID(hashID(content)), Title: first.Title, Settings: first.Settings}
	d.World.Slug = slug[:min(len(slug), 54)] + "-" + d.World.ID.String()[:8]
	first.Slug = d.World.Slug
	var commits [][]byte
	head, rest := Head{}, append([]Change{{World: &first}}, f.changes...)
	for len(rest) > 0 {
		n := stepLen(rest)
		rec := Record{Stream: WorldStream(d.World.ID), Seq: head.Seq + 1, At: f.latest, By: exportSubject,
			Role: access.RoleAdmin, Op: "export_view", Changes: rest[:n]}
		rec.ID = hashID(binary.BigEndian.AppendUint64(d.World.ID[:], uint64(rec.Seq)))
		b, err := json.Marshal(rec)
		if err != nil {
			return d, fmt.Errorf("canon: encode commit: %w", err)
		}
		head, rest = Head{Seq: rec.Seq, Hash: Chain(head.Hash, b)}, rest[n:]
		commits = append(commits, b)
	}
	d.Commits = func(yield func([]byte, error) bool) {
		for _, b := range commits {
			if !yield(b, nil) {
				return
			}
		}
	}
	d.Manifest = StreamManifest{Commits: len(commits), Head: head.Hash}
	return d, nil
}

// hashID returns a UUIDv8 made from the SHA-256 of bytes.
func hashID(b []byte) (id uuid.UUID) {
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id
}
