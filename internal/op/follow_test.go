package op_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"loregate/internal/op"
)

// TestAFollowedValueIsSentWhenItDiffers follows a value whose readers are woken more often than it changes.
func TestAFollowedValueIsSentWhenItDiffers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		value, reads := "a", 0
		wake := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		follow := func(after string) <-chan op.Message {
			got := make(chan op.Message, 10)
			go func() {
				for m, err := range op.FollowValue(ctx, "x", after, func() <-chan struct{} { return wake },
					func(context.Context) (string, error) { reads++; return value, nil }) {
					if err != nil {
						t.Error(err)
					}
					got <- m
				}
				close(got)
			}()
			return got
		}
		change := func(to string) {
			old := wake
			value, wake = to, make(chan struct{})
			close(old)
			time.Sleep(2 * time.Second) // of the bubble
			synctest.Wait()
		}
		got := follow("")
		first := <-got
		change("a")
		if len(got) > 0 || reads != 2 {
			t.Errorf("%d messages after a change of something else, %d readings", len(got), reads)
		}
		change("b")
		if m := <-got; string(m.Data) != `"b"` || m.ID == first.ID {
			t.Errorf("%+v after %+v", m, first)
		}
		change("a")
		if m := <-got; m.ID != first.ID {
			t.Errorf("the same value has the ids %s and %s", m.ID, first.ID)
		}
		resumed := follow(first.ID)
		synctest.Wait()
		if len(resumed) > 0 {
			t.Error("a reader that has the value is sent it again")
		}
		cancel()
		synctest.Wait()
		if _, open := <-got; open {
			t.Error("the feed goes on after its reader has left")
		}
	})
}

// TestAFollowedValueThatCannotBeReadEnds ends the feed with the error.
func TestAFollowedValueThatCannotBeReadEnds(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	n := 0
	for _, err := range op.FollowValue(t.Context(), "x", "", func() <-chan struct{} { return nil },
		func(context.Context) (int, error) { return 0, broken }) {
		if n++; !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	if n != 1 {
		t.Errorf("%d messages", n)
	}
}
