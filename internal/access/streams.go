package access

import (
	"slices"
	"sync"
)

// MostStreams is how many streams an account may have open: more than the clients of one
// person need, of which some open a stream for each thing that they follow, and too few to
// take up a server's connections.
const MostStreams = 256

// Streams bounds how many streams each account has open. Where one more is opened than
// there may be, the oldest ends: it is the likeliest to be one whose reader is gone. The
// zero value is ready, and safe for concurrent use.
type Streams struct {
	mu   sync.Mutex
	open map[string][]*openStream // by account, the oldest first. Guarded by mu
}

type openStream struct{ end func() }

// Open counts a stream of an account until closed is called. end is called, at most once
// and from elsewhere, where the stream has to give way to another; it must not wait for the
// stream's reader.
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
