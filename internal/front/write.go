package front

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
	"loregate/internal/marked"
	"loregate/internal/op"
	"loregate/internal/slicesx"
)

type writeIn struct {
	Name    string          `json:"name" minlen:"1" maxlen:"1020" jsonschema:"Title of the page to edit or create; + joins a child to its parent."`
	Content *string         `json:"content,omitzero" maxlen:"1048576" jsonschema:"Whole text of a new page, in Markdown; to change a page it needs if_match."`
	Append  string          `json:"append,omitzero" maxlen:"100000" jsonschema:"Markdown to add at the end."`
	Find    string          `json:"find,omitzero" maxlen:"10000" jsonschema:"Old words on the page, exactly as they are, to change."`
	Replace *string         `json:"replace,omitzero" maxlen:"100000" jsonschema:"New words in place of find."`
	Type    string          `json:"type,omitzero" maxlen:"255" jsonschema:"Kind of page, such as Character."`
	Labels  []string        `json:"labels,omitzero" maxitems:"20" minlen:"1" maxlen:"255" alias:"tags,label,tag" jsonschema:"Labels (tags) to add to those that the page has."`
	Fields  map[string]any  `json:"fields,omitzero" jsonschema:"Values of the page by their names; null removes one."`
	Level   string          `json:"level,omitzero" enum:"user,gm,admin" jsonschema:"Lowest role that may see a new page; user is everybody."`
	IfMatch json.RawMessage `json:"if_match,omitzero" jsonschema:"etag of the whole page, from call_operation get_card with full."`
	DryRun  bool            `json:"dry_run,omitzero" jsonschema:"Only show the change."`
	op.Answers
}

type writeOut struct {
	Did      string       `json:"did"`
	Name     string       `json:"name"`
	ID       string       `json:"id,omitzero"`
	Type     string       `json:"type,omitzero"`
	Version  int          `json:"version,omitzero"`
	ETag     any          `json:"etag,omitzero"`
	Change   string       `json:"change_id,omitzero"`
	Diff     string       `json:"diff,omitzero"`
	Proposal string       `json:"proposal,omitzero" jsonschema:"Id of the proposal that the write became."`
	Hidden   []hiddenPart `json:"hidden,omitzero" jsonschema:"For game masters: parts of the text that players do not read."`
	Removed  []string     `json:"hidden_removed,omitzero" jsonschema:"For game masters: the beginnings of hidden parts that the new text does not have any more."`
	Ignored  []string     `json:"marks_ignored,omitzero" jsonschema:"Marks of secrecy that hide nothing, because only game masters hide, or because they were opened: everybody reads these texts."`
}

// hiddenPart is a hidden part of a page's text.
type hiddenPart struct {
	ID   string `json:"id" jsonschema:"Names it for reveal_part and hide_part."`
	Text string `json:"text" jsonschema:"The beginning of its text."`
	From string `json:"from" jsonschema:"From whom it is hidden."`
}

func (f *Front) writeOp() *op.Operation {
	return define(op.Spec{
		Name: "write", Title: "Create or change a card", Effect: access.Write, Target: "name",
		Asked: []string{"add a sentence to a page", "write a new page", "put a label on a page", "replace words of a page"},
		Doc: "Create a page, such as a character, place, item, rule or note, or edit one and leave the rest as it " +
			"is: " +
			"add or append a sentence or paragraph at the end, write it down, correct, fix or replace words, " +
			"hide a passage from players by writing %%secret%% or a [!secret] callout, " +
			"change it to read otherwise, put a label or tag on it, set or remove fields and its kind, or give " +
			"the whole text. " +
			"dry_run shows the change and makes none; history shows it later.",
		Examples: []op.Example{{Title: "Add a sentence",
			Input: `{"name": "Rent Quay", "append": "The nets are dry.", "dry_run": true}`}},
	}, f.write)
}

func (f *Front) write(ctx context.Context, c *op.Call, in writeIn) (writeOut, error) {
	if in.Find != "" && in.Replace == nil && in.Append == "" {
		in.Replace, in.Content = in.Content, nil // content is often given for the words in place of find
	}
	patch, err := in.patch()
	if err != nil {
		return writeOut{}, err
	}
	found, err := f.findCard(ctx, c, in.Name)
	switch {
	case err == nil && len(found.Homonyms) > 0 && plain(found.Name) == plain(in.Name):
		return writeOut{}, severalFault(found)
	case err == nil:
		return f.change(ctx, c, in, found, patch)
	case fault.KindOf(err) != fault.NotFound || patch != nil && in.Find != "":
		return writeOut{}, err
	}
	return f.create(ctx, c, in)
}

