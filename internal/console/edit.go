package console

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// draft is the state of a form that writes a card.
type draft struct {
	Card     card   // as it is stored; its name is "" for a new card
	Content  string // as the person wrote it
	Inputs   []fieldInput
	Name     string // of a new card
	Type     string
	Level    string
	IfMatch  string // the version that the form shows, as a tag
	Seen     string // the same as a number
	Once     string // makes a repeated form take effect once
	Problem  string
	Problems []fault.Field
	Merge    *merge // nil unless the card has changed since the person read it
	Types    []cardType
	Template string // initial text of new cards of the type; "" if it has none
	Preview  *preview
	Nonce    string    // lets the editor of this page add its styles
	Homonyms []homonym // cards that have the name of the new card
	Renames  bool      // the person may rename cards
	Hides    bool      // the person may hide parts of the text
	Unsure   bool      // the person must say whether some marks of secrecy hide
}

// merge is the state of a form that merges a person's text with a newer one.
type merge struct {
	Base      string // number of the version that both changes began with
	By        string // who wrote the newer version
	Mine      string // the person's text as it was before it was merged
	Notes     []string
	Conflicts []textConflict
}

// preview is a text as its card would show it.
type preview struct {
	HTML  string
	Plain string // of a card whose text is not rendered

	// For those who hide: the answer of a dry run about the readers. Checked is false for others.
	Checked bool
	Level   string // of the card
	Hidden  []hiddenPart
	Ignored []string // marks that hide nothing
	Removed []string // hidden parts that the text leaves out
	Problem string   // why the dry run was refused
}

// showNew shows the form of a new card. The address may give its name, type and text.
func (s *server) showNew(v *visit) error {
	q := v.r.URL.Query()
	schema, err := v.schemaOf(q.Get("type"))
	if err != nil {
		return err
	}
	return v.showNewForm(http.StatusOK, draft{Name: q.Get("name"), Type: q.Get("type"), Content: q.Get("text"),
		Once: uuid.NewString(), Inputs: listInputs(schema, nil)})
}

// showNewForm shows the form of a new card. If its text is empty, it begins with the template of its type.
func (v *visit) showNewForm(status int, d draft) (err error) {
	if d.Types, err = v.listTypes(); err != nil {
		return err
	}
	if d.Type != "" && status == http.StatusOK {
		t, err := call[card](v, "get_template", fields{"type_name": d.Type})
		if err != nil {
			return err
		}
		if d.Template = t.Content; strings.TrimSpace(d.Content) == "" && d.Preview == nil {
			d.Content = t.Content
		}
	}
	d.Nonce = v.allowEditor()
	return v.write(status, newPage(v.frame("New card"), d))
}

func (v *visit) listTypes() ([]cardType, error) {
	types, err := call[struct {
		Types []cardType `json:"types"`
	}](v, "list_types", nil)
	return types.Types, err
}

// allowEditor lets the editor's styles pass the content policy of this page, and no others: they have the
// nonce that it returns.
func (v *visit) allowEditor() string {
	nonce := rand.Text()
	v.w.Header().Set("Content-Security-Policy",
		strings.Replace(policy, "style-src 'self'", "style-src 'self' 'nonce-"+nonce+"'", 1))
	return nonce
}

func (v *visit) showEditForm(status int, d draft) error {
	d.Nonce, d.Hides = v.allowEditor(), v.may("hide_part")
	return v.write(status, editPage(v.frame(d.Card.Name), d, v.may("delete_card")))
}

// renderPreview renders a text that is not saved, in the form in which a card keeps it.
func (v *visit) renderPreview(c card, text string) (*preview, error) {
	var err error
	switch formatOf(c) {
	case "text":
		return &preview{Plain: text}, nil
	case "markdown":
		made, failed := call[struct {
			HTML string `json:"html"`
		}](v, "render_markdown", fields{"markdown": text})
		text, err = made.HTML, failed
	default:
		text, err = markup.Sanitize(v.r.Context(), text)
	}
	if err != nil {
		return nil, err
	}
	text, err = showText(text, c.Name, v.frame(""), func(string) bool { return false })
	return &preview{HTML: text}, err
}

// previewWrite renders the text of a write that is not made yet, for game masters as players would read it, and tells
// which parts they would not read: a dry run of the write divides the text.
func (v *visit) previewWrite(c card, text, operation string, in fields) (*preview, error) {
	in["dry_run"] = true
	tried, err := call[card](v, operation, in)
	problem, _ := problemOf(err)
	if err != nil && problem == "" {
		return nil, err
	}
	if tried.Level != "" {
		text = tried.OpenText
	}
	p, err := v.renderPreview(c, text)
	if err != nil {
		return nil, err
	}
	p.Checked, p.Level, p.Problem = tried.Level != "", tried.Level, problem
	p.Hidden, p.Ignored, p.Removed = tried.Hidden, tried.Ignored, tried.Removed
	return p, nil
}

