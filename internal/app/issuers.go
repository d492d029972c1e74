package app

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v4"

	"loregate/internal/access"
	"loregate/internal/identity"
	"loregate/internal/slicesx"
)

// Issuers are outside issuers of tokens. In the file they are a list; in an environment variable,
// the same list as YAML or JSON.
type Issuers []Issuer

// Issuer configures an outside issuer; identity.Issuer explains the fields. docs/config.md is
// generated from the doc tags.
type Issuer struct {
	Name         string            `yaml:"name" doc:"Name of the issuer in one word, such as entra. Its users are the subjects entra:… here, also in memberships and labels."`
	Issuer       string            `yaml:"issuer" doc:"The exact iss claim of its tokens. Its keys are found by its OpenID configuration. Only https, except on loopback."`
	Audience     commaOrList       `yaml:"audience" doc:"The aud claim: the name under which this server is registered with the issuer. With a list, any of them."`
	JWKSURL      string            `yaml:"jwks_url" doc:"Address of its key set, if it has no OpenID configuration."`
	Algorithms   commaOrList       `yaml:"algorithms" doc:"RS256 or ES256. Empty: both. Others are not accepted."`
	SubjectClaim string            `yaml:"subject_claim" doc:"Claim with the subject; default sub. A name, or a JSON pointer such as /realm_access/roles."`
	RolesClaim   string            `yaml:"roles_claim" doc:"Claim with the values that the setting roles maps; default roles. A list of texts, or one text of words with spaces between them."`
	Roles        map[string]string `yaml:"roles" doc:"Role for each value: user, gm or admin, or gm@world for one world."`
	Everyone     string            `yaml:"everyone" doc:"Role that every valid token gives. Empty: none."`
	MaxRole      string            `yaml:"max_role" doc:"Highest role that a token can give. Default: user."`
	Worlds       commaOrList       `yaml:"worlds" doc:"Worlds in which roles without a world are valid. Empty: the worlds that the subject is a member of."`
	WorldClaim   string            `yaml:"world_claim" doc:"Claim with the world or worlds of a token. Empty: a token is valid for all worlds that its roles open."`
	Actor        string            `yaml:"actor" doc:"person or ai; default ai. Neither can approve proposals or be the operator."`
	Surfaces     commaOrList       `yaml:"surfaces" doc:"Surfaces that its tokens open. Empty: all."`
	RateClass    string            `yaml:"rate_class" doc:"Profile of rate limits for its users. Empty: the default one."`
	ClientID     string            `yaml:"client_id" doc:"Client id of the pages at the issuer. With it, people sign in to the pages by the issuer; public_url must be set."`
	SecretEnv    string            `yaml:"client_secret_env" doc:"Environment variable that contains the client's secret. Empty, without client_secret_file: a public client."`
	SecretFile   string            `yaml:"client_secret_file" doc:"File that contains the client's secret. Use it instead of client_secret_env."`
	Scopes       commaOrList       `yaml:"scopes" doc:"Scopes that a sign-in asks for in addition to openid, so that the ID token has the claims above."`
	Label        string            `yaml:"label" doc:"Name of the issuer on the pages, such as Keycloak. Default: name."`
}

// commaOrList is a list that may be written as one text with commas.
type commaOrList []string

// UnmarshalYAML reads one text or a list.
func (l *commaOrList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*l = commaList(n.Value)
		return nil
	}
	return n.Decode((*[]string)(l))
}

// UnmarshalYAML reads a list of issuers and refuses unknown keys.
func (l *Issuers) UnmarshalYAML(n *yaml.Node) error {
	known := map[string]bool{}
	for i := range reflect.TypeFor[Issuer]().NumField() {
		known[reflect.TypeFor[Issuer]().Field(i).Tag.Get("yaml")] = true
	}
	if n.Kind != yaml.SequenceNode {
		return errors.New("must be a list of issuers; docs/config.md has an example")
	}
	for _, one := range n.Content {
		for i := 0; one.Kind == yaml.MappingNode && i+1 < len(one.Content); i += 2 {
			if key := one.Content[i]; !known[key.Value] {
				return fmt.Errorf("line %d: an issuer has no %q; did you mean %q? See docs/config.md", key.Line, key.Value,
					nearest(key.Value, known))
			}
		}
	}
	return n.Decode((*[]Issuer)(l))
}

// String returns the names of the issuers.
func (l Issuers) String() string {
	names := slicesx.Map(l, func(one Issuer) string { return one.Name })
	return strings.Join(names, ", ")
}

// readText reads the list from the value of an environment variable.
func (l *Issuers) readText(text string) error {
	*l = nil
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return yaml.Unmarshal([]byte(text), l)
}

// toIdentity converts the issuers for package identity.
func (l Issuers) toIdentity() ([]identity.Issuer, error) {
	var all []identity.Issuer
	for n, i := range l {
		made, err := i.toIdentity()
		if err != nil {
			return nil, fmt.Errorf("issuers: %d, %q: %w", n+1, i.Name, err)
		}
		all = append(all, made)
	}
	return all, nil
}

func (i Issuer) toIdentity() (o identity.Issuer, err error) {
	o = identity.Issuer{Name: i.Name, Issuer: i.Issuer, Audiences: i.Audience, KeysURL: i.JWKSURL,
		Algorithms:   i.Algorithms,
		SubjectClaim: i.SubjectClaim, RolesClaim: i.RolesClaim, WorldClaim: i.WorldClaim, Worlds: i.Worlds,
		Actor: access.Actor(i.Actor), Surfaces: i.Surfaces, RateClass: i.RateClass, Grants: map[string]identity.RoleGrant{},
		SignIn: identity.SignIn{ClientID: i.ClientID, Scopes: i.Scopes, Label: i.Label}}
	if i.SecretEnv != "" && i.SecretFile != "" {
		return o, errors.New("client_secret_file: set only one of client_secret_env and client_secret_file")
	}
	if o.Everyone, err = roleOr(i.Everyone, access.RoleNone); err != nil {
		return o, fmt.Errorf("everyone: %w", err)
	}
	if o.MaxRole, err = roleOr(i.MaxRole, access.RoleUser); err != nil {
		return o, fmt.Errorf("max_role: %w", err)
	}
	for value, text := range i.Roles {
		role, world, named := strings.Cut(text, "@")
		r, err := roleOr(role, access.RoleNone)
		if err != nil || r == access.RoleNone || named && world == "" {
			return o, fmt.Errorf("roles: %q gives %q; write user, gm or admin, or gm@world", value, text)
		}
		o.Grants[value] = identity.RoleGrant{Role: r, World: world}
	}
	return o, nil
}

// readSecrets reads the secrets of the clients into the issuers that toIdentity made.
func (l Issuers) readSecrets(all []identity.Issuer) error {
	for n, i := range l {
		secret, err := readSecret(secretSource{i.SecretEnv, i.SecretFile, "client_secret_env", "client_secret_file"})
		if err != nil {
			return fmt.Errorf("issuers: %d, %q: %w", n+1, i.Name, err)
		}
		all[n].SignIn.ClientSecret = secret
	}
	return nil
}

func roleOr(text string, fallback access.Role) (access.Role, error) {
	if text == "" {
		return fallback, nil
	}
	r, ok := access.ParseRole(text)
	if !ok || r == access.RoleNone {
		return r, fmt.Errorf("%q is not a role; write user, gm or admin", text)
	}
	return r, nil
}
