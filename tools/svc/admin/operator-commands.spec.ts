import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Administration } from '../administration-api/administration.ts';
import { pathsOf, readSettings } from '../settings/settings.ts';
import { admin, findCommand } from './admin.ts';
import { readInput } from './command.ts';

const ID = '019ca8d7-25ab-777e-8b20-51e25d3ed4e3';

it.each([
  ['operators invite a@b.example', 'POST /operators {"email":"a@b.example","role":"viewer"}'],
  ['operators invite a@b.example --role=operator', 'POST /operators {"email":"a@b.example","role":"operator"}'],
  [`operators change ${ID} operator`, `PATCH /operators/${ID} {"role":"operator"}`],
  ['operator-keys create a@b.example', 'POST /operator-keys {"email":"a@b.example","role":"viewer","days":30}'],
  [
    'operator-keys create a@b.example --role=operator --days=7',
    'POST /operator-keys {"email":"a@b.example","role":"operator","days":7}',
  ],
])('./svc admin %s', async (line, request) => {
  const requests: string[] = [];
  const call: Administration['call'] = (method, path, body) => {
    requests.push([method, path, JSON.stringify(body)].join(' '));
    return Promise.resolve({});
  };
  const args = line.split(' ');
  const command = findCommand(args);
  await command.run({ call } as Administration, readInput(command, args.slice(2)));
  expect(requests).toEqual([request]);
});

describe('the key of ./svc admin', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-admin-'));
  const settings = readSettings(folder, {}, folder);
  const keySent = async (env: NodeJS.ProcessEnv): Promise<unknown> => {
    const fetched = jest
      .spyOn(globalThis, 'fetch')
      .mockResolvedValue(new Response('{"operators":[],"invitations":[]}'));
    const printed = jest.spyOn(console, 'log').mockReturnValue();
    await admin(settings, ['operators', 'list', '--json'], env).finally(() => printed.mockRestore());
    const headers = fetched.mock.calls[0]![1]!.headers as Record<string, string>;
    fetched.mockRestore();
    return headers['x-admin-key'];
  };
  mkdirSync(dirname(pathsOf(settings).secrets), { recursive: true });
  writeFileSync(pathsOf(settings).secrets, JSON.stringify({ adminKey: 'shared of the folder' }));

  it.each([
    [{}, 'shared of the folder'],
    [{ SVC_OPERATOR_KEY: '' }, 'shared of the folder'],
    [{ SVC_OPERATOR_KEY: 'own' }, 'own'],
    [{ SVC_ADMIN_URL: 'http://a', SVC_ADMIN_KEY: 'shared' }, 'shared'],
    [{ SVC_ADMIN_URL: 'http://a', SVC_ADMIN_KEY: 'shared', SVC_OPERATOR_KEY: 'own' }, 'own'],
  ])('with the environment %j is %s', async (env, key) => {
    expect(await keySent(env)).toBe(key);
  });

  it('is required for another platform', async () => {
    await expect(keySent({ SVC_ADMIN_URL: 'http://a' })).rejects.toThrow('set SVC_OPERATOR_KEY too');
  });
});
