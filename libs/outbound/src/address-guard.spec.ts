import fc from 'fast-check';
import { LOOPBACK, REFUSED } from '../test/refused-addresses.js';
import { type AddressRefusal, checkAddress, checkUrl } from './address-guard.js';

const PRODUCTION = { allowLoopback: false };
const DEVELOPMENT = { allowLoopback: true };

const ACCEPTED = [
  'https://shop.example/hooks?a=b',
  'https://SHOP.example/',
  'https://shop.example:443/',
  'https://shop.example:8443/',
  'https://bücher.example/',
  'https://8.8.8.8/',
  'https://134744072/',
  'https://172.15.255.255/',
  'https://172.32.0.1/',
  'https://100.63.255.255/',
  'https://100.128.0.1/',
  'https://192.169.0.1/',
  'https://[2606:4700:4700::1111]/',
  'https://[2a00:1450:4001:831::200e]:8443/',
  // Each of these addresses differs in one byte from an ISATAP address, which contains 5EFE and an IPv4 address.
  'https://[2606:4700:0:0:100:5efe:808:808]/',
  'https://[2606:4700:0:0:1:5efe:808:808]/',
  'https://[2606:4700:0:0:0:5ffe:808:808]/',
  'https://[2606:4700:0:0:0:5eff:808:808]/',
];

describe('in production', () => {
  it('checkUrl is tested with at least 200 refused URLs', () => {
    expect(new Set(REFUSED.map(([url]) => url)).size).toBeGreaterThanOrEqual(200);
  });

  it.each(REFUSED)('checkUrl refuses %s: %s', (url, refused) => {
    expect(checkUrl(url, PRODUCTION)).toEqual({ refused });
  });

  it.each(ACCEPTED)('checkUrl accepts %s', (url) => {
    expect(checkUrl(url, PRODUCTION)).toEqual({ url: new URL(url) });
  });
});

describe('in development, with a URL of the operator', () => {
  const policy = { allowLoopback: true, allowPrivate: true };

  it.each(['10.0.0.1', '172.18.0.4', '192.168.1.7'])(
    'checkAddress accepts %s without TLS, but refuses it for the URL of a merchant',
    (address) => {
      expect(checkAddress(address, { ...policy, plain: true })).toBeUndefined();
      expect(checkAddress(address, { ...DEVELOPMENT, plain: true })).toBe('private');
    },
  );

  it.each([
    ['169.254.169.254', 'link-local'],
    ['100.64.0.1', 'carrier-grade-nat'],
    ['fd00::1', 'unique-local'],
  ])('checkAddress refuses %s: %s', (address, refused) => {
    expect(checkAddress(address, { ...policy, plain: false })).toBe(refused);
  });
});

describe('in development', () => {
  const REASONS_ACCEPTED_IN_DEVELOPMENT = new Set<AddressRefusal>(['loopback', 'protocol', 'port']);

  it.each([
    ...LOOPBACK,
    'http://127.0.0.1:3000/',
    'http://localhost:3000/',
    'http://[::1]:3000/',
    'https://shop.example:3000/',
  ])('%s is accepted', (url) => {
    expect(checkUrl(url, DEVELOPMENT).refused).toBeUndefined();
  });

  it.each(REFUSED.filter(([, refused]) => !REASONS_ACCEPTED_IN_DEVELOPMENT.has(refused)))(
    'checkUrl refuses %s, as in production: %s',
    (url, refused) => {
      expect(checkUrl(url, DEVELOPMENT)).toEqual({ refused });
    },
  );

  it.each<[string, AddressRefusal]>([
    ['ftp://localhost/', 'protocol'],
    ['http://8.8.8.8/', 'protocol'],
    ['http://10.0.0.1/', 'private'],
    ['http://[::ffff:127.0.0.1]:3000/', 'ipv4-in-ipv6'],
    ['http://169.254.169.254/', 'link-local'],
    ['http://localhost:0/', 'port'],
  ])('checkUrl refuses %s: %s', (url, refused) => {
    expect(checkUrl(url, DEVELOPMENT)).toEqual({ refused });
  });
});

