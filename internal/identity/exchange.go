package identity

import (
	"context"
	"time"

	"loregate/internal/access"
	"loregate/internal/fault"
)

// Issued is the answer to POST /api/mcp/auth.
type Issued struct {
	Token     string         `json:"token"`
	TokenType string         `json:"token_type"`
	Subject   access.Subject `json:"username"` // the key's subject
	Role      access.Role    `json:"role"`
	ExpiresIn int            `json:"expires_in"` // seconds
	ExpiresAt time.Time      `json:"expires_at"`
}

// Exchange issues a token for an API key. The token has the given role, or with RoleNone the key's
// highest; it is for one world (its slug or UUID) or, with "", for all that the key opens. The
// error is fault.Unauthorized for an unknown, malformed, revoked or expired key (the same text for
// all), fault.Denied for a role above the key's own, and fault.NotFound for a world that the key
// does not open, whether it exists or not.
func (s *Service) Exchange(ctx context.Context, apiKey string, role access.Role, world string) (Issued, error) {
	now := s.cfg.Now().UTC()
	k, err := s.goodKey(ctx, apiKey, now)
	if err != nil {
		return Issued{}, err
	}
	if role < access.RoleNone || role > access.RoleAdmin {
		return Issued{}, fault.BadField("role", "must be user, gm or admin")
	}
	whole, err := s.callerOfKey(ctx, k, nil)
	if err != nil {
		return Issued{}, err
	}
	w, err := s.findOpenWorld(ctx, whole, world)
	if err != nil {
		return Issued{}, err
	}
	own := highestRole(whole, k, w)
	if role == access.RoleNone {
		role = own
	}
	if role > own || role == access.RoleNone {
		return Issued{}, fault.New(fault.Denied, "this key's highest role here is %s; ask for that or a lower one", own).
			With("highest_role", own.String())
	}
	return s.issueToken(ctx, k, role, w, now)
}

// findOpenWorld finds the requested world among those that the key opens.
func (s *Service) findOpenWorld(ctx context.Context, c access.Caller, world string) (access.WorldID, error) {
	if world == "" {
		return access.WorldID{}, nil
	}
	w, ok, err := s.cfg.Worlds.FindWorld(ctx, world)
	if err != nil {
		return w, newUnavailable(err)
	}
	if !ok || c.Role(w) == access.RoleNone {
		return access.WorldID{}, fault.New(fault.NotFound, "no such world for this key; ask for a world that the key opens")
	}
	return w, nil
}

// highestRole returns the highest role that a key has in a world, or with the zero world in any.
// For a key that opens no world yet, and for an operator's key, which opens the whole instance, it
// is the key's MaxRole.
func highestRole(c access.Caller, k Key, w access.WorldID) access.Role {
	if !w.IsZero() {
		return c.Role(w)
	}
	if len(c.Roles) == 0 || c.Operator {
		return k.MaxRole
	}
	best := c.EveryRole
	for _, r := range c.Roles {
		best = max(best, r)
	}
	return best
}

func (s *Service) issueToken(ctx context.Context, k Key, role access.Role, w access.WorldID,
	now time.Time) (Issued, error) {
	return s.signFor(ctx, k, tokenTerms{role, w, s.cfg.Audiences, s.cfg.Life}, now)
}

// tokenTerms are the claims of a token that do not follow from its key.
type tokenTerms struct {
	role     access.Role
	world    access.WorldID
	audience audience
	life     time.Duration
}

// signFor issues a token for a key. It does not outlive the key.
func (s *Service) signFor(ctx context.Context, k Key, t tokenTerms, now time.Time) (Issued, error) {
	signer, err := s.ring.loadSigner(ctx)
	if err != nil {
		return Issued{}, err
	}
	now = now.Truncate(time.Second)
	ends := now.Add(t.life)
	if !k.Expires.IsZero() && k.Expires.Before(ends) {
		ends = k.Expires.Truncate(time.Second)
	}
	token, err := signToken(claims{
		Issuer: s.cfg.Issuer, Audience: t.audience, Subject: k.Subject, Role: t.role,
		World: worldClaim{t.world}, Key: k.ID, IssuedAt: now.Unix(), NotBefore: now.Unix(),
		Expires: ends.Unix(), ID: s.cfg.NewID(),
	}, signer)
	if err != nil {
		return Issued{}, err
	}
	return Issued{Token: token, TokenType: "Bearer", Subject: k.Subject, Role: t.role,
		ExpiresIn: int(ends.Sub(now) / time.Second), ExpiresAt: ends}, nil
}
