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
  // Each differs in one byte from an address with an IPv4 address behind 5EFE.
  'https://[2606:4700:0:0:100:5efe:808:808]/',
  'https://[2606:4700:0:0:1:5efe:808:808]/',
  'https://[2606:4700:0:0:0:5ffe:808:808]/',
  'https://[2606:4700:0:0:0:5eff:808:808]/',
];

describe('in production', () => {
  it('at least 200 spellings are refused', () => {
    expect(new Set(REFUSED.map(([url]) => url)).size).toBeGreaterThanOrEqual(200);
  });

  it.each(REFUSED)('%s is refused: %s', (url, refused) => {
    expect(checkUrl(url, PRODUCTION)).toEqual({ refused });
  });

  it.each(ACCEPTED)('%s is accepted', (url) => {
    expect(checkUrl(url, PRODUCTION)).toEqual({ url: new URL(url) });
  });
});

describe('an address that the operator configured, in development', () => {
  const policy = { allowLoopback: true, allowPrivate: true };

  it.each(['10.0.0.1', '172.18.0.4', '192.168.1.7'])('%s is accepted without TLS', (address) => {
    expect(checkAddress(address, { ...policy, plain: true })).toBeUndefined();
    expect(checkAddress(address, { ...DEVELOPMENT, plain: true })).toBe('private');
  });

  it.each([
    ['169.254.169.254', 'link-local'],
    ['100.64.0.1', 'carrier-grade-nat'],
    ['fd00::1', 'unique-local'],
  ])('%s is refused: %s', (address, refused) => {
    expect(checkAddress(address, { ...policy, plain: false })).toBe(refused);
  });
});

describe('in development', () => {
  const canBeInDevelopment = new Set<AddressRefusal>(['loopback', 'protocol', 'port']);

  it.each([
    ...LOOPBACK,
    'http://127.0.0.1:3000/',
    'http://localhost:3000/',
    'http://[::1]:3000/',
    'https://shop.example:3000/',
  ])('%s is accepted', (url) => {
    expect(checkUrl(url, DEVELOPMENT).refused).toBeUndefined();
  });

  it.each(REFUSED.filter(([, refused]) => !canBeInDevelopment.has(refused)))(
    '%s is refused as ever: %s',
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
  ])('%s is refused: %s', (url, refused) => {
    expect(checkUrl(url, DEVELOPMENT)).toEqual({ refused });
  });
});

describe('the resolved address of a name', () => {
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
  ])('%s: %s', (address, refused) => {
    expect(checkAddress(address, { ...PRODUCTION, plain: false })).toBe(refused);
  });

  it('may be called without TLS only if it is loopback', () => {
    expect(checkAddress('8.8.8.8', { ...DEVELOPMENT, plain: true })).toBe('protocol');
    expect(checkAddress('127.0.0.1', { ...DEVELOPMENT, plain: true })).toBeUndefined();
  });
});

describe('an IPv4 address', () => {
  /** The reason why the address itself is refused, not its spelling. */
  const OF_AN_ADDRESS: readonly (AddressRefusal | undefined)[] = [
    'unspecified',
    'broadcast',
    'loopback',
    'private',
    'link-local',
    'carrier-grade-nat',
    'multicast',
    'reserved',
  ];
  const inForbiddenNetwork = fc.oneof(
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
  /** As decimal, hexadecimal or octal text, with leading zeros. */
  const number = (value: number): fc.Arbitrary<string> =>
    fc.tuple(fc.constantFrom(10, 16, 8), fc.integer({ min: 0, max: 4 })).map(([base, zeros]) => {
      if (base === 10) return String(value);
      return (base === 16 ? '0x' : '0') + '0'.repeat(zeros) + value.toString(base);
    });
  /** In one to four parts, the last of which contains the remaining bytes. */
  const spelled = (address: number): fc.Arbitrary<string> =>
    fc.integer({ min: 0, max: 3 }).chain((bytes) => {
      const whole = Array.from({ length: bytes }, (_, i) => Math.floor(address / 2 ** (24 - 8 * i)) % 256);
      const rest = address % 2 ** (32 - 8 * bytes);
      return fc.tuple(...[...whole, rest].map(number)).map((parts) => parts.join('.'));
    });
  const written = inForbiddenNetwork.chain(spelled);

  it('in a forbidden network is refused in every spelling, with a trailing dot, wide digits, encoded, or inside IPv6', () => {
    const disguises = fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => `${text}.`,
      (text) => text.replaceAll('.', '。'),
      (text) => text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      (text) => [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join(''),
    );
    const reasons = new Set<AddressRefusal | undefined>();
    fc.assert(
      fc.property(written, disguises, (text, disguise) => {
        const { refused } = checkUrl(`https://${disguise(text)}/`, PRODUCTION);
        expect(OF_AN_ADDRESS).toContain(refused);
        reasons.add(refused);
      }),
      { numRuns: 2_000 },
    );
    for (const reason of ['loopback', 'private', 'link-local', 'carrier-grade-nat', 'multicast', 'reserved'] as const)
      expect(reasons).toContain(reason);
  });

  it('in any network is refused inside IPv6', () => {
    const prefixes = fc.constantFrom(
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
      fc.property(prefixes, fc.ipV4(), (prefix, address) => {
        expect([...OF_AN_ADDRESS, 'ipv4-in-ipv6']).toContain(
          checkUrl(`https://[${prefix}${address}]/`, PRODUCTION).refused,
        );
      }),
    );
  });
});
