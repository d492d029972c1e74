package s3

import (
	"net/http"
	"time"
)

// Sign signs a request.
func Sign(r *http.Request, id, secret, token, region, sum string, now time.Time) {
	keys{id, secret, token}.sign(r, region, sum, now)
}

// Address returns the address of an object in the bucket.
func (b *Bucket) Address(region, object string) string {
	return b.address(region, request{object: object}).String()
}
