package canon

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/markup"
)

// Type is a type of cards. Built-in types are the same in every world. A card of type Cardtype adds
// a type to its world; its field "schema" holds a JSON Schema for the fields of cards of that type.
type Type struct {
	ID          string // codename of a built-in type, id of a type card
	Name        string
	Codename    string
	Description string
	Common      bool
	Text        TextKind
	Raw         bool            // its text is for programs: marks in it hide nothing
	Schema      json.RawMessage // for the fields; nil if there is none
	Label       access.Label

	card CardID // the type card; zero for a built-in type
}

// TextKind is the format of a type's content; search, references and rendering depend on it.
type TextKind uint8

// The kinds of content.
const (
	TextHTML     TextKind = iota // stored HTML with wiki syntax
	TextMarkdown                 // Markdown with wiki syntax
	TextPlain                    // plain text with wiki syntax
	TextItems                    // one item a line
	TextData                     // data for programs: has no references and is searched verbatim
	TextFile                     // stored bytes: no references, not searched
)

// Names of types that the program itself knows.
const (
	TypeRichText = "RichText"
	TypeCardtype = "Cardtype"
	TypePointer  = "Pointer"
	TypeQuery    = "Query"
	TypeFile     = "File"
	TypeImage    = "Image"
	TypeSetting  = "Setting"
	TypeUser     = "User"
)

var builtin = []Type{
	{Name: TypeRichText, Codename: "basic", Description: "HTML with wiki links", Common: true},
	{Name: "Markdown", Codename: "markdown", Description: "GitHub-flavoured Markdown with wiki links", Common: true,
		Text: TextMarkdown},
	{Name: "PlainText", Codename: "plain_text", Description: "Text without markup", Common: true, Text: TextPlain},
	{Name: "Phrase", Codename: "phrase", Description: "One line of text", Common: true, Text: TextPlain},
	{Name: TypePointer, Codename: "pointer", Description: "A list of cards, one per line", Common: true, Text: TextItems},
	{Name: "List", Codename: "list", Description: "An ordered list of items", Common: true, Text: TextItems},
	{Name: "Nest list", Codename: "nest_list", Description: "A list of nested cards", Text: TextItems},
	{Name: "Link list", Codename: "link_list", Description: "A list of links", Text: TextItems},
	{Name: "HTML", Codename: "html", Description: "Raw HTML", Raw: true},
	{Name: "JSON", Codename: "json", Description: "JSON data", Text: TextData},
	{Name: TypeQuery, Codename: "query",
		Description: "A named query: a filter of run_query in JSON, with {{placeholders}}", Common: true, Text: TextData},
	{Name: "Search", Codename: "search_type", Description: "A saved search", Text: TextData},
	{Name: "Number", Codename: "number", Description: "A number", Text: TextPlain},
	{Name: "Toggle", Codename: "toggle", Description: "Yes or no", Text: TextPlain},
	{Name: "Date", Codename: "date", Description: "A date", Text: TextPlain},
	{Name: "URI", Codename: "uri", Description: "A web address", Text: TextPlain},
	{Name: "Email template", Codename: "email_template", Description: "A message with placeholders", Raw: true},
	{Name: TypeFile, Codename: "file", Description: "An attached file", Text: TextFile},
	{Name: TypeImage, Codename: "image", Description: "An attached picture", Text: TextFile},
	{Name: TypeCardtype, Codename: "cardtype", Description: "A card that defines a type of cards", Common: true},
	{Name: "Set", Codename: "set", Description: "A set of cards that a rule applies to", Raw: true},
	{Name: TypeSetting, Codename: "setting", Description: "A setting to which a rule gives a value", Raw: true},
	{Name: TypeUser, Codename: "user", Description: "A person with an account", Raw: true},
	{Name: "Role", Codename: "role", Description: "A role of users", Raw: true},
	{Name: "Character", Codename: "character", Description: "A person or creature with a name and a will", Common: true},
	{Name: "Location", Codename: "location", Description: "A place where characters can be", Common: true},
	{Name: "Realm", Codename: "realm", Description: "A region that contains places", Common: true},
	{Name: "Faction", Codename: "faction", Description: "A group that acts together", Common: true},
	{Name: "Item", Codename: "item", Description: "A thing that a character can hold", Common: true},
	{Name: "Artifact", Codename: "artifact", Description: "A thing with its own story", Common: true},
	{Name: "Creature", Codename: "creature", Description: "A kind of creature", Common: true},
	{Name: "Event", Codename: "event", Description: "A past or future event", Common: true},
	{Name: "Quest", Codename: "quest", Description: "A task with steps", Common: true},
	{Name: "Session", Codename: "session", Description: "One evening of play", Common: true},
	{Name: "Player", Codename: "player", Description: "A player's character"},
	{Name: "Lore", Codename: "lore", Description: "A fact of the world", Common: true},
	{Name: "Clue", Codename: "clue", Description: "A clue to a secret"},
	{Name: "Organization", Codename: "organization", Description: "A body with members, rules or a seat"},
	{Name: "Document", Codename: "document", Description: "A letter, book or record that exists in the world"},
	{Name: "Entity", Codename: "entity", Description: "A person or thing in a campaign that fits no other type"},
	{Name: "Timeline Event", Codename: "timeline_event",
		Description: "An event at a date in the campaign's calendar", Text: TextMarkdown},
	{Name: "Relationship Type", Codename: "relationship_type", Description: "A way in which two entities can be related",
		Text: TextPlain},
	{Name: "Canon Conflict", Codename: "canon_conflict",
		Description: "A contradiction between two sources, until the GM decides", Text: TextData},
	{
		Name:        "Commodity",
		Codename:    "commodity",
		Description: "A ware that is bought and sold for money",
		Schema:      commoditySchema,
	},
}

