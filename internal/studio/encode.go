package studio

import (
	"bytes"
	"encoding/json"
)

// decodeKeepingNumbers reads JSON and keeps numbers as they are written.
func decodeKeepingNumbers(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(into)
}

// encodeFields gives JSON of what was JSON before.
func encodeFields(v map[string]any) raw {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // what was decoded has a JSON form
	}
	return b
}
