package rule

import (
	"iter"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Message is one line of chat.
type Message struct {
	ID    int    `json:"id"`
	Day   int    `json:"day"`
	Phase Phase  `json:"phase"`
	From  Seat   `json:"from,omitzero"` // nobody: the game itself
	To    Seat   `json:"to,omitzero"`   // whom it is about, or alone for
	Text  string `json:"text"`
	At    Millis `json:"at"`
}

// Millis is a time in milliseconds since 1970 in UTC.
type Millis int64

// chunk is how many messages are kept together: adding one copies at most that many.
const chunk = 32

// Log is a list of messages that only grows. It is a value: adding to it leaves every
// copy as it was.
type Log struct {
	full [][]Message // of chunk each
	tail []Message
}

// Len is how many messages there are.
func (l Log) Len() int { return len(l.full)*chunk + len(l.tail) }

// with is the log and one message more, numbered from 1.
func (l Log) with(m Message) Log {
	m.ID = l.Len() + 1
	tail := make([]Message, len(l.tail)+1)
	copy(tail, l.tail)
	tail[len(l.tail)] = m
	if len(tail) < chunk {
		return Log{l.full, tail}
	}
	return Log{append(slices.Clip(l.full), tail), nil}
}

// After gives the messages with a number above id, in order.
func (l Log) After(id int) iter.Seq[Message] {
	return func(yield func(Message) bool) {
		for i := max(id, 0); i < l.Len(); i++ {
			m := l.tail
			if i/chunk < len(l.full) {
				m = l.full[i/chunk]
			}
			if !yield(m[i%chunk]) {
				return
			}
		}
	}
}

// MarshalJSONTo writes the messages as a list.
func (l Log) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, slices.Collect(l.After(0)))
}

// UnmarshalJSONFrom reads what MarshalJSONTo writes.
func (l *Log) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var all []Message
	if err := json.UnmarshalDecode(d, &all); err != nil {
		return err
	}
	*l = Log{}
	for part := range slices.Chunk(all, chunk) {
		if len(part) == chunk {
			l.full = append(l.full, part)
		} else {
			l.tail = part
		}
	}
	return nil
}
