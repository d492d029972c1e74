package safety

import (
	"context"
	"slices"
)

// Passage is what is judged together: texts for a world of a profile.
type Passage struct {
	World   string // its id, for whoever keeps account of it
	Profile string
	Texts   []string
}

// Moderator is somebody else who judges text: an endpoint, a model. It names the
// categories for which the profile blocks the texts. An error means that it did not answer,
// and then nothing may pass.
type Moderator interface {
	Moderate(ctx context.Context, p Passage) (categories []string, err error)
}

// Category is a category as people and models are told of it.
type Category struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Categories are the policy's, in its order.
func (p *Policy) Categories() []Category {
	list := make([]Category, len(p.categories))
	for i, c := range p.categories {
		list[i] = Category{c.Name, c.Doc}
	}
	return list
}

// Action is what a profile does with a category; an unknown profile is the default, and
// an unknown category allowed.
func (p *Policy) Action(profile, name string) Action {
	i := slices.IndexFunc(p.categories, func(c category) bool { return c.Name == name })
	if i < 0 {
		return Allow
	}
	return p.categories[i].Action[p.Profile(profile)]
}
