/** On-boarding with the commands of its guide, from an empty platform to a first payment. */
import { join } from 'node:path';
import { preparePayRequest, sendPayRequest } from './callers/payer.js';
import { documentedBlocks } from './platform/documented.js';
import { type Platform, ROOT, run } from './platform/platform.js';
import { sharedPlatform } from './platform/shared-platform.js';

/** All pages, because other tests use the same platform. */
async function readAuditLog(platform: Platform): Promise<string> {
  let log = '';
  for (let after: string | undefined = '0'; after !== undefined;) {
    const { code, output }: Awaited<ReturnType<Platform['svc']>> = await platform.svc(
      'admin',
      'audit-log',
      'read',
      '--after',
      after,
    );
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
    log += output;
    after = [...output.matchAll(/^(\d+) /gm)].at(-1)?.[1];
  }
  return log;
}

describe('on-boarding', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await sharedPlatform('embedded');
  });

  it.each(['the first time', 'the second time'])(
    'the commands of the guide work %s, and the first payment succeeds',
    async () => {
      const [block] = documentedBlocks('on-boarding');
      const ran = await run('bash', ['-euo', 'pipefail', '-c', block!], platform.env());
      expect(ran).toMatchObject({ code: 0 });
      const { output } = ran;

      // The output says that each secret is shown only once. The audit log names every change and shows no secret.
      for (const secret of ['apiKey is', 'apiToken is', 'webhookSecrets are'])
        expect(output).toContain(`The ${secret} shown only once.`);
      expect(output).toMatch(/^entry +\w+ +action/m);
      const log = await readAuditLog(platform);
      for (const action of ['merchant.created', 'site.created', 'api-key.created', 'webhook-secret.created'])
        expect(log).toContain(action);
      for (const action of ['organisation.created', 'partner-key.created', 'api-token.created', 'merchant.changed'])
        expect(log).toContain(action);
      expect(log).not.toMatch(/svc_test_(partner|site|token)_[A-Za-z0-9_-]{43}|whsec_/);

      const registered = JSON.parse(/\{"customerReference".*\}/.exec(output)![0]) as Record<string, string>;
      const loggedIn = JSON.parse(/\{"identityToken".*\}/.exec(output)![0]) as Record<string, unknown>;
      expect(loggedIn['customer']).toEqual({ id: registered['customerReference'], firstName: 'Ayesha', lastName: '' });

      const { redirectUrl } = JSON.parse(/\{"sessionId".*\}/.exec(output)![0]) as { redirectUrl: string };
      expect(await sendPayRequest(platform.demo.gatewayUrl, await preparePayRequest(redirectUrl))).toMatchObject({
        state: 'succeeded',
      });
    },
  );

  it('demo.json has the demo partner and its customers, and they can log in', async () => {
    const { apiUrl, partner, customers } = platform.demo;
    const post = async (path: string, body: object, token = '') => {
      const headers = {
        'content-type': 'application/json',
        'x-api-key': partner.apiKey,
        authorization: `Bearer ${token}`,
      };
      const answer = await fetch(`${apiUrl}/v1/auth/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(answer.status).toBe(200);
      return (await answer.json()) as { identityToken: string; customer?: { id: string } };
    };
    const { organisationId, apiToken } = partner;
    const { identityToken } = await post('service/login', { organisationId, apiToken });
    const [header = ''] = identityToken.split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
    const jwks = (await (await fetch(`${apiUrl}/.well-known/jwks.json`)).json()) as { keys: object[] };
    expect(jwks.keys).toEqual([expect.objectContaining({ kid, alg: 'ES256', use: 'sig' })]);
    expect(customers).toHaveLength(2);
    for (const { email, password, customerReference } of customers)
      expect((await post('customers/login', { email, password }, identityToken)).customer?.id).toBe(customerReference);
    const before = platform.demo;
    expect((await platform.svc('up', '-d')).code).toBe(0);
    expect(platform.demo).toEqual(before);
  });

  it.each<[string[], number, RegExp]>([
    [['admin'], 0, /usage: \.\/svc admin <command>/],
    [['admin', 'keys'], 2, /there is "keys create"/],
    [['admin', 'shops', 'list'], 2, /no command "admin shops"/],
    [['admin', 'keys', 'create'], 2, /usage: \.\/svc admin keys create <owner>/],
    [['admin', 'keys', 'create', 'nobody'], 2, /is not an owner of keys/],
    [['admin', 'keys', 'create', '9'], 1, /refused \(404\): There is no merchant 9\./],
    [['admin', 'merchants', 'create', ''], 1, /refused \(400\): name must be text/],
    [['admin', 'features', 'set', '1001', 'tip=true'], 2, /is not feature\.member=value/],
    [['admin', 'features', 'set', '1001', 'tip.enabled=perhaps'], 1, /features\.tip\.enabled must be a boolean/],
    [['admin', 'merchants', 'list', '--nonsense'], 2, /--nonsense/],
    [['admin', 'merchants', 'show', '1001', '--print', 'colour'], 1, /has no "colour"/],
  ])('./svc with the arguments %j prints its usage or explains the error', async (args, code, message) => {
    const command = await platform.svc(...args);
    expect(command.output).toMatch(message);
    expect(command.code).toBe(code);
    // The usage has many lines; the error has one.
    expect(command.output.trim().split('\n').length > 1).toBe(code === 0);
  });

  it('./svc admin uses the platform in its environment variables, and reports a refused key or a missing server', async () => {
    const other = { ...platform.env(), SVC_ADMIN_URL: platform.demo.adminUrl, SVC_ADMIN_KEY: 'not the key of anybody' };
    const call = (env: NodeJS.ProcessEnv) => run(join(ROOT, 'svc'), ['admin', 'merchants', 'list'], env);
    expect((await call(other)).output).toContain('the administration key is refused');
    const right = { ...other, SVC_ADMIN_KEY: platform.demo.adminKey };
    expect((await call(right)).output).toContain('Karoo Roastery');
    expect((await call({ ...right, SVC_ADMIN_URL: 'http://127.0.0.1:9' })).output).toContain('does not answer');
    expect((await call({ ...right, SVC_ADMIN_KEY: '' })).output).toContain('set SVC_OPERATOR_KEY too');
  });
});
