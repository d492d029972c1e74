package gltftest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// validatorScript runs Khronos' validator on the file on standard input. The severities 0 and 1 are errors
// and warnings.
const validatorScript = `const v = require(process.argv[1] + "/gltf-validator"), b = []
process.stdin.on("data", d => b.push(d)).on("end", async () => {
  const r = await v.validateBytes(new Uint8Array(Buffer.concat(b)), {maxIssues: 0})
  const bad = r.issues.messages.filter(m => m.severity < 2)
  console.log(JSON.stringify({faults: bad.length, messages: bad.slice(0, 20).map(m => m.code + " " + m.pointer)}))
})`

// Check fails a test if a GLB breaks a rule, or if GLTF_VALIDATOR names a folder of npm modules and
// Khronos' gltf-validator in it reports an error or a warning.
func Check(t testing.TB, name string, glb []byte) {
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
	cmd := exec.CommandContext(t.Context(), "node", "-e", validatorScript, modules)
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
