package canon

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// ImportedStream is the result of ImportStream.
type ImportedStream struct {
	World   World
	Commits int // commits that were added; 0 if the store held the world already
	Members []Member
}

// ImportStream adds a world to the store as it was exported, with the same ids and hashes. A store that
// holds the beginning of the same stream is brought up to date; one that holds another world of the same
// id or slug is refused. Everything happens in one transaction: the stream's chain and contents are
// checked, the tables are made from it and compared with the manifest, or nothing is written. It needs an
// operator's grant. progress is called after commits and contents were stored, if it is not nil.
func (c *Canon) ImportStream(ctx context.Context, g access.Grant, d WorldStreamData,
	progress func(done, total int)) (out ImportedStream, err error) {
	if !g.Valid() || !g.Caller().Operator {
		return out, fault.New(fault.Denied, "only the instance's operator can import a world")
	}
	if err := mayCommit(g); err != nil {
		return out, err
	}
	if err := c.place(ctx, g, d.World.ID, d.World.Slug); err != nil {
		return out, err
	}
	err = c.write(ctx, d.World.ID, func(tx Tx) error {
		in := &streamImport{tx: tx, d: d, stream: WorldStream(d.World.ID), progress: progress,
			stored: map[Hash]int{}, missing: map[Hash]Seq{}}
		if err := in.run(ctx); err != nil {
			return err
		}
		if out, err = in.describe(ctx); err == nil && (out.Commits == 0 || g.Request().DryRun) {
			err = errDryRun
		}
		return err
	})
	return out, commitError(err)
}

// streamImport is one run of ImportStream.
type streamImport struct {
	tx       Tx
	d        WorldStreamData
	stream   StreamID
	have     Head // at the beginning
	head     Head
	commits  int          // that came
	added    int          // of them, those that the store did not have
	stored   map[Hash]int // sizes of the contents that came
	used     int          // contents that a commit names
	missing  map[Hash]Seq // contents that did not come, with the first commit that names them
	steps    int
	progress func(done, total int)
}

// damaged returns the error for a stream that is not as it was exported.
func damaged(format string, args ...any) error {
	return fault.New(fault.Invalid, "the world is damaged and was not imported: %s; export it again",
		fmt.Sprintf(format, args...))
}

func (in *streamImport) run(ctx context.Context) (err error) {
	if in.have, err = in.tx.Head(ctx, in.stream); err != nil {
		return err
	}
	if other, held, err := First(in.tx.Worlds(ctx, WorldQuery{Slug: in.d.World.Slug})); err != nil ||
		held && other.ID != in.d.World.ID {
		if err == nil {
			err = fault.New(fault.Conflict, "the store has another world with the slug %q; import this one into another store",
				in.d.World.Slug)
		}
		return err
	}
	if err := in.storeContents(ctx); err != nil {
		return err
	}
	if err := in.appendCommits(ctx); err != nil {
		return err
	}
	if in.head.Seq <= in.have.Seq {
		return nil
	}
	if in.have.Seq > 0 {
		if err := in.tx.Clear(ctx, in.d.World.ID); err != nil {
			return err
		}
	}
	if _, err := replayWorld(ctx, in.tx, in.d.World.ID); err != nil {
		if ctx.Err() == nil && (errors.Is(err, ErrTaken) || Moved(err) || fault.KindOf(err) != fault.Conflict) {
			err = damaged("%v", err)
		}
		return err
	}
	return in.checkTables(ctx)
}

func (in *streamImport) addStep() {
	if in.steps++; in.progress != nil {
		in.progress(in.steps, in.d.Manifest.Commits+in.d.Manifest.Contents)
	}
}

// storeContents stores the contents by their hashes.
func (in *streamImport) storeContents(ctx context.Context) error {
	for b, err := range in.d.Contents {
		if err != nil {
			return err
		}
		if len(b) == 0 || len(b) > MaxFile {
			return damaged("a content has %d bytes; 1 to %d are allowed", len(b), MaxFile)
		}
		h := Hash(sha256.Sum256(b))
		if in.stored[h] > 0 {
			return damaged("the content %s is there twice", h)
		}
		in.stored[h] = len(b)
		if err := in.tx.PutBody(ctx, in.d.World.ID, h, b); err != nil {
			return err
		}
		in.addStep()
	}
	if len(in.stored) != in.d.Manifest.Contents {
		return damaged("it has %d contents and names %d", len(in.stored), in.d.Manifest.Contents)
	}
	return nil
}

// appendCommits checks the chain of the commits and appends those that the store does not hold.
func (in *streamImport) appendCommits(ctx context.Context) error {
	for body, err := range in.d.Commits {
		if err != nil {
			return err
		}
		if err := in.appendCommit(ctx, body); err != nil {
			return err
		}
		in.addStep()
	}
	for h, seq := range in.missing {
		return damaged("the content %s of commit %d is missing", h, seq)
	}
	switch {
	case in.commits != in.d.Manifest.Commits:
		return damaged("it has %d commits and names %d", in.commits, in.d.Manifest.Commits)
	case in.head.Seq < in.have.Seq:
		return fault.New(fault.Conflict, "the store holds %d commits of this world and the import only %d; nothing was changed",
			in.have.Seq, in.head.Seq)
	case in.head.Hash != in.d.Manifest.Head:
		return damaged("its commits do not match the hash that it names")
	case in.used != len(in.stored):
		return damaged("it has contents that no commit names")
	}
	return nil
}

