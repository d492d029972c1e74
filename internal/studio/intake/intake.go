// Package intake inspects a model file that somebody gave, before any program and any other reader sees it.
//
// Its invariant: a file that Inspect accepts is a GLB or a .blend file that contains all of its data: nothing in
// it names another file, an address or a library. Reading is bounded, in memory and in steps.
package intake

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"loregate/internal/markup"
	"loregate/internal/studio/gltf"
)

// Kind is the format of a model file, as its content shows it.
type Kind string

// The formats that are read.
const (
	GLB   Kind = "glb"
	Blend Kind = "blend"
)

// ErrRefused is wrapped by every error of Inspect. The texts of the errors name the remedy.
var ErrRefused = errors.New("the file is refused")

func refuseModel(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Inspect returns the kind of a model file. A file of another kind, and one that refers to data outside of itself, is
// refused.
func Inspect(data []byte) (Kind, error) {
	if isBlend(data) {
		return Blend, inspectBlend(data)
	}
	if !bytes.HasPrefix(data, []byte("glTF")) {
		return "", refuseModel("it is no GLB and no .blend file; export the model as GLB, with all its data in the file")
	}
	text, _, err := gltf.Split(data)
	if err != nil {
		return "", refuseModel("%v; export it as GLB again", err)
	}
	return GLB, inspectJSON(text)
}

// maxTokens bounds the names, values, lists and objects in the JSON of a GLB file. The largest scene that the studio
// makes has a third of it.
const maxTokens = 6_000_000

// inspectJSON reads the JSON of a glTF file strictly: one object, each name once in its object. A member with a
// name of linkNames may only hold its data: programs differ in the case of names, and extensions have their own
// places for it.
func inspectJSON(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for n := range maxTokens {
		t, err := d.ReadToken()
		if err != nil || n == 0 && t.Kind() != '{' {
			return refuseModel("its JSON is no object, not valid, or has a name twice (at byte %d); export it as GLB again",
				d.InputOffset())
		}
		if d.StackDepth() == 0 {
			if len(bytes.TrimSpace(text[d.InputOffset():])) > 0 {
				return refuseModel("bytes follow its JSON; export it as GLB again")
			}
			return nil
		}
		if isLink(d, t) {
			where := markup.Shorten(string(d.StackPointer()), 80)
			if v, err := d.ReadValue(); err != nil || !bytes.HasPrefix(v, []byte(`"data:`)) {
				return refuseModel("%s names a file or an address outside of it; export the model as GLB, with all its "+
					"data in the file", where)
			}
		}
	}
	return refuseModel("its JSON has more than %d parts; split the model", maxTokens)
}

// linkNames are the names, in any case, of members that make loaders read other files.
var linkNames = []string{"uri", "url", "href"}

// isLink reports whether the token that a decoder has just read is the name of a member that makes loaders read
// a file.
func isLink(d *jsontext.Decoder, t jsontext.Token) bool {
	in, read := d.StackIndex(d.StackDepth())
	if in != '{' || read%2 == 0 || t.Kind() != '"' {
		return false
	}
	name := strings.TrimSpace(t.String())
	return slices.ContainsFunc(linkNames, func(link string) bool { return strings.EqualFold(name, link) })
}
