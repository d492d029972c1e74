package game

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/game/rule"
	"loregate/internal/game/view"
	"loregate/internal/op"
	"loregate/internal/wait"
)

// gatherPause is the time that a stream waits for more changes before it sends one: the changes of
// one command become one message.
const gatherPause = 20 * time.Millisecond

// chatData is the data of a message of kind chat.
type chatData struct {
	Messages []view.Message `json:"messages"`
}

func (s *Service) gameFeed() *op.Feed {
	return &op.Feed{
		Name: "game_stream", Title: "Follow a game", Surfaces: []string{Surface}, MinRole: access.RoleUser, Audience: "play",
		Route: "GET /api/games/{id}/stream",
		Doc: "Follow a game as your seat sees it. It begins with the present view and all chat after a given message (Last-Event-ID), " +
			"and continues with each change of your view.",
		Kinds: []op.FeedKind{
			{Event: "view", Doc: "The game as get_game returns it, with an empty chat_log, and the server's time as now. It replaces the previous one."},
			{Event: "chat", Doc: "New chat messages, after the previous ones: {messages}."},
		},
		Open: s.openStream,
	}
}

// viewData is the data of a message of kind view.
type viewData struct {
	view.Own
	Now time.Time `json:"now"`
}

func (s *Service) openStream(ctx context.Context, c *op.Call, vars map[string]string,
	after string) (iter.Seq2[op.Message, error], error) {
	t, p, err := s.partOf(ctx, c.Grant, vars["id"])
	if err != nil {
		return nil, err
	}
	heard, err := strconv.Atoi(strings.TrimPrefix(after, "m"))
	if after != "" && (err != nil || heard < 0) {
		return nil, fault.BadField("Last-Event-ID", "must be the id of a message of this stream")
	}
	return func(yield func(op.Message, error) bool) {
		w := &watcher{s: s, t: t, by: c.Grant.Caller(), seat: p.seat, heard: heard, yield: yield}
		for w.sendNews() {
			if !w.waitChange(ctx) {
				return
			}
		}
	}, nil
}

// watcher sends changes to one reader.
type watcher struct {
	s     *Service
	t     *table
	by    access.Caller
	seat  rule.Seat
	heard int    // number of the last chat message sent
	seen  string // the last view sent, as JSON without the time
	bell  <-chan struct{}
	yield func(op.Message, error) bool
}

// sendNews sends all changes since the last call. It reports whether the reader takes more.
func (w *watcher) sendNews() bool {
	w.bell = w.t.bell.waitChan()
	w.t.used.Store(int64(w.s.nowMillis()))
	state, _ := w.t.currentState()
	if w.seat != 0 && !ownsSeat(&state, w.by, w.seat) {
		return false
	}
	brief := viewOf(&state, w.seat, view.BriefOf)
	brief.ChatLog = []view.Message{}
	if b, err := json.Marshal(brief, json.Deterministic(true)); err != nil || string(b) != w.seen {
		w.seen = string(b)
		if !w.sendMessage("view", viewData{brief, w.s.cfg.Now().UTC()}) {
			return false
		}
	}
	list := view.Messages(&state.Public, w.heard)
	if len(list) == 0 {
		return true
	}
	w.heard = list[len(list)-1].ID
	return w.sendMessage("chat", chatData{list})
}

func (w *watcher) sendMessage(event string, data any) bool {
	b, err := json.Marshal(data, json.Deterministic(true))
	return w.yield(op.Message{ID: "m" + strconv.Itoa(w.heard), Event: event, Data: b}, err) && err == nil
}

// waitChange waits for a change, and then for gatherPause.
func (w *watcher) waitChange(ctx context.Context) bool {
	select {
	case <-w.bell:
	case <-ctx.Done():
		return false
	}
	return wait.For(ctx, gatherPause)
}
