package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loregate/internal/agent"
	"loregate/internal/app"
	"loregate/internal/stem"
)

// value is a flag or an argument of a command. Its text comes from the command line, else from the variable that the tag
// env names, else from the tag default. Further tags are placeholder (of the value in help), short (the letter of a
// flag), aliases (an older name of a flag), enum (the allowed words, with commas between them), complete (formats: the
// shell completes the names of formats), required (of a flag), optional (of an argument) and sep (none: a comma does not
// end an element of a list).
type value struct {
	name     string
	tag      reflect.StructTag
	field    reflect.Value
	command  *cobra.Command
	argument bool
	help     string
	enum     []string
	given    bool
}

func newValue(cmd *cobra.Command, f reflect.StructField, at reflect.Value) *value {
	v := &value{name: flagName(f), tag: f.Tag, field: at, command: cmd, argument: hasTag(f.Tag, "arg"),
		help: expandLists(f.Tag.Get("help"))}
	if enum := f.Tag.Get("enum"); enum != "" {
		v.enum = strings.Split(expandLists(enum), ",")
	}
	return v
}

// expandLists replaces the names of lists in a text by their elements. Few texts have one, and the agents are read from
// files.
func expandLists(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	return strings.NewReplacer("${agents}", strings.Join(agent.Names(), ", "),
		"${languages}", strings.Join(stem.Languages(), ",")).Replace(text)
}

func hasTag(tag reflect.StructTag, key string) bool {
	_, ok := tag.Lookup(key)
	return ok
}

// isRequired reports whether the command line must have the value.
func (v *value) isRequired() bool {
	if v.argument {
		return !hasTag(v.tag, "optional")
	}
	return hasTag(v.tag, "required")
}

// isList reports whether the value can be given more than once.
func (v *value) isList() bool { return v.field.Kind() == reflect.Slice }

// words returns the words that the value can be, or nil if it can be any text.
func (v *value) words() []string {
	if v.tag.Get("complete") == "formats" {
		return app.FormatNames()
	}
	return slices.DeleteFunc(slices.Clone(v.enum), func(w string) bool { return w == "" })
}

// completeWord returns the words that begin with start.
func (v *value) completeWord(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	return slices.DeleteFunc(v.words(), func(w string) bool { return !strings.HasPrefix(w, start) }),
		cobra.ShellCompDirectiveDefault
}

// usage returns the value as a command line shows it.
func (v *value) usage() string {
	switch {
	case v.argument && v.isList():
		return "[<" + v.name + ">…]"
	case v.argument && v.isRequired():
		return "<" + v.name + ">"
	case v.argument:
		return "[<" + v.name + ">]"
	case v.field.Kind() == reflect.Bool:
		return "--" + v.name
	}
	return "--" + v.name + " " + v.Type()
}

// allowedText returns the words that the value can be, for the end of an error.
func (v *value) allowedText() string {
	if v.enum == nil {
		return ""
	}
	return " (" + strings.Join(v.words(), ", ") + ")"
}

// helpText returns the help of the value, with its default and its variable.
func (v *value) helpText() string {
	text := v.help
	if d := v.tag.Get("default"); d != "" {
		text += " Default: " + d + "."
	}
	if env := v.tag.Get("env"); env != "" {
		text = strings.TrimSuffix(text, ".") + " ($" + env + ")."
	}
	return text
}

// Type returns the placeholder of the value, for pflag.
func (v *value) Type() string {
	if p := v.tag.Get("placeholder"); p != "" {
		return p
	}
	if v.field.Type() == reflect.TypeFor[time.Duration]() {
		return "DURATION"
	}
	if v.field.CanInt() || v.field.CanUint() || v.field.CanFloat() {
		return "N"
	}
	return strings.ToUpper(v.name[strings.LastIndexByte(v.name, '-')+1:])
}

// String returns no text, for pflag: helpText gives the default.
func (v *value) String() string { return "" }

// Set sets the value to a text, or adds the text to a list or a map. Its error follows the name of the value.
func (v *value) Set(text string) error {
	if name, ok := strings.CutPrefix(text, "--"); ok && !v.argument {
		if name, _, _ = strings.Cut(name, "="); v.command.Flags().Lookup(name) != nil {
			return errors.New("needs a value")
		}
	}
	elements := []string{text}
	if v.isList() && !v.argument && v.tag.Get("sep") != "none" {
		elements = strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
	}
	for _, e := range elements {
		if v.enum != nil && !slices.Contains(v.enum, e) {
			return fmt.Errorf("must be one of %s", strings.Join(v.words(), ", "))
		}
		if err := setField(v.field, e); err != nil {
			return err
		}
	}
	v.given = true
	return nil
}

// setDefault sets a value that is not given to its variable in the environment, else to its default.
func (v *value) setDefault() error {
	env := v.tag.Get("env")
	text := os.Getenv(env)
	if text == "" {
		env, text = "default of "+v.name, v.tag.Get("default")
	}
	if v.given || text == "" {
		return nil
	}
	if err := v.Set(text); err != nil {
		return fmt.Errorf("%s %w, not %q", env, err, text)
	}
	return nil
}

// setField sets a field to the value that a text has in the field's type.
func setField(field reflect.Value, text string) error {
	switch {
	case field.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("must be a duration such as 90s, 15m or 24h")
		}
		field.SetInt(int64(d))
	case field.Kind() == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return setField(field.Elem(), text)
	case field.Kind() == reflect.Slice:
		field.Set(reflect.Append(field, reflect.ValueOf(text)))
	case field.Kind() == reflect.Map:
		key, word, ok := strings.Cut(text, "=")
		if !ok {
			return errors.New("must contain =")
		}
		if field.IsNil() {
			field.Set(reflect.MakeMap(field.Type()))
		}
		field.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(word))
	case field.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("must be true or false")
		}
		field.SetBool(b)
	case field.CanInt():
		n, err := strconv.ParseInt(text, 0, field.Type().Bits())
		if err != nil {
			return errors.New("must be a whole number")
		}
		field.SetInt(n)
	case field.CanUint():
		n, err := strconv.ParseUint(text, 0, field.Type().Bits())
		if err != nil {
			return errors.New("must be a whole number from 0")
		}
		field.SetUint(n)
	case field.CanFloat():
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return errors.New("must be a number")
		}
		field.SetFloat(f)
	default:
		field.SetString(text)
	}
	return nil
}
