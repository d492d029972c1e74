package exchange

import (
	"context"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/secrecy"
)

// ruleReaders is the rule that hides cards whose readers a source names.
const ruleReaders = "front matter"

// UnknownReaders returns the mark of a card that names readers who are not all members of the world: the exact one of
// the marks of the fields that name them, or else a suspicion.
func UnknownReaders(names []string, marks []secrecy.Mark) secrecy.Mark {
	if i := slices.IndexFunc(marks, func(m secrecy.Mark) bool { return !m.Doubt }); i >= 0 {
		return marks[i]
	}
	return secrecy.Mark{Rule: ruleReaders, What: "readers: " + FirstNames(names), Doubt: true}
}

// Members finds the members of a world by the names that a source has for them. The zero value reads them when
// they are first asked for.
type Members struct {
	subjects map[string]access.Subject // by FoldCase
}

// Find returns the members with the given names. known is false if one of the names is no member's, or if the
// snapshot's caller may not list the members.
func (m *Members) Find(ctx context.Context, l *canon.Snapshot, names []string) (found []access.Subject, known bool,
	err error) {
	if m.subjects == nil {
		m.subjects = map[string]access.Subject{}
		list, err := l.Members(ctx)
		if err != nil && fault.KindOf(err) != fault.Denied {
			return nil, false, err
		}
		for _, member := range list {
			if member.Role > access.RoleNone {
				m.subjects[FoldCase(string(member.Subject))] = member.Subject
			}
		}
	}
	for _, name := range names {
		subject, ok := m.subjects[FoldCase(strings.Trim(strings.TrimSpace(name), "[]@"))]
		if !ok {
			return nil, false, nil
		}
		found = append(found, subject)
	}
	return found, len(found) > 0, nil
}
