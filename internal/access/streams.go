package access

import (
	"slices"
	"sync"
)

// MostStreams bounds the open streams of an account. It is more than the clients of one person
// need, some of which open a stream for each subject that they follow, and too few to use up the
// connections of a server.
const MostStreams = 256

// Streams bounds the open streams of each account. If an account opens one too many, the oldest is
// ended: its reader is the most likely to be gone. The zero value is ready to use. Streams is safe
// for concurrent use.
type Streams struct {
	mu   sync.Mutex
	open map[string][]*openStream // by account, the oldest first; guarded by mu
}

type openStream struct{ end func() }

// Open counts a stream of an account until closed is called. Open calls end, at most once and from
// another goroutine, if a newer stream replaces this one; end must not wait for the stream's
// reader.
func (s *Streams) Open(account string, end func()) (closed func()) {
	one := &openStream{end}
	s.mu.Lock()
	if s.open == nil {
		s.open = map[string][]*openStream{}
	}
	mine := append(s.open[account], one)
	var oldest *openStream
	if len(mine) > MostStreams {
		oldest = mine[0]
		mine = slices.Delete(mine, 0, 1)
	}
	s.open[account] = mine
	s.mu.Unlock()
	if oldest != nil {
		oldest.end()
	}
	return func() { s.close(account, one) }
}

func (s *Streams) close(account string, one *openStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := slices.DeleteFunc(s.open[account], func(o *openStream) bool { return o == one })
	if len(mine) == 0 {
		delete(s.open, account)
		return
	}
	s.open[account] = mine
}
