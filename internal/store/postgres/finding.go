package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/store/words"
)

// maxArms is how many words a piece of a word may stand for to be looked for by them, each
// in its own walk of the index. What stands for more is looked for in the texts.
const maxArms = 256

// finding is one search as SQL: conditions on the alias x of lexemes.
type finding struct {
	sc     *scope
	column column
	key    string // tells searches apart of which nothing but words decides what is found; else ""
	never  bool   // no document that is not big can match
	find   string // by which an index finds what may match
	fits   string // the same, for one document at hand
	filter string // on the alias c of its card, after others; "" for none
	inText string // that the texts have all that is asked for

	andSpelt string // what the texts must have besides, after others; "" for nothing

	// That the name alone matches, in the same three parts.
	nameFind, name, andNameSpelt string

	named string // that it is in sight only by naming the subject
	score string // above zero for what is ranked
}

// column is where a search looks.
type column uint8

const (
	anywhere column = iota
	inName
	inBody
)

func columnOf(q canon.SearchQuery) column {
	switch {
	case q.InName == q.InContent:
		return anywhere
	case q.InName:
		return inName
	}
	return inBody
}

// lexeme is a word in a column as a query for lexemes.
func (c column) lexeme(token string) string {
	switch c {
	case inName:
		return "'" + ofName + token + "'"
	case inBody:
		return "('" + token + "' & !'" + onlyName + token + "')"
	}
	return "'" + token + "'"
}

// beginning is any word that begins with a text. Those of the body are told apart by
// their weights, which needs a look at each row.
func (c column) beginning(text string) string {
	if c == inName {
		return "'" + ofName + text + "':*"
	}
	return c.place(text, "*")
}

// place is a word, or with "*" any that begins with it, at a place of its column: weight A
// is the name's, D the body's.
func (c column) place(text, how string) string {
	how += []string{"", "A", "D"}[c]
	if how != "" {
		how = ":" + how
	}
	return "'" + text + "'" + how
}

// conditions gathers what a search asks of lexemes in one column: words that are all
// asked for, and alternatives of which one must be there.
type conditions struct {
	sc     *scope
	column column
	all    []string
	any    [][]string
	never  bool
	spelt  []string // conditions on texts besides
}

// finding writes a search.
func (r *reader) finding(ctx context.Context, sc *scope, at state, ask []words.Term, q canon.SearchQuery) (*finding, error) {
	if sc.subject != "" {
		sc.names() // once, for all statements
	}
	f := &finding{sc: sc, column: columnOf(q), named: "(x.level > " + digits(max(sc.top, access.LevelNone)) + ")", filter: sc.filter(q.Filter)}
	if f.filter == "" && !q.CaseSensitive {
		f.key = fmt.Sprintf("%s %d %d %q %d %q", sc.id, sc.top, sc.ceiling, sc.subject, f.column, ask)
	}
	var vocabulary []byte
	var err error
	if standsForMany(ask) {
		if vocabulary, err = r.tokensOf(ctx, sc.args[0].(int64), at); err != nil {
			return nil, err
		}
	}
	asked, name := &conditions{sc: sc, column: f.column}, &conditions{sc: sc, column: inName}
	texts := make([]string, len(ask))
	for i, t := range ask {
		texts[i] = sc.reads(t, columns(q))
		stand, more := fittingFirst(vocabulary, t)
		asked.term(t, stand, more, texts[i])
		name.term(t, stand, more, sc.reads(t, []string{"d.fname"}))
		if q.CaseSensitive {
			literal := sc.literal(t.Literal, q)
			asked.spelt = append(asked.spelt, literal)
			texts[i] += " AND " + literal
		}
	}
	f.score = f.scoring(ask)
	f.never, f.inText = asked.never, hasText(texts)
	f.find, f.fits, f.andSpelt = asked.find(), asked.fits(), asked.andSpelt()
	f.nameFind, f.name, f.andNameSpelt = name.find(), name.fits(), name.andSpelt()
	return f, nil
}

// standsForMany tells whether a piece of what is asked for is to be found inside of words.
func standsForMany(ask []words.Term) bool {
	for _, t := range ask {
		if how := t.Row[0].How; how == words.Inside || how == words.Ends {
			return true
		}
	}
	return false
}

// fittingFirst gives the words that the first piece of a term stands for, where it lies
// inside of words.
func fittingFirst(vocabulary []byte, t words.Term) (list []string, more bool) {
	if how := t.Row[0].How; how != words.Inside && how != words.Ends {
		return nil, false
	}
	return fitting(vocabulary, t.Row[0], maxArms)
}

// term adds what one term asks of lexemes, and what of its texts where that is not enough.
func (c *conditions) term(t words.Term, stand []string, more bool, text string) {
	enough := len(t.Row) == 1
	for _, p := range t.Row {
		switch {
		case p.How == words.Inside || p.How == words.Ends:
			if more {
				enough = false
				continue
			}
			c.oneOf(stand)
		case len(p.Text) > maxLexeme:
			c.never = true // documents that have it are big
		case p.How == words.Begins:
			c.all = append(c.all, c.column.beginning(p.Text))
		default:
			c.all = append(c.all, c.column.lexeme(p.Text))
		}
	}
	if !enough {
		c.spelt = append(c.spelt, text)
	}
}

func (c *conditions) oneOf(stand []string) {
	switch len(stand) {
	case 0:
		c.never = true
	case 1:
		c.all = append(c.all, c.column.lexeme(stand[0]))
	default:
		c.any = append(c.any, stand)
	}
}