var commoditySchema = json.RawMessage(`{"type":"object","properties":{` +
	`"basePrice":{"type":"integer","minimum":1,"maximum":1000000,"description":"Price of a unit, in pieces of the currency."},` +
	`"currency":{"type":"string","minLength":1,"description":"Id, codename or name of the card of the money."},` +
	`"unit":{"type":"string","description":"Word for one of it, such as loaf."},` +
	`"elasticity":{"type":"number","minimum":0,"maximum":5,"description":"Percent by which the price rises if ` +
	`the stock is one percent below the usual."}}}`)

// builtinByKey maps the keys of a built-in type's name and codename to its index in builtin.
var builtinByKey = func() map[markup.Key]int {
	m := make(map[markup.Key]int, 2*len(builtin))
	for i := range builtin {
		builtin[i].ID = builtin[i].Codename
		builtin[i].Label = access.NewLabel(access.LevelUser)
		m[markup.KeyOf(builtin[i].Name)] = i
		m[markup.KeyOf(builtin[i].Codename)] = i
	}
	return m
}()

// TextOf returns the format of a type's content. It is TextHTML for a world's own types.
func TextOf(typ string) TextKind {
	if i, ok := builtinByKey[markup.KeyOf(typ)]; ok {
		return builtin[i].Text
	}
	return TextHTML
}

// Type finds a visible type by name or codename. A hidden type gives the same error as one that
// does not exist: fault.Rule on field "type".
func (s *Snapshot) Type(ctx context.Context, name string) (Type, error) {
	key := markup.KeyOf(name)
	if i, ok := builtinByKey[key]; ok {
		return builtin[i], nil
	}
	cards, err := s.r.FindCards(ctx, s.visibility, CardQuery{Key: key})
	if err != nil {
		return Type{}, err
	}
	for _, c := range cards {
		if markup.KeyOf(c.Type) == markup.KeyOf(TypeCardtype) {
			return s.loadType(ctx, c)
		}
	}
	return Type{}, unknownType(name)
}

func unknownType(name string) error {
	e := fault.New(fault.Rule, "there is no type %q; list them with list_types", markup.Clip(name, 255))
	e.Fields = []fault.Field{{Field: "type", Error: "unknown type"}}
	return e
}

func (s *Snapshot) loadType(ctx context.Context, c Card) (Type, error) {
	content, err := s.Content(ctx, c)
	if err != nil {
		return Type{}, err
	}
	return typeFromCard(c, content), nil
}