func (s *server) createCard(v *visit) error {
	form := v.r.PostForm
	d := draft{Name: form.Get("name"), Type: form.Get("type"), Level: form.Get("level"),
		Content: unixLines(form.Get("content")), Once: form.Get("once")}
	schema, err := v.schemaOf(d.Type)
	if err != nil {
		return err
	}
	d.Inputs = fillInputs(listInputs(schema, nil), form)
	switch {
	case form.Has("show"): // the fields of the type that was chosen
		return v.showNewForm(http.StatusOK, d)
	case form.Has("preview"):
		in := fields{"name": d.Name}.with("type", d.Type).with("level", d.Level).with("content", d.Content)
		if d.Preview, err = v.previewWrite(card{Name: d.Name, Type: d.Type}, d.Content, "create_card", in); err != nil {
			return err
		}
		return v.showNewForm(http.StatusOK, d)
	}
	held, sound := readChanges(d.Inputs)
	if !sound {
		d.Problem = unsoundFields
		return v.showNewForm(http.StatusBadRequest, d)
	}
	in := fields{"name": d.Name}.with("type", d.Type).with("level", d.Level).with("content", d.Content)
	if len(held) > 0 {
		in["fields"] = held
	}
	made, err := call[card](v, "create_card", v.withAnswer(in))
	if d.noteProblem(err); d.Problem != "" {
		status := fault.KindOf(err).HTTPStatus()
		if d.Homonyms, err = v.homonymsIfTaken(err, d.Name); err != nil {
			return err
		}
		d.Renames = len(d.Homonyms) > 0 && v.may("rename_card")
		return v.showNewForm(status, d)
	}
	if err != nil {
		return err
	}
	return v.afterWrite(nil, made)
}

// unsoundFields is the message above a form whose fields cannot be read.
const unsoundFields = "Nothing is saved yet. Mend the fields that are marked."

// withAnswer adds the person's answer about unsure marks of secrecy.
func (v *visit) withAnswer(in fields) fields {
	switch answer := v.r.PostForm.Get("answer"); answer {
	case "as_written", "hide_unsure":
		in[answer] = true
	}
	return in
}

// unsureMarks is the message above a form with a question about marks of secrecy.
const unsureMarks = "Nothing is saved yet. Some marks may hide text or not: mend them, or choose below."

// noteProblem notes an error that the person can mend, at its fields as far as the form has them.
func (d *draft) noteProblem(err error) {
	d.Problem, d.Problems = problemOf(err)
	if e := fault.Classify(err); e != nil && e.Details["answers"] != nil {
		d.Unsure, d.Problem = true, unsureMarks
		return
	}
	located := len(d.Problems)
	if d.Problems = markInputs(d.Inputs, d.Problems); located > 0 && len(d.Problems) == 0 {
		d.Problem = unsoundFields
	}
}

func (s *server) showEdit(v *visit) error {
	c, err := v.readCard(nil)
	if err != nil {
		return err
	}
	d := draft{Content: c.Content, Once: uuid.NewString()}
	if err := v.showPresent(&d, c); err != nil {
		return err
	}
	return v.showEditForm(http.StatusOK, d)
}

// showPresent makes a form show the card as it is.
func (v *visit) showPresent(d *draft, c card) error {
	schema, err := v.schemaOf(c.Type)
	d.Card, d.IfMatch, d.Seen = c, string(c.ETag), strconv.Itoa(int(c.Version))
	d.Inputs = listInputs(schema, c.Fields)
	return err
}

// updateCard writes a card's text and fields. If the card has changed meanwhile, the form shows both changes merged.
func (s *server) updateCard(v *visit) error {
	form := v.r.PostForm
	present, err := v.readCard(nil)
	if err != nil {
		return err
	}
	d := draft{Content: unixLines(form.Get("content")), Once: form.Get("once")}
	if err := v.showPresent(&d, present); err != nil {
		return err
	}
	stale := form.Get("if_match") != "" && form.Get("if_match") != d.IfMatch
	if stale && (form.Has("take") || form.Has("preview")) {
		d.IfMatch, d.Seen, stale = form.Get("if_match"), form.Get("seen"), false // the next save merges
	}
	if stale {
		return v.showMerge(d)
	}
	if d.Inputs = fillInputs(d.Inputs, form); form.Has("base") {
		if err := v.continueMerge(&d); err != nil {
			return err
		}
	}
	if form.Has("take") || form.Has("preview") {
		return v.showUnsaved(d)
	}
	return v.saveCard(d)
}

