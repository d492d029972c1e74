package campaign

import (
	"encoding/json"

	"loregate/internal/canon"
)

// Notes of a session are the GM's until they are published. Those that are not lie in the
// fields play_notes and actual_notes of Session+GM, as notes that were never published or
// were changed since; what was published lies in the field published of the session.
// Sessions of earlier programs have the two fields themselves: they count as drafts, and
// the next update moves them.

// notes are what players read.
type notes struct {
	Play   string `json:"play_notes"`
	Actual string `json:"actual_notes"`
}

// drafted are the notes that players do not read; nil is none.
type drafted struct {
	Play   *string `json:"play_notes"`
	Actual *string `json:"actual_notes"`
}

// draftsOf reads the drafts of a session from its GM's part, or from the session itself.
func draftsOf(session, part canon.Card) (d drafted) {
	for _, fields := range []json.RawMessage{session.Fields, part.Fields} {
		_ = json.Unmarshal(fields, &d) // written by another hand, it may say less
	}
	return d
}

// with are the notes as the GM reads them: the drafts, else what was published.
func (n *notes) with(d drafted) *notes {
	var out notes
	if n != nil {
		out = *n
	}
	set(&out.Play, d.Play)
	set(&out.Actual, d.Actual)
	return &out
}

// settle gives what is published and what stays a draft, once notes are published (true),
// taken back (false) or left as they are (nil).
func (d drafted) settle(published *notes, publish *bool) (*notes, drafted) {
	switch {
	case publish == nil:
		return published, d
	case *publish:
		return published.with(d), drafted{}
	case published == nil:
		return nil, d
	}
	all := published.with(d)
	return nil, drafted{&all.Play, &all.Actual}
}

// edit are the fields that turn the drafts that were into these; nil where nothing changes.
func (d drafted) edit(was drafted) json.RawMessage {
	changes := map[string]any{}
	for key, note := range map[string][2]*string{"play_notes": {was.Play, d.Play}, "actual_notes": {was.Actual, d.Actual}} {
		switch before, after := note[0], note[1]; {
		case after == nil && before != nil:
			changes[key] = nil
		case after != nil && (before == nil || *before != *after):
			changes[key] = *after
		}
	}
	if len(changes) == 0 {
		return nil
	}
	b, _ := json.Marshal(changes) // texts and nothing
	return b
}

// merge are the fields that make a session's card say what the record does. Drafts of an
// earlier program go from it, and so does what is no longer published.
func (r record) merge(card canon.Card) (json.RawMessage, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var all, had map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	_ = json.Unmarshal(card.Fields, &had) // what cannot be read is replaced
	for _, key := range []string{"play_notes", "actual_notes", "published"} {
		if had[key] != nil && all[key] == nil {
			all[key] = null
		}
	}
	return json.Marshal(all)
}

// or is the first that is given.
func or(a, b *string) *string {
	if a != nil {
		return a
	}
	return b
}
