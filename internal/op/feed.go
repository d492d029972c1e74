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

// Feed is a declared stream of the events of one object, sent over HTTP as server-sent events.
type Feed struct {
	Name     string // snake_case; also the name in access records
	Title    string
	Doc      string
	Surfaces []string
	MinRole  access.Role
	Audience string // as an operation's
	NoWorld  bool   // belongs to the instance, not to a world
	WorldVar string // variable whose value names the world; "" for none
	Route    string // "GET /api/players/{id}/stream"
	Kinds    []FeedKind

	// Open finds the object to follow. Absent and hidden are both fault.NotFound. after is the ID
	// of the last message that the reader had; "" begins with the present. The messages end with
	// ctx; the grant decides about the content of each.
	Open func(ctx context.Context, c *Call, vars map[string]string, after string) (iter.Seq2[Message, error], error)
}

// FeedKind is a kind of message, for the reference.
type FeedKind struct{ Event, Doc string }

// Message is one event of a feed.
type Message struct {
	ID    string // position after it, for resuming; "" for none. One line
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

// Stream is an open feed. It must be closed.
type Stream struct {
	Messages iter.Seq2[Message, error]

	admission *access.Admission
	end       func(error, int)
	ctx       context.Context
	bytes     int
}

// Feeds returns the declared feeds, in order.
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

// Follow admits a reader of a feed and opens it. The reader's rights are decided once, at the
// start: the transport ends the stream when they change.
func (l *Local) Follow(ctx context.Context, c access.Caller, r FeedRequest) (stream *Stream, err error) {
	f := r.Feed
	surface := pickSurface(c, f.Surfaces, r.Surface, f.Name)
	ctx, end := l.observeCall(ctx, r.Transport, surface, f.Name)
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
		world, badWorld = l.selectWorld(ctx, c, r.World)
	}
	minRole := f.MinRole
	if badWorld != nil {
		minRole = access.RoleNone
	}
	a, err := l.guard.Admit(ctx, c, access.Request{Operation: f.Name, Surface: surface, Effect: access.Read,
		Class: access.ClassResource, Waits: true,
		MinRole: minRole, Audience: f.Audience, World: world, Correlation: r.Correlation})
	if err != nil {
		return nil, err
	}
	stream = &Stream{admission: a, end: end, ctx: ctx}
	if err = badWorld; err == nil {
		call := &Call{Grant: a.Grant, Progress: noProgress, Transport: r.Transport, BaseURL: r.BaseURL}
		stream.Messages, err = f.openInTime(ctx, call, r)
	}
	if err != nil {
		a.Done(ctx, 0, err)
		return nil, err
	}
	return stream, nil
}

// openTimeout bounds the time that Feed.Open may take.
const openTimeout = readTimeout

// openInTime calls Feed.Open with a context that ends with the stream, and earlier if opening takes
// too long.
func (f *Feed) openInTime(ctx context.Context, c *Call, r FeedRequest) (messages iter.Seq2[Message, error], err error) {
	defer recoverPanic(&err)
	opening, cancel := context.WithCancelCause(ctx)
	late := time.AfterFunc(openTimeout, func() { cancel(context.DeadlineExceeded) })
	messages, err = f.Open(opening, c, r.Vars, r.After)
	if !late.Stop() || err != nil {
		cancel(nil)
	}
	if err == nil && opening.Err() != nil {
		err = fault.New(fault.Unavailable, "the call took too long and was stopped; try again")
	}
	return messages, toTimeoutFault(opening, err)
}

// Sent counts bytes sent on the stream, and records the cards that it has shown so far.
func (s *Stream) Sent(bytes int) {
	s.bytes += bytes
	s.admission.RecordShown(s.bytes)
}

// Close ends the stream and records it.
func (s *Stream) Close(err error) {
	s.admission.Done(s.ctx, s.bytes, err)
	s.end(err, s.bytes)
}

func checkFeed(f *Feed, surface string, wrong *problems) {
	bad := func(format string, args ...any) { wrong.add("feed "+f.Name+": "+format, args...) }
	if !namePattern.MatchString(f.Name) || f.Title == "" || f.Doc == "" || f.Open == nil {
		bad("Name, Title, Doc and Open must be set")
	}
	if !slices.Contains(f.Surfaces, surface) {
		bad("Surfaces must contain %s, which offers it", surface)
	}
}
