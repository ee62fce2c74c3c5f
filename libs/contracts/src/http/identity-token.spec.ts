import { SCOPES_OF, TOKEN_ALGORITHM, TOKEN_AUDIENCE, TOKEN_ISSUER, TOKEN_SECONDS } from './identity-token.js';

test('issuer, audience, algorithm and lifetime are those that verifiers expect (A2)', () => {
  expect([TOKEN_ISSUER, TOKEN_AUDIENCE, TOKEN_ALGORITHM, TOKEN_SECONDS]).toEqual([
    'urn:svc:identity',
    'urn:svc:api',
    'ES256',
    900,
  ]);
});

test('a customer has all scopes of a service except those to register and log in customers (A4)', () => {
  expect(SCOPES_OF.service).toEqual([
    'customers:write',
    'payments:read',
    'payments:write',
    'cards:write',
    'codes:read',
  ]);
  expect(SCOPES_OF.customer).toEqual(SCOPES_OF.service.filter((scope) => scope !== 'customers:write'));
});
