package sqlstore_test

import (
	"fmt"

	"loregate/internal/store/sqlstore"
)

func ExampleUpsert() {
	fmt.Println(sqlstore.Upsert("members", 2, "w, subject, role"))
	// Output: INSERT INTO members (w, subject, role) VALUES ($1, $2, $3) ON CONFLICT (w, subject) DO UPDATE SET role = $3
}
