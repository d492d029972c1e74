package turns

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange"
	"loregate/internal/fault"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Limits of a record of play.
const (
	maxTurns       = 2 << 30 // bytes
	maxTurnLine    = 1 << 20
	maxTurnReports = 1000
	batchTurns     = 2000
	batchTurnBytes = 4 << 20
)

// The known keys of a line. All other keys are kept in the card's fields.
const (
	turnEpisode  = "ep"
	turnNumber   = "n"
	turnSpeakers = "names"
	turnText     = "text"
)

// Import imports a record of play: JSON lines {"ep": "C1E001", "n": 7, "names": ["MATT"],
// "text": "…"}. A turn becomes the card C1E001+0007 of type
// PlainText, a child of its episode's card, with the speakers in the field speakers. The import
// streams the record and keeps little of it in memory. A line that cannot be read is reported by
// its number, and the import continues.
func Import(ctx context.Context, c *canon.Canon, g access.Grant, r io.Reader, o exchange.Options) (exchange.Summary,
	error) {
	sum := exchange.Summary{Files: 1, DryRun: g.Request().DryRun}
	lines := newTurnLines(r)
	t := &turns{o: o, sum: &sum, choices: exchange.NewChoices(o.Open, o.Confirm), episodes: map[string]*exchange.Sheet{},
		seen:   map[canon.CardID]bool{},
		writer: &exchange.Writer{Canon: c, Grant: g, Collection: exchange.NewCollection(), Summary: &sum, Progress: o.Progress}}
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			err = t.commitBatch(ctx)
			sum.Hides = t.choices.List()
			return sum, cmp.Or(err, t.choices.CheckUnused())
		}
		switch {
		case errors.Is(err, errLongLine):
			t.reportLine(lines.number, "is longer than %d bytes; left out", maxTurnLine)
			continue
		case err != nil:
			if done := t.commitBatch(ctx); done != nil {
				return sum, done
			}
			return sum, err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		t.addLine(lines.number, line)
		if len(t.batch) >= batchTurns || t.size >= batchTurnBytes {
			if err := t.commitBatch(ctx); err != nil {
				return sum, err
			}
		}
	}
}

// turnLines reads lines. It limits the length of each line and the total size.
type turnLines struct {
	r      *bufio.Reader
	number int
	left   *io.LimitedReader
}

var errLongLine = errors.New("a line is too long")

func newTurnLines(r io.Reader) *turnLines {
	left := &io.LimitedReader{R: r, N: maxTurns}
	return &turnLines{r: bufio.NewReaderSize(left, maxTurnLine), left: left}
}

// next returns the next line, which is valid until the following call. It returns errLongLine for a
// line over the limit and io.EOF at the end.
func (l *turnLines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	l.number++
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
		if err == nil || errors.Is(err, io.EOF) {
			return nil, errLongLine
		}
	}
	switch {
	case l.left.N == 0:
		return nil, fault.New(fault.TooLarge, "the record contains more than %d MiB; import it in parts", maxTurns>>20)
	case errors.Is(err, io.EOF) && len(line) > 0, err == nil:
		return line, nil
	case errors.Is(err, io.EOF):
		return nil, io.EOF
	}
	return nil, fault.New(fault.Invalid, "the file cannot be read beyond line %d",
		l.number).Because(err)
}

// turns collects turns and commits them in batches.
type turns struct {
	o        exchange.Options
	writer   *exchange.Writer
	sum      *exchange.Summary
	choices  *exchange.Choices
	episodes map[string]*exchange.Sheet
	seen     map[canon.CardID]bool
	batch    []*exchange.Sheet
	size     int
	reports  int
}

func (t *turns) reportLine(line int, format string, args ...any) {
	if t.reports++; t.reports > maxTurnReports {
		return
	}
	why := fmt.Sprintf(format, args...)
	if t.reports == maxTurnReports {
		why = "more lines could not be read"
	}
	t.sum.Problems = append(t.sum.Problems, exchange.Problem{File: t.o.Label, Line: line, Why: why})
}

