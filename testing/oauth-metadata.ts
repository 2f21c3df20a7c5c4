/** What a server that wants a login says of itself, by the beginning of its paths: where to log in, and how. */
export function oauthMetadata(own: string) {
  return {
    '/.well-known/oauth-protected-resource': { resource: `${own}/mcp`, authorization_servers: [own] },
    '/.well-known/oauth-authorization-server': {
      issuer: own,
      authorization_endpoint: `${own}/authorize`,
      token_endpoint: `${own}/token`,
      registration_endpoint: `${own}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    },
  };
}
