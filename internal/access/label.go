package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// WorldID identifies a world, the tenant. The zero WorldID is the instance itself.
type WorldID uuid.UUID

// String is the canonical text of the id.
func (w WorldID) String() string { return uuid.UUID(w).String() }

// IsZero reports whether w names no world.
func (w WorldID) IsZero() bool { return w == WorldID{} }

// MarshalText and UnmarshalText give the id its JSON form.
func (w WorldID) MarshalText() ([]byte, error) { return uuid.UUID(w).MarshalText() }

// UnmarshalText reads the canonical text of an id.
func (w *WorldID) UnmarshalText(b []byte) error { return (*uuid.UUID)(w).UnmarshalText(b) }

// Subject names who a key or token speaks for: a person or an agent. It is stable
// across keys.
type Subject string

// Level is how much of a world something is open to. Higher levels are more secret.
type Level uint8

// The levels. LevelNone sees nothing; LevelAll is above every label and is used by the
// door itself, never given to a caller.
const (
	LevelNone  Level = 0
	LevelUser  Level = 1
	LevelGM    Level = 2
	LevelAdmin Level = 3
	LevelAll   Level = 255
)

var levelNames = map[Level]string{LevelNone: "none", LevelUser: "user", LevelGM: "gm", LevelAdmin: "admin", LevelAll: "all"}

func (l Level) String() string { return levelNames[l] }

// ParseLevel reads "user", "gm" or "admin".
func ParseLevel(s string) (Level, bool) {
	for _, l := range []Level{LevelUser, LevelGM, LevelAdmin} {
		if l.String() == s {
			return l, true
		}
	}
	return LevelNone, false
}

// Label says who may see a thing: everyone at Level or above, and the named Subjects
// whatever their level. Subjects is sorted and without duplicates, and empty at
// LevelUser, where it would say nothing. Labels are values: use NewLabel.
type Label struct {
	Level    Level
	Subjects []Subject
}

// NewLabel makes a label in its one canonical form.
func NewLabel(level Level, subjects ...Subject) Label {
	if level <= LevelUser || len(subjects) == 0 {
		return Label{Level: level}
	}
	s := slices.Clone(subjects)
	slices.Sort(s)
	return Label{Level: level, Subjects: slices.Compact(s)}
}

// Meet is the label of what lies under both a and b: the highest level, the
// intersected subjects. It is never wider than either. At LevelUser everyone is
// meant, so meeting a user label keeps the other's subjects.
func (a Label) Meet(b Label) Label {
	if a.Level <= LevelUser {
		return Label{Level: max(a.Level, b.Level), Subjects: b.Subjects}
	}
	if b.Level <= LevelUser {
		return a
	}
	var both []Subject
	for _, s := range a.Subjects {
		if slices.Contains(b.Subjects, s) {
			both = append(both, s)
		}
	}
	return Label{Level: max(a.Level, b.Level), Subjects: both}
}

// Equal reports whether a and b are the same label.
func (a Label) Equal(b Label) bool {
	return a.Level == b.Level && slices.Equal(a.Subjects, b.Subjects)
}

// String is the canonical text: "gm", or "gm:alice,bob" with subjects.
func (a Label) String() string {
	if len(a.Subjects) == 0 {
		return a.Level.String()
	}
	names := make([]string, len(a.Subjects))
	for i, s := range a.Subjects {
		names[i] = string(s)
	}
	return a.Level.String() + ":" + strings.Join(names, ",")
}

// MarshalText gives a label its JSON form, the canonical text.
func (a Label) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the canonical text of a label.
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

// CheckSubject reports why s cannot be a subject, or nil. Commas separate subjects in
// a label's text and are refused, as is everything unprintable.
func CheckSubject(s Subject) error {
	if s == "" || len(s) > 100 {
		return fmt.Errorf("a subject has 1 to 100 characters")
	}
	for _, r := range s {
		if r <= ' ' || r == ',' || r == 0x7f || r > 0x2fff {
			return fmt.Errorf("a subject is letters, digits and marks such as . - _ @, without spaces or commas")
		}
	}
	return nil
}

// View is what somebody may see in one world. The zero View sees nothing.
type View struct {
	Level   Level
	Subject Subject
	// Ceiling is the highest level that naming the Subject opens; LevelNone is any. It is
	// what keeps somebody who looks with another's eyes below their own level.
	Ceiling Level
}

// Sees reports whether the view opens a label.
func (v View) Sees(l Label) bool {
	if v.Level >= l.Level {
		return v.Level > LevelNone
	}
	return v.Subject != "" && (v.Ceiling == LevelNone || l.Level <= v.Ceiling) && slices.Contains(l.Subjects, v.Subject)
}