// typeFromCard returns the type that a type card defines; content is its description.
func typeFromCard(c Card, content string) Type {
	var own struct {
		Schema json.RawMessage `json:"schema"`
	}
	_ = json.Unmarshal(c.Fields, &own) // fields are an object already; a type without a schema is fine
	text, _ := markup.Truncate(markup.Text(content), 200)
	return Type{ID: c.ID.String(), Name: c.Name, Codename: c.Codename, Description: text, Schema: own.Schema,
		Label: c.Label, card: c.ID}
}

// Types lists all visible types: the built-in ones, then the world's by key.
func (s *Snapshot) Types(ctx context.Context) ([]Type, error) {
	types := append([]Type(nil), builtin...)
	cards, _, err := s.r.Cards(ctx, s.visibility, Filter{Type: TypeCardtype}, Page{Limit: 1000})
	if err != nil {
		return nil, err
	}
	for _, c := range cards {
		t, err := s.loadType(ctx, c)
		if err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	return types, nil
}

// schemaCache keeps compiled schemas by their text.
type schemaCache struct {
	mu     sync.Mutex // guards byText
	byText map[string]*jsonschema.Resolved
}

const schemaCacheSize = 256

// compile returns the compiled form of a schema. A full cache is emptied first.
func (s *schemaCache) compile(text json.RawMessage) (*jsonschema.Resolved, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.byText[string(text)]; ok {
		return r, nil
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, err
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	if s.byText == nil || len(s.byText) >= schemaCacheSize {
		s.byText = make(map[string]*jsonschema.Resolved)
	}
	s.byText[string(text)] = r
	return r, nil
}

// checkFields validates a card's fields against the schema of its type.
func (c *Canon) checkFields(t Type, fields json.RawMessage) error {
	if t.Schema == nil {
		return nil
	}
	schema, err := c.schemas.compile(t.Schema)
	if err != nil {
		return fieldsFault("the schema of type %s cannot be read; correct the field \"schema\" of the type's card first",
			t.Name)
	}
	value := map[string]any{}
	if fields != nil {
		if err := json.Unmarshal(fields, &value); err != nil {
			return fieldsFault("not a JSON object")
		}
	}
	if err := schema.Validate(value); err != nil {
		return mismatchFault(t, schema.Schema(), value, err)
	}
	return nil
}

// maxMismatches bounds the missing fields that are reported, and the fields that are validated each by itself.
const maxMismatches = 100

// mismatchFault is the fault for fields that the schema of a type refuses. A validation ends at the first error, so
// that each field is validated again by itself; err is reported if it belongs to none of them.
func mismatchFault(t Type, whole *jsonschema.Schema, value map[string]any, err error) error {
	e := fieldsFault("does not match type %s: %s", t.Name, mismatchText(err))
	var found []fault.Field
	for _, name := range whole.Required[:min(len(whole.Required), maxMismatches)] {
		if _, given := value[name]; !given {
			found = append(found, fault.Field{Field: "fields." + name, Error: "is missing"})
		}
	}
	names := slices.Sorted(maps.Keys(value))
	for _, name := range names[:min(len(names), maxMismatches)] {
		if whole.Properties[name] == nil {
			continue
		}
		one := &jsonschema.Schema{Schema: whole.Schema, Defs: whole.Defs, Definitions: whole.Definitions,
			Properties: map[string]*jsonschema.Schema{name: whole.Properties[name]}}
		schema, wrong := one.CloneSchemas().Resolve(nil)
		if wrong != nil {
			continue
		}
		if wrong := schema.Validate(value); wrong != nil {
			found = append(found, fault.Field{Field: "fields." + name, Error: mismatchText(wrong)})
		}
	}
	if len(found) > 0 {
		e.Fields = found
	}
	return e
}

// mismatchText returns the message of a validation without the path of schemas that led to it.
func mismatchText(err error) string {
	text := err.Error()
	for strings.HasPrefix(text, "validating ") {
		_, rest, more := strings.Cut(text, ": ")
		if !more {
			break
		}
		text = rest
	}
	return plainNumbers.Replace(text)
}

// plainNumbers writes the numbers of a validation's messages, which are fractions and of six decimals, as people do.
var plainNumbers = strings.NewReplacer("/1 is ", " is ", ".000000", "")

func fieldsFault(format string, args ...any) *fault.Error {
	return fault.BrokenRule("fields", format, args...)
}
