package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"

	"loregate/internal/sandbox"
)

// A program writes into its folder, from which its files are read.
func Example() {
	dir, err := os.MkdirTemp("", "job-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	folder, err := sandbox.OpenFolder(dir)
	if err != nil {
		panic(err)
	}
	defer folder.Close()

	cmd := exec.Command("/bin/sh", "-c", `[ "$HOME" = "$PWD" ] && echo at home >out.txt`)
	if err := sandbox.New(sandbox.Config{}).Confine(cmd, dir); err != nil {
		panic(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(fmt.Sprint(err, string(out)))
	}
	text, err := folder.Read("out.txt", 100)
	fmt.Printf("%s%v\n", text, err)
	// Output:
	// at home
	// <nil>
}
