import type { Administration } from '../../administration-api/administration.ts';
import { findCommand } from '../admin.ts';
import { readInput } from '../command.ts';

const KEY = { keyId: '019ca8d7-2d00-76fa-a435-7649921434cf', mode: 'live', prefix: 'svc_live_site_abc123' };

/** Prepares a command line with an API that has these responses and records the requests. */
function prepare(line: string, responses: Record<string, unknown>) {
  const args = line.split(' ');
  const command = findCommand(args);
  const input = readInput(command, args.slice(2));
  const requests: string[] = [];
  const api: Administration = {
    call: async (method, path) => {
      requests.push(`${method} ${path}`);
      return responses[`${method} ${path}`];
    },
    text: () => Promise.reject(new Error('not called')),
    upload: () => Promise.reject(new Error('not called')),
  };
  return { run: () => command.run(api, input), remark: () => command.remark?.(api, input), requests };
}

describe('keys revoke', () => {
  const keysPath = '/merchants/1001/sites/5001/keys';

  it('prints which key was revoked, and when this takes effect', async () => {
    const { run, requests } = prepare(`keys revoke 1001/5001 ${KEY.keyId.toUpperCase()}`, {
      [`GET ${keysPath}`]: { keys: [{ ...KEY, keyId: 'another', prefix: 'svc_live_site_other' }, KEY] },
    });
    expect(await run()).toBe(
      `The live key svc_live_site_abc123… (${KEY.keyId}) of 1001/5001 is revoked. All services refuse it within 5 s.`,
    );
    expect(requests).toEqual([`DELETE ${keysPath}/${KEY.keyId.toUpperCase()}`, `GET ${keysPath}`]);
  });

  it('prints the id of a key that is too old for the list', async () => {
    const { run, requests } = prepare('keys revoke 1001/5001 ../x', { [`GET ${keysPath}`]: { keys: [KEY] } });
    expect(await run()).toBe('The key ../x of 1001/5001 is revoked. All services refuse it within 5 s.');
    expect(requests[0]).toBe(`DELETE ${keysPath}/..%2Fx`);
  });

  it('prints the key with --json', async () => {
    const { run } = prepare(`keys revoke 1001/5001 ${KEY.keyId} --json`, { [`GET ${keysPath}`]: { keys: [KEY] } });
    expect(await run()).toEqual(KEY);
  });
});

describe('keys create', () => {
  const ACCOUNTS = 'GET /merchant-accounts?merchantId=1';

  it('remarks with --live that no acquirer for live payments is configured', async () => {
    const { remark } = prepare('keys create 1001 --live', { [ACCOUNTS]: { acquirers: { test: ['a'], live: [] } } });
    expect(await remark()).toBe(
      'No acquirer for live payments is configured (SVC_ACQUIRER_LIVE): live payments are refused until there is one. See docs/go-live.md.',
    );
  });

  it('remarks nothing if there is an acquirer for live payments, and for a test key', async () => {
    const live = prepare('keys create 1001 --live', { [ACCOUNTS]: { acquirers: { test: [], live: ['adyen'] } } });
    expect(await live.remark()).toBeUndefined();
    const test = prepare('keys create 1001', {});
    expect([await test.remark(), test.requests]).toEqual([undefined, []]);
  });
});
