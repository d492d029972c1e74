package crashtest

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/app/apptest"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// TestEveryWriteOnAFullDisk calls each operation that writes with its examples while the disk is full. None fails by our
// fault, and each that gets as far as writing says that the disk is full. Afterwards there is room and they work again.
func TestEveryWriteOnAFullDisk(t *testing.T) {
	disk := mountSmallDisk(t, "96m")
	c := configOf(t, filepath.Join(disk, "data"))
	apptest.Sample(t, c.Data)
	temporary := filepath.Join(disk, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	a, _ := apptest.Open(t, c, apptest.Quiet())
	caller := access.Caller{Subject: "keeper", EveryRole: access.RoleAdmin, Operator: true, Actor: access.Person,
		Approve: true}
	call := func(o *op.Operation, e op.Example) error {
		r, err := a.Ops.Invoke(t.Context(), caller, op.Request{Operation: o.Name, World: app.SampleWorld,
			Input: []byte(e.Input), Transport: "rest", IdempotencyKey: uuid.NewString()})
		if answer, _ := json.Marshal(r); strings.Contains(string(answer), "AUDIT_UNAVAILABLE") {
			t.Errorf("%s %s: a full disk is a verdict: %s", o.Name, e.Input, answer)
		}
		return err
	}
	free := fillDisk(t, disk)
	told, done := 0, 0
	for _, o := range a.Ops.All() {
		if o.Effect == access.Read {
			continue
		}
		for _, e := range o.Examples {
			err := call(o, e)
			shown := fault.Show(err, "id").Error
			switch {
			case err == nil:
				done++ // a dry run, or a write that fits into the log that the store has already
			case fault.KindOf(err).HTTPStatus() == http.StatusInternalServerError:
				t.Errorf("%s %s: %v", o.Name, e.Input, err)
			case fault.KindOf(err) != fault.Unavailable:
			case strings.Contains(shown.Message, "the disk is full"):
				told++
			default:
				t.Errorf("%s %s says %q", o.Name, e.Input, shown.Message)
			}
		}
	}
	t.Logf("%d calls say that the disk is full, %d need no room", told, done)
	if told < 30 {
		t.Error("few calls met the full disk")
	}
	free()
	o, _ := a.Ops.Find("create_card")
	if err := call(o, op.Example{Input: `{"name": "Well after the flood", "content": "dry"}`}); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
