package native

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/decoded"
	"loregate/internal/exchange/markdown"
	"loregate/internal/markup"
	"loregate/internal/slicesx"
)

// rebuildNote returns the bytes of a note of a vault: those of the last import, with the changes that were made to
// its card since then.
func (x *exporter) rebuildNote(ctx context.Context, o *Origin, c canon.Card) ([]byte, error) {
	text, err := x.noteText(ctx, o, c)
	if err != nil {
		return nil, err
	}
	head, err := x.rebuildHead(ctx, o, c)
	if err != nil {
		return nil, err
	}
	return o.encode(head + text), nil
}

// noteText returns the text of a note with its hidden parts, for game masters with a mark around each.
func (x *exporter) noteText(ctx context.Context, o *Origin, c canon.Card) (string, error) {
	parts, _, err := o.unplacedParts(ctx, x.snapshot, c, x.byID[o.Hidden])
	if err != nil {
		return "", err
	}
	text, err := x.snapshot.WholeText(ctx, c)
	if text.Parts = append(text.Parts, parts...); len(parts) > 0 {
		text.Sort()
	}
	if form, ok := canon.FormOf(c.TextKind()); ok && x.snapshot.View().Level >= access.LevelGM {
		text = text.Marked(form)
	}
	return text.Whole(), err
}

// encode returns the file with a text, with the line ends and odd bytes of the note's file.
func (o *Origin) encode(text string) []byte {
	switch {
	case o.Raw == nil && o.CRLF:
		return []byte(strings.ReplaceAll(text, "\n", "\r\n"))
	case o.Raw == nil:
		return []byte(text)
	}
	lines := rawLines(o.Raw)
	starts, was := []int{0}, markdown.Normalize(o.Raw)
	for _, line := range lines {
		starts = append(starts, starts[len(starts)-1]+len(markdown.Normalize(line)))
	}
	ends := "\n"
	if n := bytes.Count(o.Raw, []byte("\r\n")); 2*n > bytes.Count(o.Raw, []byte("\n")) {
		ends = "\r\n"
	}
	places := markup.MapOffsets(was, text, starts)
	var out bytes.Buffer
	at := 0
	for i, line := range lines {
		if from, to := places[i], places[i+1]; from >= at && text[from:to] == was[starts[i]:starts[i+1]] {
			out.WriteString(strings.ReplaceAll(text[at:from], "\n", ends))
			out.Write(line)
			at = to
		}
	}
	out.WriteString(strings.ReplaceAll(text[at:], "\n", ends))
	return out.Bytes()
}

// rawLines returns the lines of a file with their ends: "\n", "\r\n" or "\r".
func rawLines(data []byte) (lines [][]byte) {
	for len(data) > 0 {
		n := bytes.IndexAny(data, "\r\n") + 1
		switch {
		case n == 0:
			n = len(data)
		case data[n-1] == '\r' && n < len(data) && data[n] == '\n':
			n++
		}
		lines, data = append(lines, data[:n]), data[n:]
	}
	return lines
}

// rebuildHead returns a note's front matter with the changes since the import. Changes that it
// cannot show are reported.
func (x *exporter) rebuildHead(ctx context.Context, o *Origin, c canon.Card) (string, error) {
	changes := map[string]any{}
	fields, err := x.snapshot.Fields(ctx, c)
	if err != nil {
		return "", err
	}
	own := json.RawMessage(nil)
	if child, ok := x.byID[o.Hidden]; ok {
		own = ownFields(child)
	}
	addChanges(changes, mergeMembers(o.Fields, o.Under), mergeMembers(fields, own))
	if c.Own.Level > max(o.Level, access.LevelUser) {
		changes["level"] = c.Own.Level.String()
	}
	if c.Type != o.Type {
		changes["type"] = c.Type
	}
	tags, _, err := x.foldTags(ctx, c)
	if err != nil {
		return "", err
	}
	note := markdown.Parse(o.Path, []byte(o.Head))
	if !slices.Equal(tags, o.Tags) {
		changes["tags"] = changedTags(note.Tags(), o.Tags, tags)
	}
	links := slicesx.Filter(x.links[c.ID], func(l canon.Link) bool { return l.Kind != canon.LinkRefers }) // follow from the text
	if !slices.Equal(c.Own.Subjects, o.Readers) || len(links)+len(x.layers[c.ID]) > 0 || c.Codename != "" {
		x.reportPage(o.Path, "the card's links, layers, codename and subjects have no place in the note")
	}
	if len(changes) == 0 {
		return o.Head, nil
	}
	head, ok := setMeta(o.Head, changes)
	if !ok {
		x.reportPage(o.Path, "the changes to %s cannot be written into its front matter; it stays as it was",
			strings.Join(decoded.SortedKeys(changes), ", "))
		return o.Head, nil
	}
	return head, nil
}

