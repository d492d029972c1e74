package crashtest

import (
	"context"
	"errors"
	"iter"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/canon"
)

// errFailpoint is the error of the call that fails.
var errFailpoint = errors.New("failpoint: the store gave way")

// failTx is a canon.Tx of which one call fails: call number at, counted from 1. It fails before
// its effect or, if after is set, after it.
type failTx struct {
	canon.Tx
	*failpoint
}

// failpoint selects the call of a transaction that fails.
type failpoint struct {
	at    int
	after bool // the call has its effect and still returns an error
	calls int
	hit   string // the method that failed; "" if no call failed
}

// failsNow counts a call and reports whether it is the one that fails.
func (f *failpoint) failsNow(method string) bool {
	f.calls++
	if f.calls != f.at {
		return false
	}
	f.hit = method
	return true
}

func fail0(f *failTx, method string, do func() error) error {
	due := f.failsNow(method)
	if due && !f.after {
		return errFailpoint
	}
	if err := do(); err != nil || !due {
		return err
	}
	return errFailpoint
}

func fail1[A any](f *failTx, method string, do func() (A, error)) (a A, err error) {
	err = fail0(f, method, func() error { a, err = do(); return err })
	return a, err
}

func fail2[A, B any](f *failTx, method string, do func() (A, B, error)) (a A, b B, err error) {
	err = fail0(f, method, func() error { a, b, err = do(); return err })
	return a, b, err
}

func failSeq[A any](f *failTx, method string, seq iter.Seq2[A, error]) iter.Seq2[A, error] {
	if !f.failsNow(method) {
		return seq
	}
	return func(yield func(A, error) bool) {
		var none A
		if f.after {
			for a, err := range seq {
				if !yield(a, err) {
					return
				}
			}
		}
		yield(none, errFailpoint)
	}
}

func (f *failTx) Worlds(ctx context.Context, q canon.WorldQuery) ([]canon.World, error) {
	return fail1(f, "Worlds", func() ([]canon.World, error) { return f.Tx.Worlds(ctx, q) })
}

func (f *failTx) Members(ctx context.Context, q canon.MemberQuery) ([]canon.Member, error) {
	return fail1(f, "Members", func() ([]canon.Member, error) { return f.Tx.Members(ctx, q) })
}

func (f *failTx) FindCards(ctx context.Context, s canon.Visibility, q canon.CardQuery) ([]canon.Card, error) {
	return fail1(f, "FindCards", func() ([]canon.Card, error) { return f.Tx.FindCards(ctx, s, q) })
}

func (f *failTx) Cards(ctx context.Context, s canon.Visibility, by canon.Filter,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	return fail2(f, "Cards", func() ([]canon.Card, canon.Total, error) { return f.Tx.Cards(ctx, s, by, p) })
}

func (f *failTx) Descendants(ctx context.Context, s canon.Visibility, id canon.CardID, depth int,
	p canon.Page) ([]canon.Card, canon.Total, error) {
	return fail2(f, "Descendants",
		func() ([]canon.Card, canon.Total, error) { return f.Tx.Descendants(ctx, s, id, depth, p) })
}

func (f *failTx) Trash(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Card, canon.Total, error) {
	return fail2(f, "Trash", func() ([]canon.Card, canon.Total, error) { return f.Tx.Trash(ctx, s, p) })
}

func (f *failTx) Search(ctx context.Context, s canon.Visibility, q canon.SearchQuery,
	p canon.Page) (canon.SearchResult, error) {
	return fail1(f, "Search", func() (canon.SearchResult, error) { return f.Tx.Search(ctx, s, q, p) })
}

func (f *failTx) NearNames(ctx context.Context, s canon.Visibility, name string, n int) ([]string, error) {
	return fail1(f, "NearNames", func() ([]string, error) { return f.Tx.NearNames(ctx, s, name, n) })
}

func (f *failTx) CompleteNames(ctx context.Context, s canon.Visibility, prefix string, n int) ([]string, error) {
	return fail1(f, "CompleteNames", func() ([]string, error) { return f.Tx.CompleteNames(ctx, s, prefix, n) })
}

