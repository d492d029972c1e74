package op

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"time"
)

// followInterval is the time between two readings of a value that is followed. It is read at multiples of it since the
// beginning, so that the time of a message tells nothing of changes that the reader does not see, and a burst of changes is
// read once.
const followInterval = 400 * time.Millisecond

// FollowValue returns the messages of a feed that follows a value: the value, and the value again whenever it differs from
// the one before. The id of a message is a hash of its data, so that a reader who resumes after it is sent the value
// only if it is another by now. changed returns a channel that is closed at the next change of anything. read reads the
// value through the reader's view; so nothing that it leaves out shows in a message or in its coming.
func FollowValue[T any](ctx context.Context, event, after string, changed func() <-chan struct{},
	read func(context.Context) (T, error)) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		for began := time.Now(); ; {
			next := changed()
			m, err := readMessage(ctx, event, read)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				yield(Message{}, err)
				return
			}
			if m.ID != after && !yield(m, nil) {
				return
			}
			after = m.ID
			select {
			case <-ctx.Done():
				return
			case <-next:
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(followInterval - time.Since(began)%followInterval):
			}
		}
	}
}

func readMessage[T any](ctx context.Context, event string, read func(context.Context) (T, error)) (Message, error) {
	value, err := read(ctx)
	if err != nil {
		return Message{}, err
	}
	b, err := Encode(value)
	sum := sha256.Sum256(b)
	return Message{ID: hex.EncodeToString(sum[:8]), Event: event, Data: b}, err
}
