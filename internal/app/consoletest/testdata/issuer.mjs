// Serves oidc-provider, a certified OpenID provider, for a test: node issuer.mjs MODULE PORT REDIRECT. Every name is an
// account, and a member of the group masters. On standard output it says when it listens.
const [module, port, redirect] = process.argv.slice(2);
const { default: Provider } = await import(module);
const provider = new Provider(`http://localhost:${port}`, {
  clients: [{
    client_id: "pages", client_secret: "s/cret+of_the_pages", redirect_uris: [redirect], response_types: ["code"],
    grant_types: ["authorization_code"],
  }],
  claims: { openid: ["sub"], groups: ["roles"] },
  conformIdTokenClaims: false,
  cookies: { keys: ["of a test"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, roles: ["masters"] }) }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
