package model

import (
	"context"
	"errors"
	"time"

	"loregate/internal/fault"
)

// noteResult tells the breaker a call's result. Only an endpoint that cannot be reached is a
// failure, and a call that its caller canceled does not count.
func (c *Client) noteResult(ctx context.Context, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) {
		c.breaker.Note(c.cfg.Now(), err != nil && fault.KindOf(err) == fault.Unavailable, 30*time.Second)
	}
}

func breakerOpenError(left time.Duration) error {
	e := fault.New(fault.Unavailable, "the model failed to answer several times in a row; it is called again in %d s",
		fault.RetrySeconds(left))
	e.RetryAfter = left
	return e
}
