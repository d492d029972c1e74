package canon

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// Snapshot is a snapshot of a world through one view. Every method shows only the data that the
// view sees; hidden and absent data give the same result.
type Snapshot struct {
	canon      *Canon
	r          Reader
	grant      access.Grant
	visibility Visibility
	world      World
	headCache  *headCache

	prefetch bool   // see Prefetching
	planned  []Card // cards as a dry run would leave them, in order of change; see ReadAfter
}

// headCache is the head of the world's stream, read when it is first needed. If reading it fails,
// the whole Read fails with err.
type headCache struct {
	known bool
	head  Head
	err   error
}

// World returns the world of the snapshot.
func (s *Snapshot) World() World { return s.world }

// Grant returns the grant of the snapshot.
func (s *Snapshot) Grant() access.Grant { return s.grant }

// View returns the view of the snapshot.
func (s *Snapshot) View() access.View { return s.visibility.View }

// As returns the same snapshot through the view of a lower level.
func (s *Snapshot) As(level access.Level) *Snapshot {
	c := *s
	c.grant = s.grant.As(level)
	c.visibility.View = c.grant.View()
	return &c
}

// ForReaders returns the same snapshot with only the data that all readers of a label see, for a text that is
// composed out of the canon and written under that label.
func (s *Snapshot) ForReaders(l access.Label) *Snapshot {
	c := *s
	c.grant = s.grant.ForReaders(l)
	c.visibility.View = c.grant.View()
	return &c
}

// AsAnyPlayer returns the same snapshot as every player sees it, without data that is visible only
// to named subjects.
func (s *Snapshot) AsAnyPlayer() *Snapshot { return s.AsPlayer("") }

// AsPlayer returns the same snapshot as a player with a subject sees it.
func (s *Snapshot) AsPlayer(subject access.Subject) *Snapshot {
	c := *s
	c.grant = s.grant.AsPlayer(subject)
	c.visibility.View = c.grant.View()
	return &c
}

// Prefetching returns the same snapshot for a caller that finds a card by name or id and then reads
// its content and counts its children. The store reads all three at once.
func (s *Snapshot) Prefetching() *Snapshot {
	c := *s
	c.prefetch = true
	return &c
}

// NameLevel returns the level that the world's name rules give to a name, whether or not a card has
// it.
func (s *Snapshot) NameLevel(name string) access.Level {
	if strings.HasPrefix(name, "~") || strings.HasPrefix(name, ":") {
		return access.LevelUser
	}
	return s.world.Settings.nameLevel(markup.KeyOf(name))
}

// nameLevel returns LevelGM if a part of the key is one of the world's GM parts, else LevelUser.
func (s Settings) nameLevel(key markup.Key) access.Level {
	for part := range strings.SplitSeq(string(key), "+") {
		if s.isGMPart(part) {
			return access.LevelGM
		}
	}
	return access.LevelUser
}

func (s Settings) isGMPart(key string) bool { return slices.Contains(s.gmParts(), key) }

// defaultGMParts are the keys of the GM parts of a world that configures none.
var defaultGMParts = []string{"gm", "ai"}

// gmParts returns the keys of the GM parts of the world.
func (s Settings) gmParts() []string {
	if s.GMParts == nil {
		return defaultGMParts
	}
	return slicesx.Map(s.GMParts, markup.PartKey)
}

// Find resolves a name argument: "~ID", ":codename", a name, an id or an alias. A name finds the visible
// card with the lowest label, an alias the only visible card that has it. The error is fault.NotFound,
// with similar visible names.
func (s *Snapshot) Find(ctx context.Context, name string) (Card, error) {
	card, ok, err := s.findByName(ctx, name)
	if err != nil || ok {
		return card, err
	}
	if !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, ":") {
		cards, err := s.ByAlias(ctx, name)
		if err != nil {
			return Card{}, err
		}
		if len(cards) == 1 {
			return cards[0], nil
		}
	}
	return Card{}, s.notFoundFault(ctx, name)
}

// Exists is Find for callers that can continue without the card.
func (s *Snapshot) Exists(ctx context.Context, name string) (Card, bool, error) {
	return s.findByName(ctx, name)
}

