package canon_test

import (
	"errors"
	"strings"
	"testing"

	"loregate/internal/access"
	"loregate/internal/canon"
	"loregate/internal/fault"
)

// TestMarksBesideCards writes texts with marks where nothing can be hidden: in layers, attributes of links, and texts
// that these name. A caller who may hide is refused if others would read the mark.
func TestMarksBesideCards(t *testing.T) {
	const marked = "A quay. %%The cook is a spy.%%"
	s := newScene(t)
	user, gm := s.as("user"), s.as("gm")
	gm.create("Quay", "wet")
	quay, _, _ := gm.card("Quay")
	masters := access.NewLabel(access.LevelGM)
	layer, link := canon.LayerID(canon.LinkIDOf("layer")), canon.LinkIDOf("link")
	layerOf := func(l access.Label, id canon.LayerID, text string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			_, err := p.Layer(canon.Layer{ID: id, Card: quay.ID, Kind: "ambient", Text: text, Label: l})
			return err
		}
	}
	linkOf := func(l access.Label, id canon.LinkID, attrs string) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			_, err := p.Link(canon.Link{ID: id, Kind: "exit", From: quay.ID, To: quay.ID, Attrs: []byte(attrs), Label: l})
			return err
		}
	}
	textOf := func(l access.Label) func(*canon.Plan) error {
		return func(p *canon.Plan) error {
			_, err := p.StoreText(marked, l)
			return err
		}
	}
	attrs := `{"way": {"told": "` + marked + `"}}`
	for _, tc := range []struct {
		what  string
		who   actor
		plan  func(*canon.Plan) error
		field string // of the refusal; "" for none
	}{
		{"a layer of a player", user, layerOf(access.Label{}, layer, marked), ""},
		{"the same layer, later", gm, layerOf(access.Label{}, layer, marked), ""},
		{"another text in it", gm, layerOf(access.Label{}, layer, marked+" Or not."), "text"},
		{"a layer", gm, layerOf(access.Label{}, canon.LayerID{}, marked), "text"},
		{"a layer without a mark", gm, layerOf(access.Label{}, canon.LayerID{}, "100 % rum."), ""},
		{"a layer for a reader", gm, layerOf(access.NewLabel(access.LevelGM, "ada"), canon.LayerID{}, marked), "text"},
		{"a hidden layer", gm, layerOf(masters, canon.LayerID(canon.LinkIDOf("hidden")), marked), ""},
		{"the hidden layer opened", gm, layerOf(access.Label{}, canon.LayerID(canon.LinkIDOf("hidden")), marked), "text"},
		{"a link of a player", user, linkOf(access.Label{}, link, attrs), ""},
		{"the same link with more", gm, linkOf(access.Label{}, link, attrs[:len(attrs)-1]+`, "lock": 1}`), ""},
		{"a link", gm, linkOf(access.Label{}, canon.LinkID{}, attrs), "way"},
		{"a hidden link", gm, linkOf(masters, canon.LinkIDOf("hidden"), attrs), ""},
		{"the hidden link opened", gm, linkOf(access.Label{}, canon.LinkIDOf("hidden"), attrs), "way"},
		{"a stored text of a player", user, textOf(access.Label{}), ""},
		{"a stored text", gm, textOf(access.Label{}), "text"},
		{"a hidden stored text", gm, textOf(masters), ""},
		{"a text that the program composes", gm, func(p *canon.Plan) error {
			p.Composes()
			return errors.Join(layerOf(access.Label{}, canon.LayerID{}, marked)(p), textOf(access.Label{})(p))
		}, ""},
	} {
		_, err := tc.who.do(tc.plan)
		var f *fault.Error
		switch {
		case tc.field == "" && err != nil:
			t.Errorf("%s: %v", tc.what, err)
		case tc.field == "":
		case !errors.As(err, &f) || f.Kind != fault.Rule || f.Fields[0].Field != tc.field ||
			!strings.Contains(err.Error(), "The cook is a spy.") || !strings.Contains(err.Error(), "level gm"):
			t.Errorf("%s: %v", tc.what, err)
		}
	}
	s.wantRebuilt()
}