describe('checkAddress', () => {
  it.each<[string, AddressRefusal | undefined]>([
    ['8.8.8.8', undefined],
    ['2606:4700:4700::1111', undefined],
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'unreadable'],
    ['::ffff:10.0.0.1', 'ipv4-in-ipv6'],
    ['shop.example', 'unreadable'],
    ['', 'unreadable'],
  ])('called with the address %j returns %s', (address, refused) => {
    expect(checkAddress(address, { ...PRODUCTION, plain: false })).toBe(refused);
  });

  it('accepts an address without TLS only if it is loopback', () => {
    expect(checkAddress('8.8.8.8', { ...DEVELOPMENT, plain: true })).toBe('protocol');
    expect(checkAddress('127.0.0.1', { ...DEVELOPMENT, plain: true })).toBeUndefined();
  });
});

describe('an IPv4 address', () => {
  /** The reasons that refer to the IP address, not to the syntax of the URL. */
  const REASONS_OF_ADDRESSES: readonly (AddressRefusal | undefined)[] = [
    'unspecified',
    'broadcast',
    'loopback',
    'private',
    'link-local',
    'carrier-grade-nat',
    'multicast',
    'reserved',
  ];
  const arbitraryForbiddenAddress = fc.oneof(
    ...[
      '127.0.0.0/8',
      '10.0.0.0/8',
      '172.16.0.0/12',
      '192.168.0.0/16',
      '169.254.0.0/16',
      '100.64.0.0/10',
      '0.0.0.0/8',
      '224.0.0.0/3',
    ].map((network) => {
      const [base, bits] = network.split('/') as [string, string];
      const first = base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
      return fc.integer({ min: 0, max: 2 ** (32 - Number(bits)) - 1 }).map((offset) => first + offset);
    }),
  );
  /** The number as decimal, hexadecimal or octal text. The hexadecimal and octal texts have leading zeros. */
  const arbitraryNumberText = (value: number): fc.Arbitrary<string> =>
    fc.tuple(fc.constantFrom(10, 16, 8), fc.integer({ min: 0, max: 4 })).map(([base, zeros]) => {
      if (base === 10) return String(value);
      return (base === 16 ? '0x' : '0') + '0'.repeat(zeros) + value.toString(base);
    });
  /** The address in one to four parts. The last part contains all remaining bytes. */
  const arbitrarySpelling = (address: number): fc.Arbitrary<string> =>
    fc.integer({ min: 0, max: 3 }).chain((bytes) => {
      const leadingBytes = Array.from({ length: bytes }, (_, i) => Math.floor(address / 2 ** (24 - 8 * i)) % 256);
      const rest = address % 2 ** (32 - 8 * bytes);
      return fc.tuple(...[...leadingBytes, rest].map(arbitraryNumberText)).map((parts) => parts.join('.'));
    });
  const arbitraryText = arbitraryForbiddenAddress.chain(arbitrarySpelling);

  it('in a forbidden network is refused in every spelling, also with a trailing dot, wide digits or percent-encoding', () => {
    const arbitraryDisguise = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `${text}.`,
      (text) => text.replaceAll('.', '。'),
      (text) => text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      (text) => [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
    );
    const reasons = new Set<AddressRefusal | undefined>();
    fc.assert(
      fc.property(arbitraryText, arbitraryDisguise, (text, disguise) => {
        const { refused } = checkUrl(`https://${disguise(text)}/`, PRODUCTION);
        expect(REASONS_OF_ADDRESSES).toContain(refused);
        reasons.add(refused);
      }),
      { numRuns: 2_000 },
    );
    for (const reason of ['loopback', 'private', 'link-local', 'carrier-grade-nat', 'multicast', 'reserved'] as const)
      expect(reasons).toContain(reason);
  });

  it('is refused if it is embedded in an IPv6 address', () => {
    const arbitraryPrefix = fc.constantFrom(
      '::ffff:',
      '::',
      '::ffff:0:',
      '64:ff9b::',
      '64:ff9b:1::',
      '2001::',
      '2606:4700::5efe:',
      '2606:4700::200:5efe:',
    );
    fc.assert(
      fc.property(arbitraryPrefix, fc.ipV4(), (prefix, address) => {
        expect([...REASONS_OF_ADDRESSES, 'ipv4-in-ipv6']).toContain(
          checkUrl(`https://[${prefix}${address}]/`, PRODUCTION).refused,
        );
      }),
    );
  });
});