func (s *Snapshot) findByName(ctx context.Context, name string) (Card, bool, error) {
	switch {
	case strings.HasPrefix(name, "~"):
		id, err := uuid.Parse(strings.TrimSpace(name[1:]))
		if err != nil {
			return Card{}, false, nil
		}
		return s.ByID(ctx, CardID(id))
	case strings.HasPrefix(name, ":"):
		return First(s.r.FindCards(ctx, s.visibility, CardQuery{Codename: strings.TrimSpace(name[1:])}))
	}
	card, ok, err := s.ByKey(ctx, markup.KeyOf(name))
	if err != nil || ok || uuid.Validate(name) != nil {
		return card, ok, err
	}
	return s.ByID(ctx, CardID(uuid.MustParse(name)))
}

// ByID finds a living card by its id.
func (s *Snapshot) ByID(ctx context.Context, id CardID) (Card, bool, error) {
	card, ok, err := First(s.r.FindCards(ctx, s.visibility, CardQuery{ID: id, Prefetch: s.prefetch}))
	if err != nil || !ok || card.Trashed() {
		return Card{}, false, err
	}
	return card, true, nil
}

// Trashed finds a card in the trash by its id, for callers who see the trash.
func (s *Snapshot) Trashed(ctx context.Context, id CardID) (Card, bool, error) {
	card, ok, err := First(s.r.FindCards(ctx, s.visibility, CardQuery{ID: id}))
	if err != nil || !ok || !card.Trashed() {
		return Card{}, false, err
	}
	return card, true, nil
}

// ByKey finds the visible card with a key and the lowest label.
func (s *Snapshot) ByKey(ctx context.Context, key markup.Key) (Card, bool, error) {
	return First(s.Homonyms(ctx, key))
}

// Homonyms returns all visible cards with a key, lowest label first.
func (s *Snapshot) Homonyms(ctx context.Context, key markup.Key) ([]Card, error) {
	return s.r.FindCards(ctx, s.visibility, CardQuery{Key: key, Prefetch: s.prefetch})
}

// notFoundFault is the error for both absent and hidden cards.
func (s *Snapshot) notFoundFault(ctx context.Context, name string) error {
	shown := markup.Clean(markup.Clip(name, 255))
	e := fault.New(fault.NotFound, "there is no card %q; look for it with search {\"query\": %q}", shown, shown)
	near, err := s.r.NearNames(ctx, s.visibility, markup.Clip(name, 255), 3)
	switch {
	case err != nil:
		return err
	case len(near) > 0:
		return e.With("did_you_mean", near)
	}
	return e
}

// Renamed finds a card by a name that it had before it, or one of its ancestors, was renamed.
func (s *Snapshot) Renamed(ctx context.Context, name string) (Card, bool, error) {
	return s.findRenamed(ctx, markup.KeyOf(name), 8)
}

// findRenamed finds a card by a former key. If no card had that key, it looks for a renamed
// ancestor, up to hops levels up, and for the card below its new name.
func (s *Snapshot) findRenamed(ctx context.Context, key markup.Key, hops int) (Card, bool, error) {
	card, ok, err := First(s.r.FindCards(ctx, s.visibility, CardQuery{OldKey: key}))
	if err != nil || ok {
		return card, ok, err
	}
	left := key.Left()
	if left == "" || hops == 0 {
		return Card{}, false, nil
	}
	parent, ok, err := s.findRenamed(ctx, left, hops-1)
	if err != nil || !ok {
		return Card{}, false, err
	}
	return s.ByKey(ctx, parent.Key+"+"+key[len(left)+1:])
}

// Body returns stored text by its hash, which the caller got from a visible card or version. An
// erased body reads as "".
func (s *Snapshot) Body(ctx context.Context, h Hash) (string, error) {
	b, err := s.Bytes(ctx, h)
	return string(b), err
}

// Bytes is Body for content that is not text.
func (s *Snapshot) Bytes(ctx context.Context, h Hash) ([]byte, error) {
	if h == (Hash{}) {
		return nil, nil
	}
	b, _, err := s.r.Body(ctx, s.visibility.World, h)
	return b, err
}

// Cards lists living cards.
func (s *Snapshot) Cards(ctx context.Context, f Filter, p Page) ([]Card, Total, error) {
	return s.r.Cards(ctx, s.visibility, f, p)
}

// recentCards is the number of cards that Recent returns at most.
const recentCards = 100

// Recent returns the cards that changed last, latest first. Their number is bounded, so a large
// world takes no longer.
func (s *Snapshot) Recent(ctx context.Context) ([]Card, error) {
	cards, _, err := s.Cards(ctx, Filter{Sort: SortUpdated}, Page{Limit: recentCards})
	return cards, err
}

