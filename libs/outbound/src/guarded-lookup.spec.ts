import { Resolver } from 'node:dns/promises';
import { AddressRefusedError, createResolver, guardedLookup } from './guarded-lookup.js';

const PRODUCTION = { allowLoopback: false, plain: false };

type LookupResult = string | { address: string; family: number }[];

function lookUp(addresses: string[] | Error, all: boolean, policy = PRODUCTION): Promise<LookupResult> {
  const resolve = (): Promise<string[]> =>
    addresses instanceof Error ? Promise.reject(addresses) : Promise.resolve(addresses);
  return new Promise((resolveLookup, rejectLookup) =>
    guardedLookup(resolve, policy)('shop.example', { all }, (error, address) =>
      error ? rejectLookup(error) : resolveLookup(address),
    ),
  );
}

describe('the lookup of a host name', () => {
  it('returns the addresses that were checked', async () => {
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
  ])('fails if one of the addresses %j is refused: %s', async (addresses, refusal) => {
    for (const all of [true, false])
      await expect(lookUp(addresses, all)).rejects.toMatchObject({ name: 'AddressRefused', refusal });
  });

  it('may return a loopback address in development, and without TLS only a loopback address', async () => {
    expect(await lookUp(['127.0.0.1'], false, { allowLoopback: true, plain: true })).toBe('127.0.0.1');
    await expect(lookUp(['8.8.8.8'], false, { allowLoopback: true, plain: true })).rejects.toBeInstanceOf(
      AddressRefusedError,
    );
  });

  it('fails if the name has no address or cannot be resolved', async () => {
    await expect(lookUp([], true)).rejects.toThrow('no address');
    await expect(
      lookUp(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' }), true),
    ).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it.each(['localhost', 'LOCALHOST.', 'shop.localhost'])(
    'returns the loopback addresses for %s, without a DNS query',
    async (name) => {
      expect(await createResolver()(name)).toEqual(['127.0.0.1', '::1']);
    },
  );
});

describe('a resolver', () => {
  const notFound = Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
  const mockNameServers = (v4: string[] | Error, v6: string[] | Error): void => {
    const spies = [jest.spyOn(Resolver.prototype, 'resolve4'), jest.spyOn(Resolver.prototype, 'resolve6')];
    for (const [index, answer] of [v4, v6].entries())
      spies[index]!.mockImplementation(() =>
        answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer),
      );
  };
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['with IPv4 and IPv6 addresses', ['8.8.8.8'], ['2606:4700::1'], ['8.8.8.8', '2606:4700::1']],
    ['with only IPv4 addresses', ['8.8.8.8'], notFound, ['8.8.8.8']],
    ['with only IPv6 addresses', notFound, ['2606:4700::1'], ['2606:4700::1']],
  ])('returns the addresses of a name %s', async (_, v4, v6, addresses) => {
    mockNameServers(v4, v6);
    expect(await createResolver()('shop.example.')).toEqual(addresses);
  });

  it.each([
    ['that does not exist', notFound, notFound, 'ENOTFOUND'],
    ['that has no addresses', [], notFound, 'no address'],
  ])('throws an error for a name %s', async (_, v4, v6, reason) => {
    mockNameServers(v4, v6);
    await expect(createResolver()('shop.example')).rejects.toThrow(reason);
  });
});
