import { Resolver } from 'node:dns/promises';
import { AddressRefusedError, guardedConnector, guardedLookup, resolveWith } from './guarded-connector.js';

const PRODUCTION = { allowLoopback: false, plain: false };

type Found = string | { address: string; family: number }[];

function lookUp(addresses: string[] | Error, all: boolean, policy = PRODUCTION): Promise<Found> {
  const resolve = (): Promise<string[]> =>
    addresses instanceof Error ? Promise.reject(addresses) : Promise.resolve(addresses);
  return new Promise((found, failed) =>
    guardedLookup(resolve, policy)('shop.example', { all }, (error, address) =>
      error ? failed(error) : found(address),
    ),
  );
}

describe('a name', () => {
  it('is connected only to the addresses that were checked', async () => {
    expect(await lookUp(['8.8.8.8', '2606:4700::1'], true)).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ]);
    expect(await lookUp(['8.8.8.8', '2606:4700::1'], false)).toBe('8.8.8.8');
  });

  it.each([
    [['127.0.0.1'], 'loopback'],
    [['8.8.8.8', '10.0.0.1'], 'private'],
    [['169.254.169.254', '8.8.8.8'], 'link-local'],
    [['8.8.8.8', '::ffff:127.0.0.1'], 'ipv4-in-ipv6'],
  ])('with the addresses %j is refused: %s', async (addresses, refusal) => {
    for (const all of [true, false])
      await expect(lookUp(addresses, all)).rejects.toMatchObject({ name: 'AddressRefused', refusal });
  });

  it('in development may resolve to loopback, and without TLS only to loopback', async () => {
    expect(await lookUp(['127.0.0.1'], false, { allowLoopback: true, plain: true })).toBe('127.0.0.1');
    await expect(lookUp(['8.8.8.8'], false, { allowLoopback: true, plain: true })).rejects.toBeInstanceOf(
      AddressRefusedError,
    );
  });

  it('is refused if it has no address or cannot be resolved', async () => {
    await expect(lookUp([], true)).rejects.toThrow('no address');
    await expect(
      lookUp(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }), true),
    ).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it.each(['localhost', 'LOCALHOST.', 'shop.localhost'])('%s is loopback, without a DNS query', async (name) => {
    expect(await resolveWith()(name)).toEqual(['127.0.0.1', '::1']);
  });
});

describe('the name servers', () => {
  const unknown = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
  const answers = (v4: string[] | Error, v6: string[] | Error): void => {
    const spies = [jest.spyOn(Resolver.prototype, 'resolve4'), jest.spyOn(Resolver.prototype, 'resolve6')];
    for (const [at, answer] of [v4, v6].entries())
      spies[at]!.mockImplementation(() => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)));
  };
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['both families', ['8.8.8.8'], ['2606:4700::1'], ['8.8.8.8', '2606:4700::1']],
    ['IPv4 alone', ['8.8.8.8'], unknown, ['8.8.8.8']],
    ['IPv6 alone', unknown, ['2606:4700::1'], ['2606:4700::1']],
  ])('that resolve a name in %s return its addresses', async (_, v4, v6, addresses) => {
    answers(v4, v6);
    expect(await resolveWith()('shop.example.')).toEqual(addresses);
  });

  it.each([
    ['that do not know a name', unknown, unknown, 'ENOTFOUND'],
    ['that know a name without addresses', [], unknown, 'no address'],
  ])('%s cause an error with the reason', async (_, v4, v6, reason) => {
    answers(v4, v6);
    await expect(resolveWith()('shop.example')).rejects.toThrow(reason);
  });
});

describe('a connection to a literal address', () => {
  it.each(['127.0.0.1', '::1', '[::1]', '10.0.0.1', '169.254.169.254'])(
    '%s is refused even without a DNS query',
    (hostname) => {
      const connect = guardedConnector({
        policy: { allowLoopback: false },
        connectTimeoutMs: 1_000,
        resolve: () => Promise.reject(new Error('not asked')),
      });
      const callback = jest.fn();
      connect({ hostname, protocol: 'https:', port: '443' }, callback);
      expect(callback).toHaveBeenCalledWith(expect.any(AddressRefusedError), null);
    },
  );
});
