import { BlockList } from 'node:net';
import { type Caller, isCallerAllowed } from './access.js';
import { parseTill } from './calling-till.js';

const KEY = 'a-key-of-the-store';
const networks = new BlockList();
networks.addSubnet('192.168.1.0', 24, 'ipv4');
networks.addSubnet('fd00::', 8, 'ipv6');
const createCaller = (changes: Partial<Caller> = {}): Caller => ({
  address: '127.0.0.1',
  apiKey: undefined,
  host: '127.0.0.1:7305',
  origin: undefined,
  fetchSite: undefined,
  ...changes,
});
const unconfigured = { apiKey: undefined, allowedClients: undefined, publicUrl: undefined };

type Settings = Parameters<typeof isCallerAllowed>[0];

describe('A9: the access rules', () => {
  it.each<[string, Partial<Settings>, Partial<Caller>]>([
    ['on loopback, if no key is configured', {}, {}],
    ['on loopback with a key, if no key is configured', {}, { apiKey: KEY }],
    ['with the key', { apiKey: KEY }, { apiKey: KEY }],
    ['with the key and an unknown host name', { apiKey: KEY }, { apiKey: KEY, host: 'till.example' }],
    ['from a listed address', { allowedClients: networks }, { address: '192.168.1.7' }],
    ['from a listed IPv6 address', { allowedClients: networks }, { address: 'fd00::7' }],
    ['from a listed IPv4 address on an IPv6 socket', { allowedClients: networks }, { address: '::ffff:192.168.1.7' }],
    [
      'from an unlisted address with the key',
      { allowedClients: networks, apiKey: KEY },
      { address: '10.0.0.1', apiKey: KEY },
    ],
    ['to localhost', {}, { host: 'localhost:7305' }],
    ['to an IPv6 address', {}, { host: '[::1]:7305' }],
    ['to the configured host name', { publicUrl: 'http://pos.store:7305' }, { host: 'POS.store:7305' }],
    ['from a page of the transformer', {}, { origin: 'http://127.0.0.1:7305', fetchSite: 'same-origin' }],
    ['from a page of the transformer at the default port', {}, { host: '10.0.0.1:80', origin: 'http://10.0.0.1' }],
    [
      'from a page of the transformer behind an HTTPS proxy',
      { publicUrl: 'https://pos.store' },
      { host: 'pos.store', origin: 'https://pos.store' },
    ],
    ['from a link that a cashier opens', {}, { fetchSite: 'none' }],
    [
      'from a page of another origin with the key',
      { apiKey: KEY },
      { apiKey: KEY, origin: 'https://evil.example', fetchSite: 'cross-site' },
    ],
  ])('allow a request %s', (_, settings, changes) =>
    expect(isCallerAllowed({ ...unconfigured, ...settings }, createCaller(changes))).toBe(true),
  );

  it.each<[string, Partial<Settings>, Partial<Caller>]>([
    ['without the configured key', { apiKey: KEY }, {}],
    ['with a wrong key', { apiKey: KEY }, { apiKey: `${KEY}x` }],
    ['from an unlisted IPv4 address', { allowedClients: networks }, { address: '192.168.2.7' }],
    [
      'from an unlisted IPv4 address on an IPv6 socket',
      { allowedClients: networks },
      { address: '::ffff:192.168.2.7' },
    ],
    ['from an unlisted IPv6 address', { allowedClients: networks }, { address: 'fe80::1' }],
    ['from an empty address', { allowedClients: networks }, { address: '' }],
    [
      'from an unlisted address with a wrong key',
      { allowedClients: networks, apiKey: KEY },
      { address: '10.0.0.1', apiKey: 'x' },
    ],
    ['to a foreign host name that resolves to the transformer', {}, { host: 'evil.example:7305' }],
    [
      'to a foreign host name, if a host name is configured',
      { publicUrl: 'http://pos.store:7305' },
      { host: 'evil.example:7305' },
    ],
    ['to a host with text before an IPv6 address', {}, { host: 'a[::1]:7305' }],
    ['to a host with text after an IPv6 address', {}, { host: '[::1]a:7305' }],
    ['without a Host header', {}, { host: undefined }],
    ['from a page of the internet', {}, { origin: 'https://evil.example' }],
    ['from a page of another port', {}, { origin: 'http://127.0.0.1:8080' }],
    ['to an invalid port', {}, { host: 'localhost:99999', origin: 'http://localhost' }],
    ['from a page with an opaque origin', {}, { origin: 'null' }],
    ['from a local HTML file', {}, { host: 'localhost', origin: 'file://' }],
    ['from a page of the internet without an Origin header', {}, { fetchSite: 'cross-site' }],
    ['from a page of the same site without an Origin header', {}, { fetchSite: 'same-site' }],
  ])('refuse a request %s', (_, settings, changes) =>
    expect(isCallerAllowed({ ...unconfigured, ...settings }, createCaller(changes))).toBe(false),
  );
});

describe('T3: the header x-till', () => {
  it.each([
    [undefined, ''],
    ['TILL 2', 'TILL 2'],
  ])('the header value %j selects the till %j', (header, till) => expect(parseTill(header)).toBe(till));

  it.each([[''], [' '], ['x'.repeat(101)], ['tïll'], [['a', 'b']]])('the header value %j is refused', (header) =>
    expect(() => parseTill(header)).toThrow('The request is not valid'),
  );
});
