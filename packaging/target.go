package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// target is a system and a processor, in Go's names.
type target struct{ os, arch string }

var allTargets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows",
		"arm64"},
}

func (t target) String() string { return t.os + "/" + t.arch }

// programName returns the file name of the program on the target.
func (t target) programName() string {
	if t.os == "windows" {
		return "loregate.exe"
	}
	return "loregate"
}

// parseTargets reads a list such as linux/amd64,darwin/arm64. The empty list means all targets.
func parseTargets(list string) ([]target, error) {
	if list == "" {
		return allTargets, nil
	}
	var out []target
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(allTargets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-targets: there is no target %q; the targets are %v", name, allTargets)
		}
		out = append(out, allTargets[i])
	}
	return out, nil
}

// compile builds the program for a target.
func (r release) compile(ctx context.Context, t target, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w", "-o", program, "./cmd/loregate")
	cmd.Dir = r.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOFLAGS=")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build for %s: %w", t, err)
	}
	return nil
}
