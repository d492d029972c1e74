package console

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/identity"
)

// feeds are the feeds that pages follow, by their name in the address. A page asks for its parts again at each message.
var feeds = map[string]string{"map": "follow_map", "proposals": "follow_proposals", "run": "follow_run",
	"runs": "follow_runs"}

// followFeed sends a feed to a page, as far as the person may follow it.
func (s *server) followFeed(v *visit) error {
	feed, known := feeds[v.r.PathValue("of")]
	if !known {
		return errNothingHere
	}
	cookie, err := v.r.Cookie(s.cookieName(v.r))
	if err != nil {
		return err
	}
	again := func(ctx context.Context) (access.Caller, error) {
		c, err := s.Sessions.Authenticate(ctx, cookie.Value, identity.AudienceConsole)
		if err != nil {
			return c, err
		}
		return lowered(c, v.as)
	}
	return s.Follow(v.r, v.caller, again, feed, v.world, map[string]string{"run_id": v.r.URL.Query().Get("run")})
}