// find is the conjunction by which indexes find: words that are all asked for, else the
// fewest alternatives, each walked for itself, for one query for any of them looks, for
// each document, at all of them. What is found so is held against the rest.
func (c *conditions) find() string {
	if c.never {
		return "false"
	}
	var list []string
	rest := c.any
	if len(c.all) > 0 {
		list = append(list, c.query(strings.Join(c.all, " & ")))
	} else if len(c.any) > 0 {
		rest = slices.SortedStableFunc(slices.Values(c.any), func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
		list = append(list, c.arms(rest[0]))
		rest = rest[1:]
	}
	for _, stand := range rest {
		list = append(list, "("+c.query(c.anyOf(stand))+") IS TRUE")
	}
	return conjunction(list)
}

func (c *conditions) arms(stand []string) string {
	arms := make([]string, shape(len(stand)))
	for i := range arms {
		arms[i] = c.query(c.column.lexeme(stand[min(i, len(stand)-1)]))
	}
	return "(" + strings.Join(arms, " OR ") + ")"
}

// anyOf is one query for any of some words, for a document at hand: it ends at the first
// that is there, and so begins with the shortest, which are the most frequent.
func (c *conditions) anyOf(stand []string) string {
	arms := make([]string, len(stand))
	for i, token := range slices.SortedStableFunc(slices.Values(stand), func(a, b string) int { return cmp.Compare(len(a), len(b)) }) {
		if arms[i] = c.column.place(token, ""); c.column == inName {
			arms[i] = c.column.lexeme(token)
		}
	}
	return "(" + strings.Join(arms, " | ") + ")"
}

// shape rounds a number of alternatives up, so that searches have few forms, which the
// server need not plan again and again.
func shape(n int) int {
	s := 2
	for s < n {
		s *= 2
	}
	return s
}

// fits is find for one document at hand, which one query tells quickest. IS TRUE keeps an
// index from being thought of.
func (c *conditions) fits() string {
	if c.never {
		return "false"
	}
	parts := append([]string(nil), c.all...)
	for _, stand := range c.any {
		parts = append(parts, c.anyOf(stand))
	}
	if len(parts) == 0 {
		return "true"
	}
	return "(" + c.query(strings.Join(parts, " & ")) + ") IS TRUE"
}

func (c *conditions) query(text string) string { return "x.words @@ " + c.sc.arg(text) + "::tsquery" }

func (c *conditions) andSpelt() string {
	if len(c.spelt) == 0 {
		return ""
	}
	return " AND " + hasText(c.spelt)
}

// hasText is the condition that a document's texts, of alias d, fulfil others.
func hasText(list []string) string {
	return "EXISTS (SELECT FROM docs d WHERE d.w = x.w AND d.card = x.card AND " + conjunction(list) + ")"
}

func conjunction(list []string) string {
	if len(list) == 0 {
		return "true"
	}
	return strings.Join(list, " AND ")
}

// scoring writes the score of a hit: of each term its pieces as words, and as beginnings
// of words, the less the more words the document has (16: how often it has them would be
// counted anew for each, which costs more than all else). The words that a piece lies inside of are
// left out, for which there are, documents out of sight may tell.
func (f *finding) scoring(ask []words.Term) string {
	sum := "1e-9"
	for _, t := range ask {
		var parts []string
		for _, p := range t.Row {
			if len(p.Text) > maxLexeme {
				continue
			}
			parts = append(parts, f.column.place(p.Text, ""))
			if p.How != words.Equal {
				parts = append(parts, f.column.place(p.Text, "*"))
			}
		}
		if len(parts) > 0 {
			sum += " + ts_rank(x.words, " + f.sc.arg(strings.Join(parts, " | ")) + "::tsquery, 16)"
		}
	}
	return fmt.Sprintf("CASE WHEN %s THEN 0 ELSE %s END::float8", f.named, sum)
}

// columns are the columns of docs' tokens that a query looks into.
func columns(q canon.SearchQuery) []string {
	switch columnOf(q) {
	case inName:
		return []string{"d.fname"}
	case inBody:
		return []string{"d.fbody"}
	}
	return []string{"d.fname", "d.fbody"}
}

// reads is the condition that a term stands in one of some columns of tokens.
func (sc *scope) reads(t words.Term, columns []string) string {
	text := sc.arg(pattern(t)) // of tokens and blanks, in which LIKE finds nothing to interpret
	arms := make([]string, len(columns))
	for i, column := range columns {
		arms[i] = column + " LIKE '%' || " + text + " || '%'"
	}
	return "(" + strings.Join(arms, " OR ") + ")"
}

// pattern is what of a column's tokens, each between blanks, a term stands for.
func pattern(t words.Term) string {
	var b strings.Builder
	for i, p := range t.Row {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i == 0 && (p.How == words.Equal || p.How == words.Begins) {
			b.WriteByte(' ')
		}
		b.WriteString(p.Text)
		if i == len(t.Row)-1 && (p.How == words.Equal || p.How == words.Ends) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// literal is the condition that a text stands in a column letter by letter.
func (sc *scope) literal(text string, q canon.SearchQuery) string {
	arg := sc.arg(text)
	var arms []string
	for _, column := range columns(q) {
		arms = append(arms, fmt.Sprintf("strpos(%s, %s) > 0", strings.Replace(column, "d.f", "d.", 1), arg))
	}
	return "(" + strings.Join(arms, " OR ") + ")"
}