// severalFault refuses a write to a name that several cards have.
func severalFault(found foundCard) error {
	ids := []string{"~" + found.ID}
	for _, o := range found.Homonyms {
		ids = append(ids, "~"+o.ID+" ("+o.Level+")")
	}
	return fault.New(fault.Conflict, "%d cards are called %q; give the id of the one you mean as name: %s", len(ids),
		found.Name, strings.Join(ids, ", "))
}

// patch returns the change of a part of the content; nil for none.
func (in writeIn) patch() (args, error) {
	ways := 0
	for _, given := range []bool{in.Content != nil, in.Append != "", in.Find != "" || in.Replace != nil} {
		if given {
			ways++
		}
	}
	switch {
	case ways > 1:
		return nil, fault.BadField("content",
			"give one of content, append, or find with replace; for example {\"name\": "+
				"\"Rent Quay\", \"append\": \"The nets are dry.\"}")
	case (in.Find != "") != (in.Replace != nil):
		return nil, fault.BadField("find", "needs replace, the new words (\"\" for none), and replace needs find; "+
			"for example {\"name\": \"Rent Quay\", \"find\": \"Nets\", \"replace\": \"Lines\"}")
	case in.Find != "":
		return args{"mode": "find_replace", "find": in.Find, "replace": *in.Replace}, nil
	case in.Append != "":
		return args{"mode": "append", "content": in.Append}, nil
	}
	return nil, nil
}

func (f *Front) change(ctx context.Context, c *op.Call, in writeIn, found foundCard, patch args) (writeOut, error) {
	if in.Level != "" {
		return writeOut{}, fault.BadField("level",
			"is for new cards, and %q exists; an admin changes the level of a card with set_card_level", found.Name)
	}
	if len(in.Labels) > 0 {
		return f.addLabels(ctx, c, in, found, patch)
	}
	a := args{"name": "~" + found.ID}
	if in.Content != nil {
		a["markdown_content"] = *in.Content
	}
	if patch != nil {
		if err := fitPatch(ctx, c.Grant, found, patch); err != nil {
			return writeOut{}, err
		}
		a["patch"] = patch
	}
	if in.Fields != nil {
		a["fields"] = in.Fields
	}
	if in.IfMatch != nil {
		a["if_match"] = in.IfMatch
	}
	set(a, "type", in.Type)
	if len(a) == 1 {
		return writeOut{}, fault.BadField("content",
			"nothing to change is given, and %q exists; give append, find with replace, content, "+
				"labels, fields or type; for example {\"name\": %q, \"append\": \"The nets are dry.\"}", found.Name, found.Name)
	}
	out, err := f.wrote(ctx, c, "update_card", "changed", a)
	if c.Grant.Request().DryRun {
		out.Diff = patch.show()
	}
	return out, err
}

// tagsChild is the name of the child card that lists the labels of a card.
const tagsChild = "+tags"

// addLabels adds the labels that a card does not have. They are kept in a child card, so that nothing
// else can be changed in the same write.
func (f *Front) addLabels(ctx context.Context, c *op.Call, in writeIn, found foundCard, patch args) (writeOut, error) {
	if patch != nil || in.Content != nil || in.Fields != nil || in.Type != "" || in.IfMatch != nil {
		return writeOut{}, fault.BadField("labels",
			"are added by a call of their own; give labels and name, and nothing else")
	}
	have, err := invoke[struct{ Tags []struct{ Name string } }](ctx, f, c, "get_tags", args{"name": "~" + found.ID, "limit": 100})
	if err != nil {
		return writeOut{}, err
	}
	added := slicesx.Filter(in.Labels, func(label string) bool {
		return !slices.ContainsFunc(have.Tags, func(t struct{ Name string }) bool { return strings.EqualFold(t.Name, label) })
	})
	out := writeOut{Did: "unchanged", Name: found.Name, ID: found.ID, Type: found.Type}
	if len(added) == 0 {
		return out, nil
	}
	list, err := f.findCard(ctx, c, found.Name+tagsChild)
	if fault.KindOf(err) == fault.NotFound {
		out, err = f.wrote(ctx, c, "create_card", "changed", args{"name": found.Name + tagsChild, "type": "Pointer",
			"content": listOf(added)})
		if fault.KindOf(err) == fault.Conflict { // somebody else has made the list meanwhile
			list, err = f.findCard(ctx, c, found.Name+tagsChild)
		}
	}
	if err == nil && list.ID != "" {
		add := args{"mode": "append", "content": "\n" + listOf(added)}
		if err := fitPatch(ctx, c.Grant, list, add); err != nil {
			return out, err
		}
		out, err = f.wrote(ctx, c, "update_card", "changed", args{"name": "~" + list.ID, "patch": add})
	}
	if out.Name = found.Name; out.Proposal == "" {
		out.ID, out.Type, out.Version, out.ETag = found.ID, found.Type, 0, nil
	}
	return out, err
}

