import { type AddressRefusal, checkAddress, checkUrl } from './address-guard.js';

const PRODUCTION = { allowLoopback: false };
const DEVELOPMENT = { allowLoopback: true };

const LOOPBACK = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://127.0.0.2/',
  'https://127.255.255.255/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://①②⑦.⓪.⓪.①/',
  'https://%31%32%37.0.0.1/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[0000::0001]/',
];

const REFUSED: [string, AddressRefusal][] = [
  ...LOOPBACK.map((url): [string, AddressRefusal] => [url, 'loopback']),
  // Written so that it cannot be one, or is for another protocol.
  ['', 'unreadable'],
  ['shop.example/hooks', 'unreadable'],
  ['https://', 'unreadable'],
  ['https://256.1.1.1/', 'unreadable'],
  ['https://1.2.3.4.5/', 'unreadable'],
  ['https://[::1%25eth0]/', 'unreadable'],
  ['https://shop.example:99999/', 'unreadable'],
  ['ftp://shop.example/', 'protocol'],
  ['file:///etc/passwd', 'protocol'],
  ['gopher://shop.example/', 'protocol'],
  ['javascript:alert(1)', 'protocol'],
  ['data:text/plain,x', 'protocol'],
  ['http://shop.example/', 'protocol'],
  ['http://127.0.0.1/', 'protocol'],
  ['https://user@shop.example/', 'credentials'],
  ['https://user:password@shop.example/', 'credentials'],
  ['https://shop.example@127.0.0.1/', 'credentials'],
  ['https://:password@shop.example/', 'credentials'],
  // Ports.
  ['https://shop.example:22/', 'port'],
  ['https://shop.example:80/', 'port'],
  ['https://shop.example:444/', 'port'],
  ['https://shop.example:6379/', 'port'],
  ['https://shop.example:0/', 'port'],
  // Private and local networks.
  ['https://10.0.0.1/', 'private'],
  ['https://10.255.255.255/', 'private'],
  ['https://0xa000001/', 'private'],
  ['https://172.16.0.1/', 'private'],
  ['https://172.31.255.255/', 'private'],
  ['https://192.168.1.1/', 'private'],
  ['https://3232235777/', 'private'],
  ['https://[fec0::1]/', 'private'],
  ['https://169.254.0.1/', 'link-local'],
  ['https://169.254.169.254/latest/meta-data/', 'link-local'],
  ['https://2852039166/', 'link-local'],
  ['https://0251.0376.0251.0376/', 'link-local'],
  ['https://[fe80::1]/', 'link-local'],
  ['https://[febf::1]/', 'link-local'],
  ['https://[fc00::1]/', 'unique-local'],
  ['https://[fdff::1]/', 'unique-local'],
  ['https://[fd00:ec2::254]/', 'unique-local'],
  ['https://100.64.0.1/', 'carrier-grade-nat'],
  ['https://100.100.100.200/', 'carrier-grade-nat'],
  ['https://100.127.255.255/', 'carrier-grade-nat'],
  ['https://168.63.129.16/', 'metadata'],
  ['https://192.0.0.192/', 'reserved'],
  // Nobody, or everybody.
  ['https://0.0.0.0/', 'unspecified'],
  ['https://0/', 'unspecified'],
  ['https://0.1.2.3/', 'unspecified'],
  ['https://[::]/', 'unspecified'],
  ['https://255.255.255.255/', 'broadcast'],
  ['https://4294967295/', 'broadcast'],
  ['https://224.0.0.1/', 'multicast'],
  ['https://239.255.255.255/', 'multicast'],
  ['https://[ff02::1]/', 'multicast'],
  // IPv4 inside IPv6.
  ['https://[::ffff:127.0.0.1]/', 'ipv4-in-ipv6'],
  ['https://[::ffff:7f00:1]/', 'ipv4-in-ipv6'],
  ['https://[::ffff:8.8.8.8]/', 'ipv4-in-ipv6'],
  ['https://[0:0:0:0:0:ffff:a00:1]/', 'ipv4-in-ipv6'],
  ['https://[::ffff:0:127.0.0.1]/', 'ipv4-in-ipv6'],
  ['https://[64:ff9b::7f00:1]/', 'ipv4-in-ipv6'],
  ['https://[64:ff9b::8.8.8.8]/', 'ipv4-in-ipv6'],
  ['https://[64:ff9b:1::1]/', 'ipv4-in-ipv6'],
  ['https://[2002:7f00:1::]/', 'ipv4-in-ipv6'],
  ['https://[2002:a00:1::1]/', 'ipv4-in-ipv6'],
  ['https://[2001::1]/', 'ipv4-in-ipv6'],
  ['https://[2001:0:7f00:1::]/', 'ipv4-in-ipv6'],
  ['https://[::127.0.0.1]/', 'reserved'],
  ['https://[::a00:1]/', 'reserved'],
  // Documentation, benchmarking, and what was never given out.
  ['https://192.0.2.1/', 'reserved'],
  ['https://198.51.100.1/', 'reserved'],
  ['https://203.0.113.1/', 'reserved'],
  ['https://198.18.0.1/', 'reserved'],
  ['https://198.19.255.255/', 'reserved'],
  ['https://192.88.99.1/', 'reserved'],
  ['https://240.0.0.1/', 'reserved'],
  ['https://[2001:db8::1]/', 'reserved'],
  ['https://[3fff::1]/', 'reserved'],
  ['https://[2001:2::1]/', 'reserved'],
  ['https://[2001:20::1]/', 'reserved'],
  ['https://[100::1]/', 'reserved'],
  ['https://[5f00::1]/', 'reserved'],
  ['https://[4000::1]/', 'reserved'],
  ['https://[1::1]/', 'reserved'],
];

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
];

describe('in production', () => {
  it.each(REFUSED)('%s is refused: %s', (url, refused) => {
    expect(checkUrl(url, PRODUCTION)).toEqual({ refused });
  });

  it.each(ACCEPTED)('%s is accepted', (url) => {
    expect(checkUrl(url, PRODUCTION)).toEqual({ url: new URL(url) });
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

describe('an address a name resolved to', () => {
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

  it('may be spoken to without TLS only when it is loopback', () => {
    expect(checkAddress('8.8.8.8', { ...DEVELOPMENT, plain: true })).toBe('protocol');
    expect(checkAddress('127.0.0.1', { ...DEVELOPMENT, plain: true })).toBeUndefined();
  });
});
