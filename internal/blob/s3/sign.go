package s3

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// keys are credentials.
type keys struct{ id, secret, token string }

// findKeys returns the credentials of the environment, else of a profile in the file that
// Amazon's tools share.
func findKeys() (keys, error) {
	k := keys{os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN")}
	if k.id != "" && k.secret != "" {
		return k, nil
	}
	home, _ := os.UserHomeDir()
	file := cmp.Or(os.Getenv("AWS_SHARED_CREDENTIALS_FILE"), filepath.Join(home, ".aws", "credentials"))
	profile := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
	text, err := os.ReadFile(file)
	if k = readProfile(text, profile); k.id == "" || k.secret == "" {
		return k, errors.Join(fmt.Errorf("no credentials: set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "+
			"or both aws_access_key_id and aws_secret_access_key for the profile %s in %s", profile, file), err)
	}
	return k, nil
}

// readProfile reads the profile of a file with sections: "[name]", and lines of "key = value".
func readProfile(text []byte, profile string) keys {
	values, section := map[string]string{}, ""
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		line := strings.TrimSpace(s.Text())
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSpace(strings.TrimSuffix(name, "]"))
		} else if key, value, ok := strings.Cut(line, "="); ok && section == profile {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return keys{values["aws_access_key_id"], values["aws_secret_access_key"], values["aws_session_token"]}
}

// sign signs a request with all headers that it has and the SHA-256 of its body, by AWS Signature
// Version 4: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html.
func (k keys) sign(r *http.Request, region, sum string, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", stamp)
	r.Header.Set("X-Amz-Content-Sha256", sum)
	if k.token != "" {
		r.Header.Set("X-Amz-Security-Token", k.token)
	}
	values := map[string]string{"host": cmp.Or(r.Host, r.URL.Host)}
	for name := range r.Header {
		values[strings.ToLower(name)] = strings.TrimSpace(r.Header.Get(name))
	}
	names := slices.Sorted(maps.Keys(values))
	signed := strings.Join(names, ";")
	canonical := r.Method + "\n" + r.URL.EscapedPath() + "\n" + escapeQuery(r.URL.Query()) + "\n"
	for _, name := range names {
		canonical += name + ":" + values[name] + "\n"
	}
	canonical += "\n" + signed + "\n" + sum
	scope := []string{stamp[:8], region, "s3", "aws4_request"}
	place := strings.Join(scope, "/")
	digest := sha256.Sum256([]byte(canonical))
	text := "AWS4-HMAC-SHA256\n" + stamp + "\n" + place + "\n" + hex.EncodeToString(digest[:])
	signature := []byte("AWS4" + k.secret)
	for _, part := range append(scope, text) { // four make the key, the last the signature
		mac := hmac.New(sha256.New, signature)
		mac.Write([]byte(part))
		signature = mac.Sum(nil)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+k.id+"/"+place+", SignedHeaders="+signed+
		", Signature="+hex.EncodeToString(signature))
}

// escapeQuery and escapePath escape all bytes but letters, digits and "-._~", as the signature needs.
// A path keeps its slashes.
func escapeQuery(q url.Values) string { return strings.ReplaceAll(q.Encode(), "+", "%20") }

func escapePath(p string) string {
	return strings.NewReplacer("+", "%20", "%2F", "/").Replace(url.QueryEscape(p))
}
