import { ERROR_CATALOGUE, ERROR_HELP, type ErrorCode } from '@svc/contracts';
import { httpClient, type TestService } from '@svc/testing';
import { startIdentity } from '../../test/identity.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

describe('the error pages', () => {
  let test: TestService;

  beforeAll(async () => void (test = await startIdentity()));
  afterAll(() => test.stop());

  const open = async (url: string) => {
    const { statusCode: status, headers, body } = await test.service.app.inject({ method: 'GET', url });
    return { status, headers, body };
  };
  const textOf = (html: string): string =>
    html
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&');

  it.each(CODES)('explain %s: what it means, what to do, whether repeating helps, where it occurs', async (code) => {
    const { status, headers, body } = await open(`/errors/${code}`);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const text = textOf(body);
    const { meaning, steps, repeat, where } = ERROR_HELP[code];
    for (const each of [code, ERROR_CATALOGUE[code].message, meaning, repeat, where, ...steps.flat()])
      expect(text).toContain(each.replaceAll('`', ''));
  });

  it('are listed, each with its address', async () => {
    const { status, body } = await open('/errors');
    expect(status).toBe(200);
    for (const code of CODES) expect(body).toContain(`href="/errors/${code}"`);
  });

  it('have no script and no external resources, and may be cached', async () => {
    for (const path of ['/errors', '/errors/payable.paid']) {
      const { headers, body } = await open(path);
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$/,
      );
      expect(headers['cache-control']).toBe('public, max-age=3600');
      expect(body).not.toMatch(/<script|<link|<img|style="/);
    }
  });

  it.each(['/errors/nothing', '/errors/constructor', '/errors/payable.paid/x'])('are not at %s', async (path) => {
    const { status, body, headers } = await httpClient(test.service)('GET', path);
    expect([status, body.code]).toEqual([404, 'resource.not-found']);
    // Clients do not cache the 404 of a page that the next release may add.
    expect(headers['cache-control']).toBe('no-store');
  });
});

it.each<[Record<string, string>, string]>([
  [{}, '/errors/resource.not-found'],
  [{ SVC_ERROR_PAGES_URL: 'https://api.example/errors' }, 'https://api.example/errors/resource.not-found'],
])('with %j an error has the address %s, in its body and in its Link header', async (env, page) => {
  const test = await startIdentity({ env });
  const { headers, body } = await httpClient(test.service)('GET', '/nothing');
  expect([body.type, headers['link']]).toEqual([page, `<${page}>; rel="help"`]);
  const unreadable = await httpClient(test.service)('GET', '/%');
  expect(unreadable.body.type).toMatch(page.replace('resource.not-found', ''));
  await test.stop();
});
