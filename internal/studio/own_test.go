package studio

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestOwnModelNamesNoFile gives imports files that would make Blender read the server's disk. None gets as far as an
// adapter.
func TestOwnModelNamesNoFile(t *testing.T) {
	dir := t.TempDir()
	w := &Work{files: &fileKeeper{roots: Policy{Roots: map[string]string{"models": dir}}}}
	for _, text := range []string{
		`{"asset": {"version": "2.0"}, "scenes": [{}], "buffers": [{"byteLength": 4, "uri": "/etc/passwd"}]}`,
		`{"asset": {"version": "2.0"}, "scenes": [{}], "images": [{"uri": "../../../../etc/passwd"}]}`,
		`{"asset": {"version": "2.0"}, "scenes": [{}], "images": [{"uri": "file:///etc/passwd"}]}`,
	} {
		for len(text)%4 != 0 {
			text += " "
		}
		le := binary.LittleEndian
		file := le.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(20+len(text)))
		file = append(le.AppendUint32(file, uint32(len(text))), "JSON"+text...)
		for _, name := range []string{"x.glb", "x.blend", "x"} {
			if err := os.WriteFile(filepath.Join(dir, name), file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := w.OwnModel(t.Context(), ImportIn{Path: "models/" + name})
			if f, ok := errors.AsType[*Failure](err); !ok || f.Code != Validation {
				t.Errorf("%s as %s: %v", text, name, err)
			}
		}
	}
}