// listOf returns the text of a Pointer card.
func listOf(names []string) string { return "[[" + strings.Join(names, "]]\n[[") + "]]" }

// show returns the lines that a patch removes and adds.
func (a args) show() string {
	var lines []string
	for _, part := range []struct{ sign, name string }{{"- ", "find"}, {"+ ", "replace"}, {"+ ", "content"}} {
		if text, _ := a[part.name].(string); text != "" {
			lines = append(lines, part.sign+strings.ReplaceAll(text, "\n", "\n"+part.sign))
		}
	}
	return strings.Join(lines, "\n")
}

// fitPatch gives the texts of a patch, which are Markdown, the form of the card's content. A text that is added
// begins a paragraph of its own.
func fitPatch(ctx context.Context, g access.Grant, found foundCard, patch args) error {
	if canon.TextOf(found.Type) != canon.TextHTML {
		return nil
	}
	added, isAdded := patch["content"].(string)
	words, isReplaced := patch["replace"].(string)
	var err error
	switch {
	case isAdded && found.Form == canon.FormatMarkdown.String():
		patch["separator"] = "\n\n"
	case isAdded:
		patch["content"], err = htmlOf(ctx, g, found, "append", added)
	case isReplaced && found.Form != canon.FormatMarkdown.String() && marked.MayHide(words):
		html, bad := htmlOf(ctx, g, found, "replace", words)
		patch["replace"], err = withoutParagraph(html), bad
	}
	return err
}

// withoutParagraph returns HTML that is one paragraph without its tags.
func withoutParagraph(html string) string {
	inner, begins := strings.CutPrefix(strings.TrimSpace(html), "<p>")
	inner, ends := strings.CutSuffix(inner, "</p>")
	if !begins || !ends || strings.Contains(inner, "<p>") {
		return html
	}
	return inner
}

// htmlOf returns a text of an argument, which is Markdown, as HTML. Its marks stay.
func htmlOf(ctx context.Context, g access.Grant, found foundCard, field, text string) (string, error) {
	if found.Level == access.LevelUser.String() || found.Level == "" {
		settled, err := canon.Settle(g, field, nil, text, canon.TextMarkdown)
		if err != nil {
			return "", err
		}
		text = settled
	}
	html, err := marked.ToHTML(ctx, text)
	if err != nil {
		return "", fault.BadField(field, "cannot be converted to the HTML of this card").Because(err)
	}
	return canon.Settled(html), nil
}

func (f *Front) create(ctx context.Context, c *op.Call, in writeIn) (writeOut, error) {
	a := args{"name": in.Name}
	set(a, "markdown_content", in.Append)
	if in.Content != nil {
		a["markdown_content"] = *in.Content
	}
	fields := maps.Clone(in.Fields)
	if len(in.Labels) > 0 {
		if fields == nil {
			fields = map[string]any{}
		}
		fields[tagsChild] = args{"type": "Pointer", "content": listOf(in.Labels)}
	}
	if fields != nil {
		a["fields"] = fields
	}
	set(a, "type", in.Type)
	set(a, "level", in.Level)
	return f.wrote(ctx, c, "create_card", "created", a)
}

// wrote makes a write, and says what became of it: an advisory key's write is a proposal.
func (f *Front) wrote(ctx context.Context, c *op.Call, operation, did string, a args) (out writeOut, err error) {
	answer, err := f.invokeRaw(ctx, c, operation, a)
	if err != nil {
		return out, err
	}
	if answer.Reply.Diverted {
		p, err := proposalOf(answer)
		return writeOut{Did: p.did(), Name: nameOf(a["name"]), Proposal: p.ID}, err
	}
	err = decode(answer.Output, &out)
	out.Did = did
	if c.Grant.Request().DryRun {
		out.Did, out.Change, out.ETag, out.Version = "would be "+did, "", nil, 0
		if operation == "create_card" {
			out.ID = ""
		}
	}
	return out, err
}
