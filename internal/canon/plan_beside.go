package canon

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"loregate/internal/access"
	"loregate/internal/decoded"
	"loregate/internal/markup"
	"loregate/internal/secrecy"
)

// Composes declares that the program makes the texts of the plan's links and layers, of words that their readers see
// already. Marks in them are text.
func (p *Plan) Composes() { p.composes = true }

// checkBeside refuses a value outside the cards with an exact mark, or with a sentence that is hidden in a card. It has
// no hidden parts, so that the mark would hide nothing.
func (p *Plan) checkBeside(field string, v any, l access.Label) error {
	if p.composes || p.View().Level < access.LevelGM || onlyMasters(l) {
		return nil
	}
	has, err := p.hasMark(field, nil, v, true)
	if err == nil && !has {
		err = p.CheckNotCopied(l, "", strings.Join(decoded.TextsOf(v), "\n"))
	}
	if err != nil || !has {
		return err
	}
	mark := textOfField(v)
	h := secrecy.Split(mark, secrecy.Markdown, func(m secrecy.Mark) bool { return !m.Doubt })
	if len(h.Parts) > 0 {
		mark = h.Parts[0].Text
	}
	return ruleFault(field, "the mark in %q hides nothing here, and everybody who sees this would read it; "+
		"give it the level gm, or write it without the mark", markup.Shorten(markup.OneLine(mark), 60))
}

// checkTold refuses a new mark in a card that holds the parts which some readers were told: they would read it.
func (p *Plan) checkTold(h Card, text string) error {
	form, isText := FormOf(h.TextKind())
	if !isText || p.View().Level < access.LevelGM || onlyMasters(h.Label) || !secrecy.MayHoldMark(text, form) {
		return nil
	}
	was, err := p.Snapshot.Body(p.ctx, h.Content)
	if err != nil {
		return err
	}
	w := secrecy.Writer{Form: form, Hides: true, Label: access.NewLabel(access.LevelGM), NewID: p.newPartID}
	if now, _ := w.Divide(secrecy.Text{Open: was}, text); len(now.Parts) == 0 {
		return nil
	}
	return ruleFault("content", "%q holds what some readers were told, and they would read the new secret too; write it "+
		"into the card above", h.Name)
}

// checkLayer is checkBeside for the text of a layer, unless its readers see that text already.
func (p *Plan) checkLayer(l Layer) error {
	err := p.checkBeside("text", l.Text, l.Label)
	if err == nil || l.ID == (LayerID{}) {
		return err
	}
	old, ok, bad := First(p.r.Layers(p.ctx, p.visibility, LayerQuery{IDs: []LayerID{l.ID}}))
	if bad == nil && ok && old.Text == l.Text && old.Label.Covers(l.Label) {
		return nil
	}
	return err
}

// checkAttrs is checkBeside for the attributes of a link, unless its readers see those values already.
func (p *Plan) checkAttrs(l Link) error {
	attrs, err := pickFields(l.Attrs, nil)
	if err != nil {
		return nil //nolint:nilerr // mergeFields says which
	}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		if err := p.checkBeside(name, attrs[name], l.Label); err != nil {
			old, ok, bad := findLink(p.ctx, p.r, p.visibility, l.ID)
			if bad != nil || !ok || !old.Label.Covers(l.Label) {
				return err
			}
			was, bad := pickFields(old.Attrs, []string{name})
			if bad != nil || !reflect.DeepEqual(was[name], attrs[name]) {
				return err
			}
		}
	}
	return nil
}
