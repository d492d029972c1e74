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
	From  Seat   `json:"from,omitzero"` // zero: the game itself
	To    Seat   `json:"to,omitzero"`   // the player it is about, or its only recipient
	Text  string `json:"text"`
	At    Millis `json:"at"`
}

// Millis is a time in milliseconds since 1970 in UTC.
type Millis int64

// chunk is the number of messages per slice: adding a message copies at most that many.
const chunk = 32

// Log is a list of messages that only grows. It is a value: adding to it leaves every copy
// unchanged.
type Log struct {
	full [][]Message // chunk messages each
	tail []Message
}

// Len returns the number of messages.
func (l Log) Len() int { return len(l.full)*chunk + len(l.tail) }

// withMessage returns the log with one message added; messages are numbered from 1.
func (l Log) withMessage(m Message) Log {
	m.ID = l.Len() + 1
	tail := make([]Message, len(l.tail)+1)
	copy(tail, l.tail)
	tail[len(l.tail)] = m
	if len(tail) < chunk {
		return Log{l.full, tail}
	}
	return Log{append(slices.Clip(l.full), tail), nil}
}

// After yields the messages with a number above id, in order.
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

// UnmarshalJSONFrom parses the output of MarshalJSONTo.
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
