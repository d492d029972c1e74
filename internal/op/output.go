package op

import (
	"encoding/json"
	"maps"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"loregate/internal/fault"
)

// outputOptions encodes outputs compactly and deterministically, with empty lists instead of null,
// text as stored, and omitempty as in encoding/json.
var outputOptions = jsonv2.JoinOptions(jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true),
	jsonv1.OmitEmptyWithLegacySemantics(true))

// Encode encodes an output as an operation does, without schema or cutting.
func Encode(out any) (json.RawMessage, error) {
	b, err := jsonv2.Marshal(out, outputOptions)
	if err != nil {
		return nil, fault.New(fault.Internal, "an output cannot be encoded").Because(err)
	}
	return b, nil
}

func (o *Operation) encodeOutput(out any, maxText int, in input) (json.RawMessage, error) {
	b, err := jsonv2.Marshal(out, outputOptions)
	if err != nil {
		return nil, fault.New(fault.Internal, "output of %s", o.Name).Because(err)
	}
	if maxText <= 0 || len(b) <= maxText {
		return b, nil
	}
	// Leave room for the call that continues after the cut, which repeats the input; a long input
	// must not starve the output.
	budget := max(maxText-len(in.json)-256, maxText/2)
	shorter, next, ok := o.cutOutput(out, budget)
	if !ok {
		return b, nil
	}
	return o.encodeCut(shorter, next, in)
}

// cutOutput shortens an output that is Cuttable or a page of a list.
func (o *Operation) cutOutput(out any, budget int) (shorter any, next map[string]any, ok bool) {
	if c, cuttable := out.(Cuttable); cuttable {
		return c.Cut(budget)
	}
	list := o.output().list
	if list == nil {
		return out, nil, false
	}
	return list.cut(out, budget)
}

// encodeCut encodes a shortened output and adds truncated and next, unless the output declares them
// itself.
func (o *Operation) encodeCut(shorter any, next map[string]any, in input) (json.RawMessage, error) {
	b, err := jsonv2.Marshal(shorter, outputOptions)
	if err != nil {
		return nil, fault.New(fault.Internal, "shortened output of %s", o.Name).Because(err)
	}
	if o.Out().Properties["truncated"] == nil {
		b = appendMember(b, "truncated", []byte("true"))
	}
	if o.Out().Properties["next"] == nil {
		call, err := o.encodeContinuation(next, in)
		if err != nil {
			return nil, err
		}
		b = appendMember(b, "next", call)
	}
	return b, nil
}

// encodeContinuation encodes the call that continues after a cut: this call's input with some
// fields changed.
func (o *Operation) encodeContinuation(next map[string]any, in input) ([]byte, error) {
	var args map[string]any
	if err := jsonv2.Unmarshal(in.json, &args); err != nil {
		return nil, fault.New(fault.Internal, "input of %s", o.Name).Because(err)
	}
	for k, v := range next {
		args[k] = v
	}
	if in.worldArg && !o.declaresField("world") && !o.declaresField("campaign_id") {
		args["world"] = in.world
	}
	return jsonv2.Marshal(map[string]any{"tool": o.Name, "arguments": args}, outputOptions)
}

// appendMember adds a member to an encoded object.
func appendMember(b []byte, name string, value []byte) []byte {
	b = b[:len(b)-1]
	if len(b) > 1 {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, `":`...)
	return append(append(b, value...), '}')
}

// withOlder adds the members that older clients read to an output; a member of the same name
// replaces the output's.
func (o *Operation) withOlder(shown []byte, older Older) (json.RawMessage, error) {
	more, err := Encode(older.Older())
	if err != nil {
		return nil, err
	}
	var added map[string]jsontext.Value
	if err := jsonv2.Unmarshal(more, &added); err != nil || len(shown) == 0 || shown[0] != '{' {
		return shown, nil // only objects can have members added
	}
	replaces := false
	for name := range added {
		replaces = replaces || o.Out().Properties[name] != nil
	}
	if !replaces {
		b := append(make([]byte, 0, len(shown)+len(more)), shown[:len(shown)-1]...)
		if len(shown) > 2 && len(more) > 2 {
			b = append(b, ',')
		}
		return append(b, more[1:]...), nil
	}
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(shown, &members); err != nil {
		return nil, fault.New(fault.Internal, "output of %s", o.Name).Because(err)
	}
	maps.Copy(members, added)
	return Encode(members)
}
