package blender

import (
	"context"
	"os"
	"path/filepath"

	"loregate/internal/studio"
)

// ReadBlend returns the GLB form of a .blend file. It is opened in a process of its own, without its scripts.
func (a *Adapter) ReadBlend(ctx context.Context, dir string, data []byte) ([]byte, error) {
	if !isBlend(data) {
		return nil, studio.Fail(studio.Validation, "path: the file is no .blend file")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, studio.Fail(studio.IOFailed, "the folder for the file cannot be created").Because(err)
	}
	file, out := filepath.Join(dir, "own.blend"), filepath.Join(dir, "own.glb")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return nil, studio.Fail(studio.IOFailed, "the file cannot be written").Because(err)
	}
	if err := a.runScript(ctx, dir, convertScript, mustJSON(map[string]string{"file": file, "out": out})); err != nil {
		return nil, err
	}
	glb, err := os.ReadFile(out)
	if err != nil {
		return nil, studio.Fail(studio.ExecFailed, "Blender wrote no GLB of the .blend file").Because(err)
	}
	return glb, nil
}
