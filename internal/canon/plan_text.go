package canon

import (
	"crypto/sha256"

	"loregate/internal/access"
)

// StoreText stores a text beside the cards and returns its hash, for the attributes of a link or the payload of an event with
// the same label. Equal texts share one hash, and erasing one erases both: put a random word into a text that may be erased.
func (p *Plan) StoreText(text string, l access.Label) (Hash, error) {
	if text == "" {
		return Hash{}, nil
	}
	if err := checkContent(text); err != nil {
		return Hash{}, err
	}
	if err := p.checkLabel(&l); err != nil {
		return Hash{}, err
	}
	h := Hash(sha256.Sum256([]byte(text)))
	p.set.bodies[h] = []byte(text)
	p.set.Changes = append(p.set.Changes, Change{Text: &TextImage{Content: h, Size: len(text), Label: l}})
	return h, nil
}

// EraseText erases a text that StoreText stored; its hash stays. The caller got the hash from a visible link or event with the
// label.
func (p *Plan) EraseText(h Hash, l access.Label) error {
	if err := p.checkLabel(&l); err != nil || h == (Hash{}) {
		return err
	}
	p.set.Changes = append(p.set.Changes, Change{Text: &TextImage{Content: h, Label: l, Gone: true}})
	return nil
}
