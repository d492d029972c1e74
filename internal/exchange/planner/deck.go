package planner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/exchange/record"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// ruleGMPart is the rule that hides cards with a part +GM or +AI in their name, and ruleRead the one that
// hides cards which a rule of the wiki opens to some roles only.
const (
	ruleGMPart = "+GM or +AI in the name"
	ruleRead   = "*read rule"
)

// deckCard is a card of a wiki.
type deckCard struct {
	name, typ, text string
	line            int
	data            map[string]any
}

// deck is the import of one file of a Decko wiki.
type deck struct {
	s      *record.Source
	file   string
	cards  []*deckCard
	sheets map[markup.Key]*exchange.Sheet
	closed map[markup.Key]bool // cards whose *read rule is not for everybody
	lost   map[string]int
}

func newDeck(s *record.Source, file string) *deck {
	return &deck{s: s, file: file, sheets: map[markup.Key]*exchange.Sheet{}, closed: map[markup.Key]bool{},
		lost: map[string]int{}}
}

// unreadTypes are the types whose cards are left out: accounts, rules, and files without their bytes.
var unreadTypes = []string{"User", "Role", "Set", "Setting", "Session", "Sign up", "Signup", "File", "Image", "CSS",
	"SCSS", "Skin",
	"JavaScript", "CoffeeScript", "Layout type"}

// maxParts is the maximum number of parts of a card's name, as in the canon.
const maxParts = 128

// selfRead is the end of the name of a rule about the readers of one card.
const selfRead = "+*self+*read"

// readLine reads the card of one line.
func (x *deck) readLine(line string, n int) {
	m := decoded.ParseObject(line)
	name := decoded.TextOf(m["name"])
	typ := decoded.TextOf(first(m["type"], m["type_name"], m["cardtype"]))
	if inner, ok := m["type"].(map[string]any); ok {
		typ = decoded.TextOf(inner["name"])
	}
	text, _ := first(m["content"], m["db_content"]).(string)
	switch {
	case m == nil || name == "":
		x.s.AddProblem(x.file, n, "is not a card with a name; left out")
	case strings.HasSuffix(strings.ToLower(name), selfRead):
		roles := markup.Items(text)
		open := len(roles) == 0 || slices.ContainsFunc(roles, func(r string) bool {
			return markup.HasPart([]string{"anyone", "anyone signed in", "_left"}, markup.PartKey(r))
		})
		if !open {
			x.closed[markup.KeyOf(name[:len(name)-len(selfRead)])] = true
		}
	case isTrue(m["trash"]):
		x.lost["cards in the trash are left out"]++
	case strings.Contains(name, "*"):
		x.lost["rules and cards of the system are left out"]++
	case slices.ContainsFunc(unreadTypes, func(t string) bool { return markup.KeyOf(t) == markup.KeyOf(typ) }):
		x.lost["cards of the type "+typ+" are left out"]++
	default:
		x.cards = append(x.cards, &deckCard{name: name, typ: typ, text: text, line: n, data: m})
	}
}

// writeCards adds the cards, parents first.
func (x *deck) writeCards(ctx context.Context) error {
	slices.SortStableFunc(x.cards, func(a, b *deckCard) int {
		return cmp.Compare(len(markup.Parts(a.name)), len(markup.Parts(b.name)))
	})
	for _, c := range x.cards {
		if err := x.writeCard(ctx, c); err != nil {
			return err
		}
	}
	for _, what := range decoded.SortedKeys(x.lost) {
		x.s.AddProblem(x.file, 0, "%d %s", x.lost[what], what)
	}
	return nil
}

func (x *deck) writeCard(ctx context.Context, c *deckCard) error {
	key := markup.KeyOf(c.name)
	if x.sheets[key] != nil {
		x.s.AddProblem(x.file, c.line, "the card %q occurs twice; left out", c.name)
		return nil
	}
	parts := markup.Parts(c.name)
	if len(parts) > maxParts {
		x.s.AddProblem(x.file, c.line, "the name has more than %d parts; left out", maxParts)
		return nil
	}
	above, err := x.parentOf(ctx, parts, c)
	if err != nil {
		return err
	}
	fields := map[string]any{}
	typ := c.typ
	known, err := x.s.IsType(ctx, typ)
	if err != nil {
		return err
	}
	if !known && typ != "" {
		fields["deckoType"] = typ
		typ = canon.TypeRichText
		x.lost["cards have a type that the world does not have; they are RichText"]++
	}
	r := record.Card{Key: []string{string(key)}, File: fmt.Sprintf("%s:%d", x.file, c.line), Name: parts[len(parts)-1],
		Above:    above,
		Suffixes: []string{"card"}, Type: typ, Codename: decoded.TextOf(c.data["codename"]), Fields: fields,
		Text: record.Text(c.text)}
	last := markup.PartKey(parts[len(parts)-1])
	if last == "gm" || last == "ai" {
		r.Marks = append(r.Marks, secrecy.Mark{Rule: ruleGMPart})
	} else if m, ok := secrecy.TitleMark(r.Name); ok && len(parts) > 1 {
		r.Marks = append(r.Marks, m)
	}
	if x.closed[key] {
		r.Marks = append(r.Marks, secrecy.Mark{Rule: ruleRead})
	}
	x.sheets[key], err = x.s.Add(ctx, r)
	return err
}

// parentOf returns the card above a card. One that the file does not contain is added without a text; it is
// for the GM, because nothing says who may see it.
func (x *deck) parentOf(ctx context.Context, parts []string, c *deckCard) (above *exchange.Sheet, err error) {
	for i := 1; i < len(parts); i++ {
		name := markup.Join(parts[:i]...)
		key := markup.KeyOf(name)
		if x.sheets[key] == nil {
			if x.sheets[key], err = x.s.Add(ctx, record.Card{Key: []string{string(key)}, File: fmt.Sprintf("%s:%d", x.file,
				c.line),
				Name: parts[i-1], Above: above, Suffixes: []string{"card"}, Type: canon.TypeRichText,
				Level: access.LevelGM}); err != nil {
				return nil, err
			}
			x.lost["cards above others are not in the file; they are added empty, for the GM"]++
		}
		above = x.sheets[key]
	}
	return above, nil
}
