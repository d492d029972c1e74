package prompt

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loregate/internal/fault"
	"loregate/internal/lazyregexp"
)

// Template is a prompt template with the fields of its file.
type Template struct {
	Metadata  Metadata   `json:"metadata"`
	Template  string     `json:"template"`
	Variables []Variable `json:"variables"`
	Examples  []Example  `json:"examples,omitempty"`

	hash string
}

// Metadata identifies and describes a template. The hash does not cover Name, Description and Tags.
type Metadata struct {
	ID          string   `json:"id"`
	Version     string   `json:"version"` // MAJOR.MINOR.PATCH
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags,omitempty"`
}

// Variable declares the value of a placeholder.
type Variable struct {
	Name         string  `json:"name"`
	Description  string  `json:"description"`
	Required     bool    `json:"required"`
	DefaultValue *string `json:"defaultValue,omitempty"`
}

// Example is an example rendering of a template.
type Example struct {
	Title     string            `json:"title,omitempty"`
	Variables map[string]string `json:"variables"`
}

var (
	idForm      = lazyregexp.New(`^[a-z][a-z0-9-]{0,63}$`)
	versionForm = lazyregexp.New(`^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$`)
	placeholder = lazyregexp.New(`\[([A-Za-z][A-Za-z0-9_]{0,63})\]`)
)

// maxTemplate bounds a template's text, in bytes.
const maxTemplate = 64 << 10

// Parse parses and checks a template's file.
func Parse(file []byte) (*Template, error) {
	t := &Template{}
	d := json.NewDecoder(strings.NewReader(string(file)))
	d.DisallowUnknownFields()
	if err := d.Decode(t); err != nil {
		return nil, fmt.Errorf("prompt: %w", err)
	}
	t.Template = strings.ReplaceAll(strings.ReplaceAll(t.Template, "\r\n", "\n"), "\r", "\n")
	if err := t.checkTemplate(); err != nil {
		return nil, fmt.Errorf("prompt: %s: %w", t.Metadata.ID, err)
	}
	var err error
	t.hash, err = t.computeHash()
	return t, err
}

func (t *Template) checkTemplate() error {
	var wrong []error
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if !idForm.MatchString(t.Metadata.ID) {
		bad("metadata.id must consist of a-z, 0-9 and '-', at most 64 characters")
	}
	if !versionForm.MatchString(t.Metadata.Version) {
		bad("metadata.version must have the form MAJOR.MINOR.PATCH")
	}
	if t.Metadata.Name == "" || t.Metadata.Description == "" {
		bad("metadata.name and metadata.description must be set")
	}
	if t.Template == "" || len(t.Template) > maxTemplate {
		bad("template must have 1 to %d bytes", maxTemplate)
	}
	declared := map[string]bool{}
	for _, v := range t.Variables {
		if declared[v.Name] || !placeholder.MatchString("["+v.Name+"]") {
			bad("variable %q is not a valid name, or is declared twice", v.Name)
		}
		if declared[v.Name] = true; v.Required && v.DefaultValue != nil {
			bad("variable %q must not be required and have a default", v.Name)
		}
		if !strings.Contains(t.Template, "["+v.Name+"]") {
			bad("variable %q does not occur in the template", v.Name)
		}
	}
	for _, m := range placeholder.FindAllStringSubmatch(t.Template, -1) {
		if !declared[m[1]] {
			bad("[%s] is not declared in variables", m[1])
		}
	}
	for i, e := range t.Examples {
		if _, err := t.Render(e.Variables); err != nil {
			bad("examples[%d]: %w", i, err)
		}
	}
	return errors.Join(wrong...)
}

// Hash returns the template's hash, in hexadecimal.
func (t *Template) Hash() string { return t.hash }

func (t *Template) computeHash() (string, error) {
	b, err := json.Marshal(map[string]any{"id": t.Metadata.ID, "version": t.Metadata.Version, "template": t.Template,
		"variables": t.Variables})
	if err != nil {
		return "", err
	}
	v := jsontext.Value(b)
	if err := v.Canonicalize(); err != nil {
		return "", err
	}
	sum := sha256.Sum256(v)
	return hex.EncodeToString(sum[:]), nil
}

// Render replaces the placeholders by values in one pass: placeholders inside values stay. Its
// error is fault.Invalid and lists missing and unknown variables.
func (t *Template) Render(values map[string]string) (string, error) {
	full := map[string]string{}
	var wrong []fault.Field
	for _, v := range t.Variables {
		value, given := values[v.Name]
		switch {
		case given:
			full[v.Name] = value
		case v.DefaultValue != nil:
			full[v.Name] = *v.DefaultValue
		case v.Required:
			wrong = append(wrong, fault.Field{Field: "variables." + v.Name, Error: "is needed: " + v.Description})
		}
	}
	for name := range values {
		if !slices.ContainsFunc(t.Variables, func(v Variable) bool { return v.Name == name }) {
			wrong = append(wrong, fault.Field{Field: "variables." + name,
				Error: "is not a variable of this template; get-prompt lists them"})
		}
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, func(a, b fault.Field) int { return cmp.Compare(a.Field, b.Field) })
		e := fault.New(fault.Invalid, "%s: %s", wrong[0].Field, wrong[0].Error)
		e.Fields = wrong
		return "", e
	}
	return placeholder.ReplaceAllStringFunc(t.Template, func(p string) string { return full[p[1:len(p)-1]] }), nil
}

// isLater reports whether version a comes after b.
func isLater(a, b string) bool {
	return slices.Compare(versionNumbers(a), versionNumbers(b)) > 0
}

func versionNumbers(version string) []int {
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // the form was checked
		list = append(list, n)
	}
	return list
}
