package fault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"loregate/internal/fault"
)

// TestAFullDiskIsToldByEveryLayer wraps a full disk as layers do.
func TestAFullDiskIsToldByEveryLayer(t *testing.T) {
	raw := &fs.PathError{Op: "write", Path: "/secret/place", Err: syscall.ENOSPC}
	for name, err := range map[string]error{
		"the system's":        raw,
		"a quota":             fmt.Errorf("put: %w", syscall.EDQUOT),
		"its own":             fault.DiskFull(raw),
		"wrapped":             fmt.Errorf("store: %w", fault.DiskFull(errors.New("SQLITE_FULL"))),
		"as another outage":   fault.New(fault.Unavailable, "keys cannot be checked").Because(fault.DiskFull(raw)),
		"as an internal one":  fault.New(fault.Internal, "a job failed").Because(raw),
		"below a context":     fmt.Errorf("import: %w", fmt.Errorf("upload: %w", raw)),
		"joined with another": errors.Join(errors.New("close failed"), raw),
	} {
		shown := fault.Show(err, "id")
		if fault.KindOf(err) != fault.Unavailable || fault.KindOf(err).HTTPStatus() != http.StatusServiceUnavailable ||
			!strings.Contains(shown.Error.Message, "the disk is full") || !shown.Error.Retryable ||
			strings.Contains(shown.Error.Message, "secret") {
			t.Errorf("%s: %v, shown as %+v", name, fault.KindOf(err), shown)
		}
	}
	if bad := fault.BadField("name", "is empty").Because(raw); fault.KindOf(bad) != fault.Invalid {
		t.Error("bad input is taken for a full disk")
	}
}