// ByIDs returns living cards in the order of ids; absent ones are left out.
func (s *Snapshot) ByIDs(ctx context.Context, ids []CardID) ([]Card, error) {
	return s.r.FindCards(ctx, s.visibility, CardQuery{IDs: ids})
}

// ByAlias returns the cards with an alias, lowest label first.
func (s *Snapshot) ByAlias(ctx context.Context, text string) ([]Card, error) {
	return s.r.FindCards(ctx, s.visibility, CardQuery{Alias: markup.KeyOf(text)})
}

// ByRef finds the card that a reference means: the one with the key or else the first that has it as
// an alias.
func (s *Snapshot) ByRef(ctx context.Context, target markup.Key) (Card, bool, error) {
	card, ok, err := s.ByKey(ctx, target)
	if err != nil || ok {
		return card, ok, err
	}
	return First(s.r.FindCards(ctx, s.visibility, CardQuery{Alias: target}))
}

// RefTargets returns the keys by which references mean a card: its own, and those of its aliases that
// are no card's name.
func (s *Snapshot) RefTargets(ctx context.Context, c Card) ([]markup.Key, error) {
	keys := []markup.Key{c.Key}
	for _, alias := range c.Aliases() {
		key := markup.KeyOf(alias)
		if _, ok, err := s.ByKey(ctx, key); err != nil {
			return nil, err
		} else if !ok {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// NearCards returns up to n cards with a name or alias that resembles a text, best first.
func (s *Snapshot) NearCards(ctx context.Context, text string, f Filter, n int) ([]Hit, error) {
	return s.r.NearCards(ctx, s.visibility, text, f, n)
}

// Descendants lists cards below a card; depth 1 is its children.
func (s *Snapshot) Descendants(ctx context.Context, id CardID, depth int, p Page) ([]Card, Total, error) {
	return s.r.Descendants(ctx, s.visibility, id, depth, p)
}

// Search is a full-text search, with stems of the world's language. A search by relevance also finds cards by
// meaning, if the canon has a Nearness.
func (s *Snapshot) Search(ctx context.Context, q SearchQuery, p Page) (SearchResult, error) {
	q.Language = s.World().Settings.Language()
	if s.canon.nearness == nil || q.Mode != MatchRelevance {
		return s.r.Search(ctx, s.visibility, q, p)
	}
	near := s.canon.nearness.Near(ctx, s.visibility.World, s.View().Level, q.Q)
	if !near.Ready || near.At < s.Now() {
		doNotKeep(ctx)
	}
	q.Near = near.Cards
	out, err := s.r.Search(ctx, s.visibility, q, p)
	out.Unready = !near.Ready
	return out, err
}

// Near returns visible names that resemble a name.
func (s *Snapshot) Near(ctx context.Context, name string, n int) ([]string, error) {
	return s.r.NearNames(ctx, s.visibility, name, n)
}

// TypeUse counts visible living cards by the key of their type.
func (s *Snapshot) TypeUse(ctx context.Context) (map[string]int, error) {
	return s.r.TypeUse(ctx, s.visibility)
}

// Complete returns visible names that begin with a text.
func (s *Snapshot) Complete(ctx context.Context, prefix string, n int) ([]string, error) {
	return s.r.CompleteNames(ctx, s.visibility, prefix, n)
}

// Trash lists the cards that were put in the trash themselves, latest first.
func (s *Snapshot) Trash(ctx context.Context, p Page) ([]Card, Total, error) {
	return s.r.Trash(ctx, s.visibility, p)
}

// TrashedWith lists the cards that were put in the trash with a card, that card first.
func (s *Snapshot) TrashedWith(ctx context.Context, root CardID) ([]Card, error) {
	return s.r.FindCards(ctx, s.visibility, CardQuery{TrashRoot: root})
}

// Versions lists a card's visible versions, latest first.
func (s *Snapshot) Versions(ctx context.Context, id CardID, p Page) ([]Version, Total, error) {
	return s.r.Versions(ctx, s.visibility, id, p)
}

// Number returns the number of a version that is shown to the view.
func (s *Snapshot) Number(c Card, v Version) uint32 {
	return v.Counts.For(max(s.visibility.View.Level, levelShown(c, s.visibility.View)))
}

// Feed lists visible changes, latest first.
func (s *Snapshot) Feed(ctx context.Context, q FeedQuery) ([]Version, Total, error) {
	return s.r.Feed(ctx, s.visibility, q)
}

// Refs lists references from visible cards.
func (s *Snapshot) Refs(ctx context.Context, q RefQuery) ([]RefRow, Total, error) {
	return s.r.Refs(ctx, s.visibility, q)
}

// Wanted lists link targets for which no visible card exists, most wanted first.
func (s *Snapshot) Wanted(ctx context.Context, p Page) ([]Wanted, Total, error) {
	return s.r.Wanted(ctx, s.visibility, p)
}

// Tags counts visible tags.
func (s *Snapshot) Tags(ctx context.Context, prefix string, p Page) ([]TagCount, Total, error) {
	return s.r.Tags(ctx, s.visibility, prefix, p)
}

// Links lists visible links.
func (s *Snapshot) Links(ctx context.Context, q LinkQuery) ([]Link, Total, error) {
	return s.r.Links(ctx, s.visibility, q)
}

// LinkByID finds a visible current link between visible cards.
func (s *Snapshot) LinkByID(ctx context.Context, id LinkID) (Link, bool, error) {
	return findLink(ctx, s.r, s.visibility, id)
}

// findLink finds a visible current link.
func findLink(ctx context.Context, r Reader, s Visibility, id LinkID) (Link, bool, error) {
	links, _, err := r.Links(ctx, s, LinkQuery{IDs: []LinkID{id}, Page: Page{Limit: 1, Uncounted: true}})
	return First(links, err)
}

// Reach finds the cards that can be reached from a card along links.
func (s *Snapshot) Reach(ctx context.Context, q ReachQuery) (Reached, error) {
	return s.r.Reach(ctx, s.visibility, q)
}

// LinkMax returns the greatest integer attribute of current links of a kind.
func (s *Snapshot) LinkMax(ctx context.Context, kind, attr string) (int64, bool, error) {
	return s.r.LinkMax(ctx, s.visibility, kind, attr)
}

// Layers lists visible layers of visible cards.
func (s *Snapshot) Layers(ctx context.Context, q LayerQuery) ([]Layer, error) {
	return s.r.Layers(ctx, s.visibility, q)
}

// Members lists the world's members. Only the world's admins may call it.
func (s *Snapshot) Members(ctx context.Context) ([]Member, error) {
	if s.grant.Role() < access.RoleAdmin {
		return nil, fault.New(fault.Denied, "only the world's admin can list the members").With("required_role", "admin")
	}
	return s.r.Members(ctx, MemberQuery{World: s.visibility.World})
}

// Clock returns the time that a commit made now would have.
func (s *Snapshot) Clock() time.Time { return s.canon.commitTime() }

// Now returns the number of the last commit to the world in this snapshot. See Seq before showing
// it.
func (s *Snapshot) Now() Seq { return s.loadHead().Seq }

// Head returns the last commit to the world in this snapshot, for callers that keep results
// computed from the stream. It returns false if nothing may be kept: in a write transaction, which
// may still be rolled back, and if the head could not be read.
func (s *Snapshot) Head() (Head, bool) {
	if _, writes := s.r.(Tx); writes {
		return Head{}, false
	}
	h := s.loadHead()
	return h, h.Seq > 0
}

// loadHead returns the head of the stream, and reads it at the first call.
func (s *Snapshot) loadHead() Head {
	if !s.headCache.known {
		s.headCache.head, s.headCache.err = s.r.Head(context.Background(), WorldStream(s.world.ID))
		s.headCache.known = true
	}
	return s.headCache.head
}

// SeqAt returns the number of the last commit to the world at a time; 0 means before the first one.
func (s *Snapshot) SeqAt(ctx context.Context, at time.Time) (Seq, error) {
	return s.r.SeqAt(ctx, s.world.ID, at)
}

// CardAt finds the version of a living card that was current just after a commit.
func (s *Snapshot) CardAt(ctx context.Context, id CardID, at Seq) (Version, bool, error) {
	return First(s.CardsAt(ctx, []CardID{id}, at))
}

// CardsAt is CardAt for several cards, in their order; absent ones are left out.
func (s *Snapshot) CardsAt(ctx context.Context, ids []CardID, at Seq) ([]Version, error) {
	return s.r.CardsAt(ctx, s.visibility, ids, at)
}
