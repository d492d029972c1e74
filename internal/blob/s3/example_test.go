package s3_test

import (
	"fmt"

	"loregate/internal/blob/s3"
)

func ExampleNew() {
	_, err := s3.New(s3.Config{URL: "https://bucket.example"})
	fmt.Println(err)
	// Output: validation_error: files.url: write s3://bucket or s3://bucket/prefix
}
