package blender

import (
	"context"

	"loregate/internal/sandbox"
	"loregate/internal/studio"
)

// ReadBlend returns the GLB form of a .blend file that intake accepted. It is opened in a process of its own, without its scripts.
func (a *Adapter) ReadBlend(ctx context.Context, dir string, data []byte) ([]byte, error) {
	folder, err := sandbox.OpenFolder(dir)
	if err != nil {
		return nil, studio.Fail(studio.IOFailed, "the folder for the file cannot be created").Because(err)
	}
	defer folder.Close()
	const file, out = "own.blend", "own.glb"
	if err := folder.Write(file, data); err != nil {
		return nil, studio.Fail(studio.IOFailed, "the file cannot be written").Because(err)
	}
	job := mustJSON(map[string]string{"file": folder.Path(file), "out": folder.Path(out)})
	if err := a.runScript(ctx, folder, convertScript, job); err != nil {
		return nil, err
	}
	glb, err := folder.Read(out, maxRead)
	if err != nil {
		return nil, studio.Fail(studio.ExecFailed, "Blender wrote no GLB of the .blend file").Because(err)
	}
	return glb, nil
}
