package console

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"loregate/internal/fault"
	"loregate/internal/markup"
)

// draft is the state of a form that writes a card.
type draft struct {
	Card     card   // as it is stored; its name is "" for a new card
	Content  string // as the person wrote it
	Name     string // of a new card
	Type     string
	Level    string
	IfMatch  string // the version that the person read
	Once     string // makes a repeated form take effect once
	Problem  string
	Problems []fault.Field
	Stale    bool // the card has changed since the person read it: Card has its present text
	Types    []cardType
	Preview  *preview
	Nonce    string // lets the editor of this page add its styles
}

// preview is a text as its card would show it.
type preview struct {
	HTML  string
	Plain string // of a card whose text is not rendered
}

// showNew shows the form of a new card. The address may name it.
func (s *server) showNew(v *visit) error {
	q := v.r.URL.Query()
	return v.showNewForm(http.StatusOK, draft{Name: q.Get("name"), Type: q.Get("type"), Once: uuid.NewString()})
}

func (v *visit) showNewForm(status int, d draft) (err error) {
	if d.Types, err = v.listTypes(); err != nil {
		return err
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
	d.Nonce = v.allowEditor()
	return v.write(status, editPage(v.frame(d.Card.Name), d))
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

func (s *server) createCard(v *visit) error {
	form := v.r.PostForm
	d := draft{Name: form.Get("name"), Type: form.Get("type"), Level: form.Get("level"), Content: form.Get("content"),
		Once: form.Get("once")}
	if form.Has("preview") {
		var err error
		if d.Preview, err = v.renderPreview(card{Name: d.Name, Type: d.Type}, d.Content); err != nil {
			return err
		}
		return v.showNewForm(http.StatusOK, d)
	}
	in := fields{"name": d.Name}.with("type", d.Type).with("level", d.Level).with("content", d.Content)
	made, err := call[card](v, "create_card", in)
	if d.Problem, d.Problems = problemOf(err); d.Problem != "" {
		return v.showNewForm(fault.KindOf(err).HTTPStatus(), d)
	}
	if err != nil {
		return err
	}
	return v.redirect(addressOf("w", v.world, addressName(made.Name, made.ID)))
}

func (s *server) showEdit(v *visit) error {
	c, err := v.readCard(nil)
	if err != nil {
		return err
	}
	return v.showEditForm(http.StatusOK, draft{Card: c, Content: c.Content, IfMatch: string(c.ETag),
		Once: uuid.NewString()})
}

// updateCard writes a card's text. If the card has changed meanwhile, the form shows both texts and
// the next write replaces the one that it shows.
func (s *server) updateCard(v *visit) error {
	form := v.r.PostForm
	d := draft{Content: form.Get("content"), IfMatch: form.Get("if_match"), Once: form.Get("once")}
	if form.Has("preview") {
		return v.previewEdit(d)
	}
	in := fields{"name": v.r.PathValue("name"), "content": d.Content}.with("if_match", d.IfMatch)
	written, err := call[card](v, "update_card", in)
	if err == nil {
		return v.redirect(addressOf("w", v.world, addressName(written.Name, written.ID)))
	}
	if d.Problem, d.Problems = problemOf(err); d.Problem == "" {
		return err
	}
	present, readErr := v.readCard(nil)
	if readErr != nil {
		return readErr
	}
	d.Card = present
	if errors.Is(err, fault.Stale) {
		d.Stale, d.Problem, d.IfMatch, d.Once = true, "", string(present.ETag), uuid.NewString()
	}
	return v.showEditForm(fault.KindOf(err).HTTPStatus(), d)
}

// previewEdit shows the form again, with its text as the card would show it.
func (v *visit) previewEdit(d draft) (err error) {
	if d.Card, err = v.readCard(nil); err != nil {
		return err
	}
	if d.Preview, err = v.renderPreview(d.Card, d.Content); err != nil {
		return err
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
	c, err := call[card](v, "set_card_level", fields{"name": v.r.PathValue("name"), "level": v.r.PostFormValue("level")})
	if err != nil {
		return err
	}
	return v.redirect(addressOf("w", v.world, addressName(c.Name, c.ID)))
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
