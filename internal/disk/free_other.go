//go:build !linux && !darwin

package disk

import "errors"

func Free(string) (free, total uint64, err error) {
	return 0, 0, errors.New("not on this system")
}
