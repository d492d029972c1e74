//go:build !linux && !darwin

package app

import "errors"

func diskOf(string) (free, total uint64, err error) {
	return 0, 0, errors.New("not on this system")
}
