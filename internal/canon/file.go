package canon

import (
	"bytes"
	"context"
	"encoding/json"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/media"
)

// fileNameField is the field of a file's card with the name that the file had when it was stored.
const fileNameField = "file_name"

// seesOrigins reports whether a view sees where a file came from: the data in it that describe it, and its first
// name.
func seesOrigins(v access.View) bool { return v.Level >= access.LevelGM }

// FieldsOf returns the fields of a card or a version of a type as the snapshot's view sees them: below a game
// master, a file's card has no first name.
func (s *Snapshot) FieldsOf(typ string, fields json.RawMessage) json.RawMessage {
	return fieldsSeen(s.View(), typ, fields)
}

func fieldsSeen(v access.View, typ string, fields json.RawMessage) json.RawMessage {
	if seesOrigins(v) || TextOf(typ) != TextFile || len(fields) == 0 {
		return fields
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(fields, &all) != nil || all[fileNameField] == nil {
		return fields
	}
	if delete(all, fileNameField); len(all) == 0 {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return nil
	}
	return b
}

// FileBytes returns the bytes of the file of a card as the snapshot's view sees them. A game master gets them as
// they were stored. Everybody else gets a picture, or a recording that media can clean, without the data that
// describe it; equal pictures with different data are the same bytes. A picture that cannot be cleaned is
// denied.
func (s *Snapshot) FileBytes(ctx context.Context, c Card) ([]byte, error) {
	b, err := s.Bytes(ctx, c.Content)
	if err != nil || seesOrigins(s.View()) {
		return b, err
	}
	b, ok := CleanFile(b)
	if !ok {
		return nil, fault.New(fault.Denied,
			"the picture of %q is of a format from which places and names cannot be removed, so that only game masters get it; "+
				"store it as PNG, JPEG, GIF or WebP", c.Name).With("required_role", access.RoleGM.String())
	}
	return b, nil
}

// CleanFile returns a file without the data that describe it, as players get it; false for a picture that cannot be
// cleaned. A file that is broken ends where it is.
func CleanFile(b []byte) ([]byte, bool) {
	if t := media.Detect(b); !t.Cleans() {
		return b, t.Media != "" || !media.IsPicture(b)
	}
	var out bytes.Buffer
	if _, err := media.Clean(&out, bytes.NewReader(b)); err != nil && out.Len() == 0 {
		return nil, false
	}
	return out.Bytes(), true
}