func (f *failTx) Versions(ctx context.Context, s canon.Visibility, id canon.CardID,
	p canon.Page) ([]canon.Version, canon.Total, error) {
	return fail2(f, "Versions", func() ([]canon.Version, canon.Total, error) { return f.Tx.Versions(ctx, s, id, p) })
}

func (f *failTx) VersionByCount(ctx context.Context, s canon.Visibility, id canon.CardID,
	n uint32) (canon.Version, bool, error) {
	return fail2(f, "VersionByCount", func() (canon.Version, bool, error) { return f.Tx.VersionByCount(ctx, s, id, n) })
}

func (f *failTx) VersionByRev(ctx context.Context, w access.WorldID, id canon.CardID,
	rev uint32) (canon.Version, bool, error) {
	return fail2(f, "VersionByRev", func() (canon.Version, bool, error) { return f.Tx.VersionByRev(ctx, w, id, rev) })
}

func (f *failTx) Feed(ctx context.Context, s canon.Visibility,
	q canon.FeedQuery) ([]canon.Version, canon.Total, error) {
	return fail2(f, "Feed", func() ([]canon.Version, canon.Total, error) { return f.Tx.Feed(ctx, s, q) })
}

func (f *failTx) Refs(ctx context.Context, s canon.Visibility, q canon.RefQuery) ([]canon.RefRow, canon.Total, error) {
	return fail2(f, "Refs", func() ([]canon.RefRow, canon.Total, error) { return f.Tx.Refs(ctx, s, q) })
}

func (f *failTx) Wanted(ctx context.Context, s canon.Visibility, p canon.Page) ([]canon.Wanted, canon.Total, error) {
	return fail2(f, "Wanted", func() ([]canon.Wanted, canon.Total, error) { return f.Tx.Wanted(ctx, s, p) })
}

func (f *failTx) Tags(ctx context.Context, s canon.Visibility, prefix string,
	p canon.Page) ([]canon.TagCount, canon.Total, error) {
	return fail2(f, "Tags", func() ([]canon.TagCount, canon.Total, error) { return f.Tx.Tags(ctx, s, prefix, p) })
}

func (f *failTx) Links(ctx context.Context, s canon.Visibility, q canon.LinkQuery) ([]canon.Link, canon.Total, error) {
	return fail2(f, "Links", func() ([]canon.Link, canon.Total, error) { return f.Tx.Links(ctx, s, q) })
}

func (f *failTx) Layers(ctx context.Context, s canon.Visibility, q canon.LayerQuery) ([]canon.Layer, error) {
	return fail1(f, "Layers", func() ([]canon.Layer, error) { return f.Tx.Layers(ctx, s, q) })
}

func (f *failTx) TypeUse(ctx context.Context, s canon.Visibility) (map[string]int, error) {
	return fail1(f, "TypeUse", func() (map[string]int, error) { return f.Tx.TypeUse(ctx, s) })
}

func (f *failTx) Body(ctx context.Context, w access.WorldID, h canon.Hash) ([]byte, bool, error) {
	return fail2(f, "Body", func() ([]byte, bool, error) { return f.Tx.Body(ctx, w, h) })
}

func (f *failTx) Streams(ctx context.Context, kind string) ([]canon.StreamHead, error) {
	return fail1(f, "Streams", func() ([]canon.StreamHead, error) { return f.Tx.Streams(ctx, kind) })
}

func (f *failTx) Head(ctx context.Context, s canon.StreamID) (canon.Head, error) {
	return fail1(f, "Head", func() (canon.Head, error) { return f.Tx.Head(ctx, s) })
}

func (f *failTx) Commits(ctx context.Context, s canon.StreamID, from canon.Seq) iter.Seq2[canon.StoredCommit, error] {
	return failSeq(f, "Commits", f.Tx.Commits(ctx, s, from))
}

func (f *failTx) CommitByID(ctx context.Context, s canon.StreamID, id uuid.UUID) (canon.StoredCommit, bool, error) {
	return fail2(f, "CommitByID", func() (canon.StoredCommit, bool, error) { return f.Tx.CommitByID(ctx, s, id) })
}

func (f *failTx) Repeat(ctx context.Context, account, key string) (canon.Repeat, bool, error) {
	return fail2(f, "Repeat", func() (canon.Repeat, bool, error) { return f.Tx.Repeat(ctx, account, key) })
}

