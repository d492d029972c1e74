package disk_test

import (
	"errors"
	"fmt"
	"os"

	"loregate/internal/disk"
	"loregate/internal/fault"
)

// Work that would fill the disk is refused before it writes anything.
func ExampleNeed() {
	err := disk.Need(os.TempDir(), 1<<62, "the backup")
	fmt.Println(errors.Is(err, fault.Unavailable), disk.Need(os.TempDir(), 0, "the backup"))
	// Output: true <nil>
}