// saveCard writes the text and the fields of a form that have changed.
func (v *visit) saveCard(d draft) error {
	changed, sound := readChanges(d.Inputs)
	if !sound {
		d.Problem = unsoundFields
		return v.showEditForm(http.StatusBadRequest, d)
	}
	if d.Merge != nil && len(d.Merge.Conflicts) > 0 {
		d.Problem = "Nothing is saved yet. Choose a side in each conflict, or write the text between its marks yourself " +
			"and remove the marks."
		return v.showEditForm(http.StatusBadRequest, d)
	}
	in := fields{"name": v.r.PathValue("name")}.with("if_match", v.r.PostForm.Get("if_match"))
	if len(changed) > 0 {
		in["fields"] = changed
	}
	if !d.Card.isFile() && (len(changed) == 0 || d.Content != unixLines(d.Card.Content)) {
		in["content"] = d.Content
	}
	written, err := call[card](v, "update_card", v.withAnswer(in))
	if err == nil {
		return v.afterWrite(d.Card.Hidden, written)
	}
	if errors.Is(err, fault.Stale) {
		present, err := v.readCard(nil)
		if err != nil {
			return err
		}
		if err := v.showPresent(&d, present); err != nil {
			return err
		}
		return v.showMerge(d)
	}
	if d.noteProblem(err); d.Problem == "" {
		return err
	}
	return v.showEditForm(fault.KindOf(err).HTTPStatus(), d)
}

// showMerge shows a form with the person's change and a newer one merged. d shows the card as it is now.
func (v *visit) showMerge(d draft) error {
	form := v.r.PostForm
	base, err := v.readRevision(form.Get("seen"))
	if err != nil {
		return err
	}
	schema, err := v.schemaOf(cmp.Or(base.Type, d.Card.Type))
	if err != nil {
		return err
	}
	before := listInputs(schema, base.Fields)
	mine := fillInputs(slices.Clone(before), form)
	d.Inputs = mergeInputs(d.Inputs, before, mine, false)
	d.Merge = &merge{Base: form.Get("seen"), Mine: d.Content, Notes: describeChanges(base, d.Card)}
	if !d.Card.isFile() {
		d.Content = mergeTexts(base.Content, d.Content, d.Card.Content)
	}
	d.Merge.Conflicts = findConflicts(d.Content)
	newer, err := v.readRevision(d.Seen)
	if err != nil {
		return err
	}
	d.Merge.By, d.Once = newer.By, uuid.NewString()
	return v.showEditForm(fault.Stale.HTTPStatus(), d)
}

// continueMerge restores the state of a merge from its form, and takes the side that the person has chosen.
func (v *visit) continueMerge(d *draft) error {
	form := v.r.PostForm
	base, err := v.readRevision(form.Get("base"))
	if err != nil {
		return err
	}
	before := listInputs(nil, base.Fields)
	d.Inputs = mergeInputs(d.Inputs, before, slices.Clone(d.Inputs), true)
	which, side, _ := strings.Cut(form.Get("take"), " ")
	switch which {
	case "":
	case "field":
		takeTheirs(d.Inputs, side)
	default:
		if d.Content, err = takeSide(d.Content, which, side); err != nil {
			return err
		}
	}
	d.Merge = &merge{Base: form.Get("base"), By: form.Get("by"), Conflicts: findConflicts(d.Content),
		Notes: describeChanges(base, d.Card)}
	return nil
}

// showUnsaved shows the form again, with its text as the card would show it if that is asked for.
func (v *visit) showUnsaved(d draft) (err error) {
	if v.r.PostForm.Has("preview") {
		if d.Preview, err = v.previewWrite(d.Card, d.Content, "update_card", fields{"name": "~" + d.Card.ID,
			"content": d.Content}); err != nil {
			return err
		}
	}
	return v.showEditForm(http.StatusOK, d)
}

// problemOf returns the message of an error that the person can mend in the form, else "".
func problemOf(err error) (string, []fault.Field) {
	switch fault.KindOf(err) {
	case fault.Invalid, fault.Conflict, fault.Stale, fault.Rule, fault.TooLarge:
		body := fault.Show(err, "").Error
		return body.Message, body.ValidationErrors
	}
	return "", nil
}

func (s *server) setLevel(v *visit) error {
	name, level := v.r.PathValue("name"), v.r.PostFormValue("level")
	return v.doOpening(act{Title: "Open " + name, Button: "Open it", Operation: "set_card_level",
		Input: fields{"name": name, "level": level}, Back: addressOf("w", v.world, name)},
		func(c card) error {
			if len(c.SeenBy) > 0 || c.SeenUnknown {
				return v.write(http.StatusOK, hiddenPage(v.frameOf(c), c, nil, pastOfLevel))
			}
			return v.redirect(v.addressOfCard(c))
		})
}

// deleteCard puts a card into the trash, after its name was typed.
func (s *server) deleteCard(v *visit) error {
	name := v.r.PathValue("name")
	if v.r.PostFormValue("confirm") != name {
		return fault.BadField("confirm", "type the name of the card, %s, to delete it", name)
	}
	if _, err := call[struct{}](v, "delete_card", fields{"name": name, "confirm": name}); err != nil {
		return err
	}
	return v.redirect(addressOf("w", v.world))
}
