package remote

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
)

// blankLines is an input that never ends.
type blankLines struct{}

func (blankLines) Read(p []byte) (int, error) {
	p[0] = '\n'
	return 1, nil
}

func TestServeEndsWithItsContext(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			if err := new(Bridge).Serve(ctx, blankLines{}, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
}