// addLine adds the turn of one line to the batch.
func (t *turns) addLine(number int, line []byte) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil || m == nil {
		t.reportLine(number, "is not a JSON object; left out")
		return
	}
	var ep, text string
	var n int
	var names []string
	for _, err := range []error{json.Unmarshal(m[turnEpisode], &ep), json.Unmarshal(m[turnNumber], &n),
		unmarshalOptional(m[turnSpeakers], &names), unmarshalOptional(m[turnText], &text)} {
		if err != nil {
			t.reportLine(number, "has no valid ep or n, or names or text of another type; left out")
			return
		}
	}
	if n < 0 || markup.CheckName(ep) != nil || len(markup.Parts(ep)) != 1 {
		t.reportLine(number, "%q is not a valid name of an episode, or %d not a valid number of a turn; left out", ep, n)
		return
	}
	s := &exchange.Sheet{File: t.o.Label + ":" + strconv.Itoa(number),
		ID:   exchange.CardID("turns", t.o.Label, ep, strconv.Itoa(n)),
		Name: fmt.Sprintf("%04d", n), Type: "PlainText", Label: t.o.CardLabel()}
	if t.holdsMark(s.File, ep) {
		t.reportLine(number, "the name of its episode has a mark of secrecy; left out")
		return
	}
	if t.seen[s.ID] {
		t.reportLine(number, "turn %d of %s occurs twice; left out", n, ep)
		return
	}
	t.seen[s.ID] = true
	t.size += len(line)
	s.Above = t.episodeSheet(ep)
	fields := turnFields(m, names)
	parts := t.splitMarks(s.File, text)
	s.Hide, s.HideFields = secrecy.Ranges(parts.Spans()), t.hiddenFields(s.File, fields)
	s.Fields, s.Content = decoded.EncodeFields(fields), exchange.Content{Type: s.Type, Text: &text}
	s.InPlace, s.Exported = true, &exchange.Exported{} // the marks are read here
	if t.batch = append(t.batch, s); len(s.Hide)+len(s.HideFields) > 0 {
		t.sum.Hidden++
	}
}

// splitMarks divides a text by the marks of secrecy in it.
func (t *turns) splitMarks(file, text string) secrecy.Result {
	if !strings.ContainsAny(text, "<[&") {
		return secrecy.Result{Open: text}
	}
	return secrecy.Split(text, secrecy.Plain, func(m secrecy.Mark) bool { return t.choices.Decide(m, file, true) })
}

// holdsMark reports whether a text has a mark of secrecy.
func (t *turns) holdsMark(file, text string) bool {
	parts := t.splitMarks(file, text)
	return len(parts.Parts) > 0
}

// textOfField returns the texts in a field.
func textOfField(v any) string {
	raw, ok := v.(json.RawMessage)
	if !ok {
		names, _ := v.([]string)
		return strings.Join(names, " ")
	}
	var plain any
	_ = json.Unmarshal(raw, &plain) // the line was decoded, so that its parts can be
	return strings.Join(decoded.TextsOf(plain), " ")
}

// hiddenFields returns the names of the fields that hold a mark of secrecy, in order.
func (t *turns) hiddenFields(file string, fields map[string]any) (names []string) {
	for _, k := range decoded.SortedKeys(fields) {
		if t.holdsMark(file, k+" "+textOfField(fields[k])) {
			names = append(names, k)
		}
	}
	return names
}

func unmarshalOptional(raw json.RawMessage, v any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, v)
}

// episodeSheet returns the sheet of an episode. The first turn of an episode creates it.
func (t *turns) episodeSheet(ep string) *exchange.Sheet {
	if s := t.episodes[ep]; s != nil {
		return s
	}
	empty := ""
	s := &exchange.Sheet{File: t.o.Label, ID: exchange.CardID("turns", t.o.Label, ep), Name: ep, Type: "Session",
		Folder: true, Label: t.o.CardLabel()}
	s.Content = exchange.Content{Type: s.Type, Text: &empty}
	t.episodes[ep] = s
	t.batch = append(t.batch, s)
	return s
}

// turnFields returns the speakers and all unknown keys of a line as fields.
func turnFields(m map[string]json.RawMessage, names []string) map[string]any {
	all := map[string]any{}
	for k, v := range m {
		switch k {
		case turnEpisode, turnNumber, turnSpeakers, turnText:
		default:
			all[k] = v
		}
	}
	if len(names) > 0 {
		all["speakers"] = names
	}
	return all
}

func (t *turns) commitBatch(ctx context.Context) error {
	if len(t.batch) == 0 {
		return nil
	}
	err := t.writer.WriteBatch(ctx, t.batch)
	t.batch, t.size = nil, 0
	return err
}
