package proposal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"loregate/internal/safety"
	"loregate/internal/slicesx"
)

// ProfileSetting is the key in a world's extra settings that names the profile of its safety
// policy.
const ProfileSetting = "safety_profile"

// checkSafety is the second gate. It judges the texts by the world's profile. If an external
// moderator does not answer, the gate refuses. No snapshot is open while the moderator is asked.
func (s *Service) checkSafety(ctx context.Context, c *candidate) (outcome, error) {
	texts := slicesx.Map(c.texts, func(t Text) string { return t.Text })
	b, err := json.Marshal(texts)
	if err != nil {
		return outcome{}, err
	}
	j := safety.InUse().Judge(c.profile, texts...)
	o := outcome{input: hashOf(b), flags: j.Categories}
	if slices.ContainsFunc(j.Categories, func(c string) bool { return c == "secrets" || c == "personal" }) {
		c.rec.Payload = json.RawMessage("null") // the ledger must not keep secrets or personal data
	}
	if j.Action == safety.Block {
		o.refused = &Rejection{Message: "the text has content that this world does not allow (" +
			strings.Join(j.Categories, ", ") + "); rewrite it",
			Details: map[string]any{"categories": j.Categories, "policyVersion": safety.Current}}
		return o, nil
	}
	if s.cfg.Moderator == nil || len(texts) == 0 {
		return o, nil
	}
	more, err := s.cfg.Moderator.Moderate(ctx, safety.Passage{World: c.grant.World().String(), Profile: c.profile,
		Texts: texts})
	if err != nil {
		o.refused = &Rejection{Message: "the moderator does not answer, and no text passes without it; try again shortly",
			Retryable: true, RetryAfterSeconds: 5}
		return o, nil
	}
	if len(more) > 0 {
		o.flags = append(o.flags, more...)
		o.refused = &Rejection{Message: "the moderator refused the text (" + strings.Join(more, ", ") +
			"); rewrite it",
			Details: map[string]any{"categories": more, "policyVersion": safety.Current}}
	}
	return o, nil
}
