package markup

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// Occurrence selects one of several matches: the n-th, counted from 1, LastOccurrence or
// AllOccurrences. 0 means that there must be only one. In JSON it is a number, its digits as a
// string, or "first", "last" or "all".
type Occurrence int

// The occurrences without a number.
const (
	LastOccurrence Occurrence = -1
	AllOccurrences Occurrence = -2
)

var occurrenceWords = map[string]Occurrence{"first": 1, "last": LastOccurrence, "all": AllOccurrences}

// UnmarshalJSON reads a number or a word.
func (o *Occurrence) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) != nil {
		word = string(b)
	}
	if named, ok := occurrenceWords[word]; ok {
		*o = named
		return nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 1 {
		return fmt.Errorf("must be a number from 1 up, or first, last or all")
	}
	*o = Occurrence(n)
	return nil
}

// Schema allows strings and integers in the JSON schema.
func (Occurrence) Schema(s *jsonschema.Schema) {
	s.Types, s.Description = []string{"string", "integer"}, ""
}
