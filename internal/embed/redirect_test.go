package embed

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Facts of every level are sent to the configured endpoint only. A redirect would forward them, so
// it counts as a failure.
func TestTextsFollowNoRedirect(t *testing.T) {
	strangers := 0
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers++ }))
	defer stranger.Close()
	home := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, stranger.URL, http.StatusTemporaryRedirect)
	}))
	defer home.Close()
	c, err := New(Config{URL: home.URL, Model: "m", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Embed(t.Context(), []string{"the keeper lies"}); err == nil || strangers != 0 {
		t.Errorf("%d requests went elsewhere; the error is %v", strangers, err)
	}
}
