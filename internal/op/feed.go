package op

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Feed is a declared stream of what happens to one thing, sent over HTTP as server-sent
// events.
type Feed struct {
	Name     string // snake_case; also what the access record shows
	Title    string
	Doc      string
	Surfaces []string
	MinRole  access.Role
	Audience string // as an operation's
	NoWorld  bool   // of the instance, not of a world
	WorldVar string // variable whose value names the world; "" for none
	Route    string // "GET /api/players/{id}/stream"
	Kinds    []FeedKind

	// Open finds what is to be followed. Absent and hidden are both fault.NotFound. after
	// is the ID of the last message that the reader had; "" begins with the present. The
	// messages end with ctx; what they show is decided for each of them by the grant.
	Open func(ctx context.Context, c *Call, vars map[string]string, after string) (iter.Seq2[Message, error], error)
}

// FeedKind is a kind of message, for the reference.
type FeedKind struct{ Event, Doc string }

// Message is one event of a feed.
type Message struct {
	ID    string // where to go on after it; "" for none. One line
	Event string // its kind; one line
	Data  json.RawMessage
}

// FeedRequest asks to follow a feed.
type FeedRequest struct {
	Ask
	Feed  *Feed
	Vars  map[string]string
	After string
}

// Stream is an open feed. Close it.
type Stream struct {
	Messages iter.Seq2[Message, error]

	admission *access.Admission
	end       func(error, int)
	ctx       context.Context
	bytes     int
}

// Feeds are the declared feeds, in order.
func (l *Local) Feeds() []*Feed {
	var all []*Feed
	for _, s := range l.surfaces {
		for _, f := range s.Feeds {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return all
}

// Follow admits a reader of a feed and opens it. What it may see is decided once, now:
// the transport ends the stream when the reader's rights change.
func (l *Local) Follow(ctx context.Context, c access.Caller, r FeedRequest) (stream *Stream, err error) {
	f := r.Feed
	surface := through(c, f.Surfaces, r.Surface, f.Name)
	ctx, end := l.observe(ctx, r.Transport, surface, f.Name)
	defer func() {
		if err != nil {
			end(err, 0)
		}
	}()
	world, badWorld := access.WorldID{}, error(nil)
	if !f.NoWorld {
		if named := r.Vars[f.WorldVar]; named != "" {
			r.World = named
		}
		world, badWorld = l.world(ctx, c, r.World)
	}
	least := f.MinRole
	if badWorld != nil {
		least = access.RoleNone
	}
	a, err := l.guard.Admit(ctx, c, access.Request{Operation: f.Name, Surface: surface, Effect: access.Read, Class: access.ClassResource,
		MinRole: least, Audience: f.Audience, World: world, Correlation: r.Correlation})
	if err != nil {
		return nil, err
	}
	stream = &Stream{admission: a, end: end, ctx: ctx}
	if err = badWorld; err == nil {
		call := &Call{Grant: a.Grant, Progress: noProgress, Transport: r.Transport, BaseURL: r.BaseURL}
		stream.Messages, err = f.open(ctx, call, r)
	}
	if err != nil {
		a.Done(ctx, 0, err)
		return nil, err
	}
	return stream, nil
}

// openTimeout is how long finding what is to be followed may take.
const openTimeout = readTimeout

// open runs Open, whose context ends the stream and bounds the opening.
func (f *Feed) open(ctx context.Context, c *Call, r FeedRequest) (messages iter.Seq2[Message, error], err error) {
	defer recovered(&err)
	opening, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(openTimeout, func() { cancel(context.DeadlineExceeded) })
	messages, err = f.Open(opening, c, r.Vars, r.After)
	if !late.Stop() || err != nil {
		cancel(nil)
	}
	if err == nil && opening.Err() != nil {
		err = fault.New(fault.Unavailable, "this took too long and was stopped; try again")
	}
	return messages, timely(opening, err)
}

// Sent counts what was sent of the stream, for its access record.
func (s *Stream) Sent(bytes int) { s.bytes += bytes }

// Close ends the stream and records it.
func (s *Stream) Close(err error) {
	s.admission.Done(s.ctx, s.bytes, err)
	s.end(err, s.bytes)
}

func checkFeed(f *Feed, surface string, wrong *problems) {
	bad := func(format string, args ...any) { wrong.add("feed "+f.Name+": "+format, args...) }
	if !nameForm.MatchString(f.Name) || f.Title == "" || f.Doc == "" || f.Open == nil {
		bad("Name, Title, Doc and Open are needed")
	}
	if !slices.Contains(f.Surfaces, surface) {
		bad("Surfaces does not name %s, which offers it", surface)
	}
}
