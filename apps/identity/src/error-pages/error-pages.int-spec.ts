import { createHash } from 'node:crypto';
import { ERROR_CATALOGUE, ERROR_HELP, type ErrorCode } from '@svc/contracts';
import { httpClient, pickSecurityHeaders, SERVICE_SECURITY_HEADERS, type TestService } from '@svc/testing';
import { startIdentity } from '../../test/identity.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

describe('the error pages', () => {
  let identity: TestService;

  beforeAll(async () => void (identity = await startIdentity()));
  afterAll(() => identity.stop());

  const openPage = async (url: string) => {
    const { statusCode: status, headers, body } = await identity.service.app.inject({ method: 'GET', url });
    return { status, headers, body };
  };
  const extractText = (html: string): string =>
    html
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');

  it.each(CODES)(
    'explain the meaning of %s, the steps to solve it, whether a retry helps, and where it occurs',
    async (code) => {
      const { status, headers, body } = await openPage(`/errors/${code}`);
      expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      const text = extractText(body);
      const { meaning, steps, repeat, where } = ERROR_HELP[code];
      for (const expectedText of [code, ERROR_CATALOGUE[code].message, meaning, repeat, where, ...steps.flat()])
        expect(text).toContain(expectedText.replaceAll('`', ''));
    },
  );

  it('are all linked on the list page', async () => {
    const { status, body } = await openPage('/errors');
    expect(status).toBe(200);
    for (const code of CODES) expect(body).toContain(`href="/errors/${code}"`);
  });

  it('contain no script and no external resources, and may be cached for an hour', async () => {
    for (const path of ['/errors', '/errors/payable.paid']) {
      const { headers, body } = await openPage(path);
      const style = /<style>(.*?)<\/style>/s.exec(body)?.[1] ?? '';
      const styleHash = createHash('sha256').update(style).digest('base64');
      expect(pickSecurityHeaders(headers)).toEqual({
        ...SERVICE_SECURITY_HEADERS,
        'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
        'cache-control': 'public, max-age=3600',
      });
      expect(body).not.toMatch(/<script|<link|<img|style="/);
    }
  });

  it.each(['/errors/nothing', '/errors/constructor', '/errors/payable.paid/x'])(
    'do not include %s, so the response is a 404',
    async (path) => {
      const { status, body, headers } = await httpClient(identity.service)('GET', path);
      expect([status, body.code]).toEqual([404, 'resource.not-found']);
      // Clients must not cache this 404, because the next release may add the page.
      expect(headers['cache-control']).toBe('no-store');
    },
  );
});

it.each<[Record<string, string>, string]>([
  [{}, '/errors/resource.not-found'],
  [{ SVC_ERROR_PAGES_URL: 'https://api.example/errors' }, 'https://api.example/errors/resource.not-found'],
])(
  'with the environment %j, the body and the Link header of an error response contain the address %s of a help page',
  async (env, address) => {
    const identity = await startIdentity({ env });
    const { headers, body } = await httpClient(identity.service)('GET', '/nothing');
    expect([body.type, headers['link']]).toEqual([address, `<${address}>; rel="help"`]);
    const malformedUrl = await httpClient(identity.service)('GET', '/%');
    expect(malformedUrl.body.type).toMatch(address.replace('resource.not-found', ''));
    await identity.stop();
  },
);