func (f *failTx) Dump(ctx context.Context, w access.WorldID, table canon.Table) iter.Seq2[string, error] {
	return failSeq(f, "Dump", f.Tx.Dump(ctx, w, table))
}

func (f *failTx) Append(ctx context.Context, c canon.StoredCommit) error {
	return fail0(f, "Append", func() error { return f.Tx.Append(ctx, c) })
}

func (f *failTx) PutRepeat(ctx context.Context, r canon.Repeat) error {
	return fail0(f, "PutRepeat", func() error { return f.Tx.PutRepeat(ctx, r) })
}

func (f *failTx) PutBody(ctx context.Context, w access.WorldID, h canon.Hash, b []byte) error {
	return fail0(f, "PutBody", func() error { return f.Tx.PutBody(ctx, w, h, b) })
}

func (f *failTx) EraseBody(ctx context.Context, w access.WorldID, h canon.Hash) error {
	return fail0(f, "EraseBody", func() error { return f.Tx.EraseBody(ctx, w, h) })
}

func (f *failTx) BodyInUse(ctx context.Context, w access.WorldID, h canon.Hash) (bool, error) {
	return fail1(f, "BodyInUse", func() (bool, error) { return f.Tx.BodyInUse(ctx, w, h) })
}

func (f *failTx) PutWorld(ctx context.Context, w canon.World) error {
	return fail0(f, "PutWorld", func() error { return f.Tx.PutWorld(ctx, w) })
}

func (f *failTx) PutMember(ctx context.Context, m canon.Member) error {
	return fail0(f, "PutMember", func() error { return f.Tx.PutMember(ctx, m) })
}

func (f *failTx) PutCard(ctx context.Context, c canon.Card) error {
	return fail0(f, "PutCard", func() error { return f.Tx.PutCard(ctx, c) })
}

func (f *failTx) PutVersion(ctx context.Context, v canon.Version) error {
	return fail0(f, "PutVersion", func() error { return f.Tx.PutVersion(ctx, v) })
}

func (f *failTx) EndVersion(ctx context.Context, w access.WorldID, id canon.CardID, to canon.Seq) error {
	return fail0(f, "EndVersion", func() error { return f.Tx.EndVersion(ctx, w, id, to) })
}

func (f *failTx) PutRefs(ctx context.Context, w access.WorldID, from canon.CardID, refs []canon.Ref) error {
	return fail0(f, "PutRefs", func() error { return f.Tx.PutRefs(ctx, w, from, refs) })
}

func (f *failTx) Index(ctx context.Context, c canon.Card, doc *canon.SearchDoc) error {
	return fail0(f, "Index", func() error { return f.Tx.Index(ctx, c, doc) })
}

func (f *failTx) PutLink(ctx context.Context, l canon.Link) error {
	return fail0(f, "PutLink", func() error { return f.Tx.PutLink(ctx, l) })
}

func (f *failTx) EndLink(ctx context.Context, w access.WorldID, id canon.LinkID, to canon.Seq) error {
	return fail0(f, "EndLink", func() error { return f.Tx.EndLink(ctx, w, id, to) })
}

func (f *failTx) PutLayer(ctx context.Context, l canon.Layer) error {
	return fail0(f, "PutLayer", func() error { return f.Tx.PutLayer(ctx, l) })
}

func (f *failTx) EndLayer(ctx context.Context, w access.WorldID, id canon.LayerID, to canon.Seq) error {
	return fail0(f, "EndLayer", func() error { return f.Tx.EndLayer(ctx, w, id, to) })
}

func (f *failTx) PutEvent(ctx context.Context, e canon.StoredEvent) error {
	return fail0(f, "PutEvent", func() error { return f.Tx.PutEvent(ctx, e) })
}

func (f *failTx) Clear(ctx context.Context, w access.WorldID) error {
	return fail0(f, "Clear", func() error { return f.Tx.Clear(ctx, w) })
}

func (f *failTx) Discard(ctx context.Context, w access.WorldID, rows int) (left bool, err error) {
	return fail1(f, "Discard", func() (bool, error) { return f.Tx.Discard(ctx, w, rows) })
}
