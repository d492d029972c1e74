package op

import (
	"reflect"
	"slices"
	"strings"
)

// synonyms maps a name to the fields that it may mean in operations that do not declare it: the
// first declared one is used. Models and older clients mix these names up.
var synonyms = map[string][]string{
	"query":       {"q", "question", "text"},
	"q":           {"query", "question", "text"},
	"search":      {"q", "query"},
	"text":        {"content", "q", "query"},
	"body":        {"content"},
	"type":        {"entity_type", "card_type", "kind"},
	"entity_type": {"type", "kind"},
	"card_type":   {"type"},
	"kind":        {"entity_type", "type"},
	"name":        {"q", "query", "card"},
	"card":        {"name"},
	"card_name":   {"name"},
	"parent_name": {"name"},
	"title":       {"name"},
	"max_results": {"limit"},
	"max":         {"limit"},
	"count":       {"limit"},
	"skip":        {"offset"},
}

// Field returns the declared input field that a name means: the field itself, the field with that
// alias, or the field it is commonly mixed up with. If there is none, it returns the name
// unchanged.
func (o *Operation) Field(name string) string {
	if o.declaresField(name) || o.loose {
		return name
	}
	if field := o.input().aliases[name]; field != "" {
		return field
	}
	if i := slices.IndexFunc(synonyms[name], o.declaresField); i >= 0 {
		return synonyms[name][i]
	}
	return name
}

// applyAliases renames the members of an input to the fields that they mean. If the field is given
// as well, the member keeps its name and is refused as unknown.
func (o *Operation) applyAliases(n *node) {
	for i := range n.kids {
		if field := o.Field(n.kids[i].name); field != n.kids[i].name && n.member(field) == nil {
			n.kids[i].name = field
		}
	}
}

// aliasesOf reads the alias tags of an input's fields.
func aliasesOf(t reflect.Type) map[string]string {
	all := map[string]string{}
	for f := range structFields(t) {
		for alias := range strings.SplitSeq(f.sf.Tag.Get("alias"), ",") {
			if alias != "" {
				all[alias] = f.name
			}
		}
	}
	return all
}
