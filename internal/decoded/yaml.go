package decoded

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// YAMLFault is a fault that the YAML decoder found.
type YAMLFault struct {
	Line int // 0 if it is unknown
	Why  string
}

// String returns the fault with its line, as it is shown to a person.
func (f YAMLFault) String() string {
	if f.Line == 0 {
		return f.Why
	}
	return fmt.Sprintf("line %d: %s", f.Line, f.Why)
}

// YAMLFaults returns the faults of an error of the YAML decoder, at least one.
func YAMLFaults(err error) (list []YAMLFault) {
	if all, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		for _, one := range all.Errors {
			list = append(list, YAMLFault{one.Mark.Line, one.Message})
		}
	} else if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		list = []YAMLFault{{one.Mark.Line, one.Message}}
	}
	if len(list) == 0 {
		list = []YAMLFault{{0, err.Error()}}
	}
	return list
}
