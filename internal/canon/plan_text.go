package canon

import (
	"context"
	"crypto/sha256"
	"strings"

	"loregate/internal/access"
)

// TextRef identifies a text beside the cards, which links and events name by its hash.
type TextRef struct {
	Content Hash
	Label   access.Label // of the link or event
}

// StoreText stores a text beside the cards and returns its hash, for the attributes of a link or the payload of an
// event with the same label. Equal texts have different hashes, so that each is erased alone and none is guessed
// from its hash. A text with a mark of secrecy is refused, see Composes.
func (p *Plan) StoreText(text string, l access.Label) (Hash, error) {
	if err := checkContent(text); err != nil {
		return Hash{}, err
	}
	if err := p.checkLabel(&l); err != nil {
		return Hash{}, err
	}
	if err := p.checkBeside("text", text, l); err != nil {
		return Hash{}, err
	}
	b := []byte(p.newID().String() + "\n" + text)
	h := Hash(sha256.Sum256(b))
	p.set.bodies[h] = b
	p.set.Changes = append(p.set.Changes, Change{Text: &TextImage{Content: h, Size: len(b), Label: l}})
	return h, nil
}

// EraseText erases a text that StoreText stored; its hash stays. The caller found it in a visible link or event.
func (p *Plan) EraseText(t TextRef) error {
	if err := p.checkLabel(&t.Label); err != nil || t.Content == (Hash{}) {
		return err
	}
	p.set.Changes = append(p.set.Changes, Change{Text: &TextImage{Content: t.Content, Label: t.Label, Gone: true}})
	return nil
}

// StoredText returns a text that StoreText stored, by its hash. An erased text reads as "".
func (s *Snapshot) StoredText(ctx context.Context, h Hash) (string, error) {
	body, err := s.Body(ctx, h)
	_, text, _ := strings.Cut(body, "\n")
	return text, err
}

// eraseTextsOf erases the texts that go with a card, those that the plan's caller does not see too.
func (p *Plan) eraseTextsOf(c Card) error {
	if p.canon.textsOf == nil {
		return nil
	}
	all := *p.Snapshot
	all.visibility.View = access.View{Level: access.LevelAll}
	list, err := p.canon.textsOf(p.ctx, &all, c)
	for _, t := range list {
		p.set.Changes = append(p.set.Changes, Change{Text: &TextImage{Content: t.Content, Label: t.Label, Gone: true}})
	}
	return err
}
