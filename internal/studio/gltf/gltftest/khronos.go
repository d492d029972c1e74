package gltftest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// validatorScript runs Khronos' validator on the file on standard input.
const validatorScript = `const v = require(process.argv[1] + "/gltf-validator"), b = []
process.stdin.on("data", d => b.push(d)).on("end", async () => {
  const r = await v.validateBytes(new Uint8Array(Buffer.concat(b)), {maxIssues: 20, severityOverrides: {}})
  console.log(JSON.stringify({errors: r.issues.numErrors, messages: r.issues.messages.filter(m => m.severity === 0).map(m => m.code + " " + m.pointer)}))
})`

// Check fails a test if a GLB breaks a rule, or if GLTF_VALIDATOR names a folder of npm modules and
// Khronos' gltf-validator in it reports an error.
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
		Errors   int
		Messages []string
	}
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil {
		t.Fatalf("gltf-validator of %s does not run: %v", modules, err)
	}
	if said.Errors > 0 {
		t.Errorf("%s: gltf-validator counts %d errors: %q", name, said.Errors, said.Messages)
	}
}
