import { pickSecurityHeaders, SERVICE_SECURITY_HEADERS, type TestService } from '@svc/testing';
import { startIdentity } from '../../test/identity.js';

let identity: TestService;
beforeAll(async () => void (identity = await startIdentity()));
afterAll(() => identity.stop());

test.each(['/reference', '/reference/partner.html'])(
  'the page %s of the reference allows only scripts and connections of this host, and may be cached for five minutes',
  async (url) => {
    const { statusCode, headers } = await identity.service.app.inject({ method: 'GET', url });
    expect(statusCode).toBe(200);
    expect(pickSecurityHeaders(headers)).toEqual({
      ...SERVICE_SECURITY_HEADERS,
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'cache-control': 'public, max-age=300',
    });
  },
);
