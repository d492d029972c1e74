package gltftest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// The severities of Khronos' validator.
const (
	severityError = iota
	severityWarning
)

// validatorScript runs Khronos' validator on the file on standard input. Its second argument is the
// mildest severity that counts.
const validatorScript = `const v = require(process.argv[1] + "/gltf-validator"), b = []
process.stdin.on("data", d => b.push(d)).on("end", async () => {
  const r = await v.validateBytes(new Uint8Array(Buffer.concat(b)), {maxIssues: 20, severityOverrides: {}})
  const bad = r.issues.messages.filter(m => m.severity <= Number(process.argv[2]))
  console.log(JSON.stringify({faults: bad.length, messages: bad.map(m => m.code + " " + m.pointer)}))
})`

// Check fails a test if a GLB breaks a rule, or if GLTF_VALIDATOR names a folder of npm modules and
// Khronos' gltf-validator in it reports an error.
func Check(t testing.TB, name string, glb []byte) {
	t.Helper()
	validate(t, name, glb, severityError)
}

// CheckClean is Check for files that must not have a warning either.
func CheckClean(t testing.TB, name string, glb []byte) {
	t.Helper()
	validate(t, name, glb, severityWarning)
}

func validate(t testing.TB, name string, glb []byte, severity int) {
	t.Helper()
	if wrong := Conform(glb); len(wrong) > 0 {
		t.Errorf("%s: %s", name, Summary(wrong))
	}
	modules := os.Getenv("GLTF_VALIDATOR")
	if modules == "" {
		return
	}
	modules, err := filepath.Abs(modules)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e", validatorScript, modules, strconv.Itoa(severity))
	cmd.Stdin = bytes.NewReader(glb)
	out, err := cmd.Output()
	var said struct {
		Faults   int
		Messages []string
	}
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil {
		t.Fatalf("gltf-validator of %s does not run: %v", modules, err)
	}
	if said.Faults > 0 {
		t.Errorf("%s: gltf-validator counts %d faults: %q", name, said.Faults, said.Messages)
	}
}