// mergeMembers returns a JSON object with the members of two.
func mergeMembers(a, b json.RawMessage) json.RawMessage {
	if len(b) == 0 {
		return a
	}
	all := decoded.ParseObject(string(a))
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, decoded.ParseObject(string(b)))
	return decoded.EncodeFields(all)
}

// addChanges adds the members of a JSON object that changed; those that are gone are nil.
func addChanges(changes map[string]any, was, is json.RawMessage) {
	before, now := decoded.ParseObject(string(was)), decoded.ParseObject(string(is))
	for k := range before {
		if _, ok := now[k]; !ok {
			changes[k] = nil
		}
	}
	for k, v := range now {
		if !bytes.Equal(decoded.EncodeFields(map[string]any{k: v}), decoded.EncodeFields(map[string]any{k: before[k]})) {
			changes[k] = v
		}
	}
}

// changedTags returns the tags of a note after the card's tags changed. Tags of the card that do not
// stand in the note, such as those of its folders, are not added.
func changedTags(note, was, is []string) any {
	var all []any
	for _, tag := range note {
		if slices.Contains(is, tag) || !slices.Contains(was, tag) {
			all = append(all, tag)
		}
	}
	for _, tag := range is {
		if !slices.Contains(was, tag) && !slices.Contains(note, tag) {
			all = append(all, tag)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// setMeta sets members of YAML front matter, or removes those that are nil, and leaves all other
// lines as they are. ok is false if the front matter cannot be changed.
func setMeta(head string, changes map[string]any) (out string, ok bool) {
	text := strings.TrimPrefix(head, "\ufeff")
	mark := head[:len(head)-len(text)]
	if text == "" {
		text = "---\n---\n"
	}
	inner, isYAML := strings.CutPrefix(text, "---\n")
	if !isYAML {
		return "", false
	}
	end := strings.LastIndex(strings.TrimRight("\n"+inner, "\n"), "\n") // of the line that ends it
	inner, last := inner[:end], inner[end:]
	var doc yaml.Node
	if yaml.Unmarshal([]byte(inner), &doc) != nil {
		return "", false
	}
	var members []*yaml.Node
	if len(doc.Content) > 0 {
		if members = doc.Content[0].Content; doc.Content[0].Kind != yaml.MappingNode ||
			doc.Content[0].Style&yaml.FlowStyle != 0 {
			return "", false
		}
	}
	lines := strings.SplitAfter(inner, "\n")
	bottom := len(lines) - 1 // the last is empty
	done := map[string]bool{}
	for i := len(members) - 2; i >= 0; i -= 2 {
		key, from := members[i].Value, members[i].Line-1
		to := bottom
		if i+2 < len(members) {
			to = members[i+2].Line - 1
		}
		for to > from+1 && isCommentLine(lines[to-1]) {
			to--
		}
		value, changed := changes[key]
		if !changed || done[key] {
			continue
		}
		done[key] = true
		lines = slices.Replace(lines, from, to, metaLine(key, value, members[i+1].Style&yaml.FlowStyle))
		bottom -= to - from - 1
	}
	var added strings.Builder
	for _, key := range decoded.SortedKeys(changes) {
		if !done[key] {
			added.WriteString(metaLine(key, changes[key], 0))
		}
	}
	out = mark + "---\n" + strings.Join(lines, "") + added.String() + last
	return out, !markdown.Parse("", []byte(out)).Broken
}

func isCommentLine(line string) bool {
	line = strings.TrimSpace(line)
	return line == "" || line[0] == '#'
}

// metaLine returns the lines of a member of front matter, or "" if its value is nil.
func metaLine(key string, value any, style yaml.Style) string {
	if value == nil {
		return ""
	}
	var w metaWriter
	w.put(key, value)
	if w.nodes[1].Kind == yaml.SequenceNode {
		w.nodes[1].Style |= style
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if e.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: w.nodes}) != nil {
		return ""
	}
	return b.String()
}

// Gives reports whether the note's text gives the bytes of its file without Raw.
func (o *Origin) Gives(text string, data []byte) bool {
	if o.CRLF {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text == string(data)
}