func (in *streamImport) appendCommit(ctx context.Context, body []byte) error {
	next := StoredCommit{Stream: in.stream, Seq: in.head.Seq + 1, Body: body, Prev: in.head.Hash,
		Hash: Chain(in.head.Hash, body)}
	rec, err := next.Record()
	if err != nil {
		return damaged("commit %d cannot be read", next.Seq)
	}
	follows := Head{Seq: next.Seq - 1, Hash: next.Prev}
	next.ID, next.At, next.By, next.Op = rec.ID, rec.At.UTC().Truncate(time.Millisecond), rec.By, rec.Op
	if next.Seq = rec.Seq; !follows.Precedes(next) || rec.Stream != in.stream {
		return damaged("commit %d is one of another place or world", follows.Seq+1)
	}
	in.commits++
	for i, ch := range rec.Changes {
		if err := in.checkChange(rec.Seq, ch); err != nil {
			return damaged("commit %d, change %d: %v", rec.Seq, i+1, err)
		}
	}
	in.head = Head{Seq: next.Seq, Hash: next.Hash}
	switch {
	case next.Seq == in.have.Seq && next.Hash != in.have.Hash:
		return fault.New(fault.Conflict,
			"the store holds another history of this world, %s; import it into another store", in.d.World.ID)
	case next.Seq <= in.have.Seq:
		return nil
	}
	in.added++
	return in.tx.Append(ctx, next)
}

// checkChange checks that a change could have been made by this program. The replay relies on it.
func (in *streamImport) checkChange(seq Seq, ch Change) error {
	levels := func(l access.Label) error {
		if l.Level < access.LevelUser || l.Level > access.LevelAdmin {
			return errors.New("it has no level")
		}
		return nil
	}
	switch {
	case ch.Card != nil:
		if err := errors.Join(levels(ch.Card.Own), checkCardImage(*ch.Card)); err != nil {
			return err
		}
		return in.noteContent(seq, ch.Card.Content, ch.Card.Size)
	case ch.Link != nil:
		if ch.Link.Kind == "" || len(ch.Link.Kind) > 64 {
			return errors.New("the kind of the link is empty or too long")
		}
		return errors.Join(levels(ch.Link.Label), checkObject(ch.Link.Attrs))
	case ch.Layer != nil:
		if len(ch.Layer.Text) > MaxContent || len(ch.Layer.Kind) > 64 {
			return errors.New("the layer is too long")
		}
		return levels(ch.Layer.Label)
	case ch.Member != nil:
		return access.CheckSubject(ch.Member.Subject)
	case ch.World != nil:
		return checkSettings(ch.World.Settings)
	case ch.Purge != nil:
		delete(in.missing, ch.Purge.Body)
		return nil
	case ch.Text != nil && ch.Text.Gone:
		delete(in.missing, ch.Text.Content)
		return levels(ch.Text.Label)
	case ch.Text != nil:
		return errors.Join(levels(ch.Text.Label), in.noteContent(seq, ch.Text.Content, ch.Text.Size))
	}
	return errors.New("it is empty")
}

var acts = []Act{ActCreate, ActUpdate, ActRename, ActLabel, ActTrash, ActRestore}

func checkCardImage(im CardImage) error {
	for _, part := range markup.Parts(im.Part) {
		if err := checkName("part", part); err != nil {
			return err
		}
	}
	switch {
	case !slices.Contains(acts, im.Act):
		return fmt.Errorf("%q is no kind of change", im.Act)
	case im.ID.IsZero() || im.Part == "":
		return errors.New("the card has no id or no name")
	case len(im.Type) > markup.MaxNameLength*utf8.UTFMax || im.Size < 0 || im.Size > MaxFile || im.Length < 0 ||
		im.Length > im.Size:
		return errors.New("the size of the card is impossible")
	case (im.Content == Hash{}) != (im.Size == 0):
		return errors.New("the size of the card is not that of its content")
	}
	return errors.Join(checkCodename(im.Codename), checkObject(im.Fields))
}

func checkObject(raw json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	var m map[string]json.RawMessage
	if len(raw) > MaxContent || json.Unmarshal(raw, &m) != nil {
		return errors.New("its fields are no object or too long")
	}
	return nil
}

// noteContent records that a commit names a content.
func (in *streamImport) noteContent(seq Seq, h Hash, named int) error {
	if h == (Hash{}) {
		return nil
	}
	size, came := in.stored[h]
	switch {
	case !came:
		if _, known := in.missing[h]; !known {
			in.missing[h] = seq
		}
		return nil
	case size < 0: // named before
		size = -size
	default:
		in.used++
		in.stored[h] = -size
	}
	if size != named {
		return errors.New("the size is not that of its content")
	}
	return nil
}

// checkTables compares the tables with the manifest, and refuses a world that cannot be shown.
func (in *streamImport) checkTables(ctx context.Context) error {
	w, ok, err := First(in.tx.Worlds(ctx, WorldQuery{ID: in.d.World.ID}))
	if err != nil {
		return err
	}
	if !ok || !slugForm.MatchString(w.Slug) {
		return damaged("its last commit leaves it unfinished")
	}
	for _, t := range streamTables {
		want, known := in.d.Manifest.Tables[t]
		if !known {
			continue
		}
		got, err := Digest(ctx, in.tx, w.ID, t)
		if err != nil {
			return err
		}
		if got.Sum != want {
			return damaged("the table %s does not follow from its commits", t)
		}
	}
	return nil
}

// describe returns the result.
func (in *streamImport) describe(ctx context.Context) (out ImportedStream, err error) {
	out.Commits = in.added
	if out.World, _, err = First(in.tx.Worlds(ctx, WorldQuery{ID: in.d.World.ID})); err != nil {
		return out, err
	}
	out.Members, err = in.tx.Members(ctx, MemberQuery{World: in.d.World.ID})
	return out, err
}
