package studio

import (
	"bytes"
	"encoding/json"
)

// decodeKeepingNumbers decodes JSON and keeps each number as it is written.
func decodeKeepingNumbers(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(into)
}

// encodeFields encodes fields that were decoded from JSON.
func encodeFields(v map[string]any) raw {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // decoded values always have a JSON form
	}
	return b
}
