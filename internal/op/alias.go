package op

import (
	"reflect"
	"slices"
	"strings"
)

// synonyms are the fields that a name may stand for where an operation does not declare
// it: the first of them that is declared. Models and older clients mix these up.
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

// Field is the declared input field that a name stands for: itself, the one whose alias it
// is, or the one it is commonly mixed up with; the name as it is where there is none.
func (o *Operation) Field(name string) string {
	if o.declares(name) || o.loose {
		return name
	}
	if field := o.aliases[name]; field != "" {
		return field
	}
	if i := slices.IndexFunc(synonyms[name], o.declares); i >= 0 {
		return synonyms[name][i]
	}
	return name
}

// rename gives the members of an input the names of the fields that they stand for. A
// member whose field is given too keeps its name, and is refused by it.
func (o *Operation) rename(n *node) {
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
