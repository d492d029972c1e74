package safety

import (
	"context"
	"slices"
)

// Passage is a set of texts that are judged together, with the world and its profile.
type Passage struct {
	World   string // its id, for accounting
	Profile string
	Texts   []string
}

// Moderator is an external judge of text, such as an endpoint or a model. It returns the categories
// for which the profile blocks the texts. After an error the texts count as not judged and must not
// pass.
type Moderator interface {
	Moderate(ctx context.Context, p Passage) (categories []string, err error)
}

// Category describes a category for people and models.
type Category struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// Categories returns the policy's categories in its order.
func (p *Policy) Categories() []Category {
	list := make([]Category, len(p.categories))
	for i, c := range p.categories {
		list[i] = Category{c.Name, c.Doc}
	}
	return list
}

// Action returns the action of a profile for a category. An unknown profile is the default profile;
// an unknown category is allowed.
func (p *Policy) Action(profile, name string) Action {
	i := slices.IndexFunc(p.categories, func(c category) bool { return c.Name == name })
	if i < 0 {
		return Allow
	}
	return p.categories[i].Action[p.Profile(profile)]
}
