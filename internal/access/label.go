package access

import (
	"fmt"
	"slices"
	"strings"

	"loregate/internal/slicesx"

	"github.com/google/uuid"
)

// WorldID identifies a world, the tenant. The zero WorldID means the instance itself.
type WorldID uuid.UUID

// String returns the canonical text of the id.
func (w WorldID) String() string { return uuid.UUID(w).String() }

// IsZero reports whether the id is zero and identifies no world.
func (w WorldID) IsZero() bool { return w == WorldID{} }

// MarshalText encodes the id as its canonical text.
func (w WorldID) MarshalText() ([]byte, error) { return uuid.UUID(w).MarshalText() }

// UnmarshalText decodes the canonical text of an id.
func (w *WorldID) UnmarshalText(b []byte) error { return (*uuid.UUID)(w).UnmarshalText(b) }

// Subject identifies the person or agent that a key or token belongs to. It is the same for all
// their keys.
type Subject string

// Level is a level of secrecy. Higher levels are more secret.
type Level uint8

// The levels. LevelNone sees nothing. LevelAll is above every label: package canon queries stores
// with it, and no caller ever has it.
const (
	LevelNone  Level = 0
	LevelUser  Level = 1
	LevelGM    Level = 2
	LevelAdmin Level = 3
	LevelAll   Level = 255
)

var levelNames = map[Level]string{LevelNone: "none", LevelUser: "user", LevelGM: "gm", LevelAdmin: "admin",
	LevelAll: "all"}

func (l Level) String() string { return levelNames[l] }

// ParseLevel parses "user", "gm" or "admin".
func ParseLevel(s string) (Level, bool) {
	for _, l := range []Level{LevelUser, LevelGM, LevelAdmin} {
		if l.String() == s {
			return l, true
		}
	}
	return LevelNone, false
}

// Label defines the audience of a card, link, layer or event: everyone at Level or above, and the
// named Subjects at any level. Subjects is sorted and without duplicates; it is empty at LevelUser,
// where it has no effect. Labels are values: use NewLabel.
type Label struct {
	Level    Level
	Subjects []Subject
}

// NewLabel returns a label in canonical form.
func NewLabel(level Level, subjects ...Subject) Label {
	if level <= LevelUser || len(subjects) == 0 {
		return Label{Level: level}
	}
	s := slices.Clone(subjects)
	slices.Sort(s)
	return Label{Level: level, Subjects: slices.Compact(s)}
}

// Meet returns the label of data that is subject to both a and b: the higher level and the common
// subjects. It is never wider than either. At LevelUser everyone is meant, so the meet with a user
// label keeps the subjects of the other label.
func (a Label) Meet(b Label) Label {
	if a.Level <= LevelUser {
		return Label{Level: max(a.Level, b.Level), Subjects: b.Subjects}
	}
	if b.Level <= LevelUser {
		return a
	}
	both := slicesx.Filter(a.Subjects, func(s Subject) bool { return slices.Contains(b.Subjects, s) })
	return Label{Level: max(a.Level, b.Level), Subjects: both}
}

// Covers reports whether everyone who sees data labelled b also sees data labelled a.
func (a Label) Covers(b Label) bool { return a.Meet(b).Equal(b) }

// Equal reports whether a and b are the same label.
func (a Label) Equal(b Label) bool {
	return a.Level == b.Level && slices.Equal(a.Subjects, b.Subjects)
}

// String returns the canonical text: "gm", or "gm:alice,bob" with subjects.
func (a Label) String() string {
	if len(a.Subjects) == 0 {
		return a.Level.String()
	}
	names := slicesx.Map(a.Subjects, func(s Subject) string { return string(s) })
	return a.Level.String() + ":" + strings.Join(names, ",")
}

// MarshalText encodes a label as its canonical text.
func (a Label) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText decodes the canonical text of a label.
func (a *Label) UnmarshalText(b []byte) error {
	level, subjects, named := strings.Cut(string(b), ":")
	l, ok := ParseLevel(level)
	if !ok {
		return fmt.Errorf("access: %q is not a level; use user, gm or admin", level)
	}
	var list []Subject
	if named {
		for s := range strings.SplitSeq(subjects, ",") {
			list = append(list, Subject(s))
		}
	}
	*a = NewLabel(l, list...)
	return nil
}

// CheckSubject returns an error if s cannot be a subject. Commas are refused because they separate
// subjects in a label's text, and so are unprintable characters.
func CheckSubject(s Subject) error {
	if s == "" || len(s) > 100 {
		return fmt.Errorf("a subject must have 1 to 100 characters")
	}
	for _, r := range s {
		if r <= ' ' || r == ',' || r == 0x7f || r > 0x2fff {
			return fmt.Errorf("a subject must consist of letters, digits and marks such as . - _ @, without spaces or commas")
		}
	}
	return nil
}

// View is the visibility of a caller in one world. The zero View sees nothing.
type View struct {
	Level   Level
	Subject Subject
	// Ceiling is the highest level of labels that are visible because they name the Subject;
	// LevelNone means no bound. It keeps a caller with the view of a player from seeing more
	// than the caller's own level allows.
	Ceiling Level
	// Trash: cards in the trash are visible like others. A view of LevelAdmin and up sees them in any case.
	Trash bool
}

// SeesTrash reports whether the view may see cards in the trash, if it sees their labels.
func (v View) SeesTrash() bool { return v.Trash || v.Level >= LevelAdmin }

// Sees reports whether the view may see data with a label.
func (v View) Sees(l Label) bool {
	if v.Level >= l.Level {
		return v.Level > LevelNone
	}
	return v.Subject != "" && (v.Ceiling == LevelNone || l.Level <= v.Ceiling) && slices.Contains(l.Subjects, v.Subject)
}
