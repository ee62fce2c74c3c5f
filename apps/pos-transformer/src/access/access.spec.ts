import { BlockList } from 'node:net';
import { type Caller, isCallerAllowed } from './access.js';
import { parseTill } from './calling-till.js';

const KEY = 'a-key-of-the-store';
const networks = new BlockList();
networks.addSubnet('192.168.1.0', 24, 'ipv4');
const caller = (changes: Partial<Caller> = {}): Caller => ({
  address: '127.0.0.1',
  apiKey: undefined,
  host: '127.0.0.1:7305',
  origin: undefined,
  fetchSite: undefined,
  ...changes,
});
const open = { apiKey: undefined, allowedClients: undefined, publicUrl: undefined };

describe('A9: allowed callers', () => {
  it.each<[string, Partial<typeof open> | object, Partial<Caller>, boolean]>([
    ['on loopback without a key', {}, {}, true],
    ['with the key', { apiKey: KEY }, { apiKey: KEY }, true],
    ['with the key, under any name', { apiKey: KEY }, { apiKey: KEY, host: 'till.example' }, true],
    ['without the key', { apiKey: KEY }, {}, false],
    ['with a wrong key', { apiKey: KEY }, { apiKey: `${KEY}x` }, false],
    ['from a listed address', { allowedClients: networks }, { address: '192.168.1.7' }, true],
    [
      'from a listed address, as IPv6 sockets see it',
      { allowedClients: networks },
      { address: '::ffff:192.168.1.7' },
      true,
    ],
    ['from another address', { allowedClients: networks }, { address: '192.168.2.7' }, false],
    ['from an IPv6 address', { allowedClients: networks }, { address: 'fe80::1' }, false],
    ['from what is no address', { allowedClients: networks }, { address: '' }, false],
    [
      'from another address with the key',
      { allowedClients: networks, apiKey: KEY },
      { address: '10.0.0.1', apiKey: KEY },
      true,
    ],
    [
      'from another address with a wrong key',
      { allowedClients: networks, apiKey: KEY },
      { address: '10.0.0.1', apiKey: 'x' },
      false,
    ],
    ['by a name of the internet that points here', {}, { host: 'evil.example:7305' }, false],
    ['by localhost', {}, { host: 'localhost:7305' }, true],
    ['by an IPv6 address', {}, { host: '[::1]:7305' }, true],
    ['by the configured name', { publicUrl: 'http://pos.store:7305' }, { host: 'POS.store:7305' }, true],
    ['without a host', {}, { host: undefined }, false],
    ['from its own page', {}, { origin: 'http://127.0.0.1:7305', fetchSite: 'same-origin' }, true],
    ['from its own page at the default port', {}, { host: '10.0.0.1:80', origin: 'http://10.0.0.1' }, true],
    [
      'from its own page behind HTTPS',
      { publicUrl: 'https://pos.store' },
      { host: 'pos.store', origin: 'https://pos.store' },
      true,
    ],
    ['by a link that a cashier opens', {}, { fetchSite: 'none' }, true],
    ['from a page of the internet', {}, { origin: 'https://evil.example' }, false],
    ['from a page of another port', {}, { origin: 'http://127.0.0.1:8080' }, false],
    ['at a port that is none', {}, { host: 'localhost:99999', origin: 'http://localhost' }, false],
    ['from a page without an origin', {}, { origin: 'null' }, false],
    ['from a file', {}, { origin: 'file://' }, false],
    ['from a page of the internet, without Origin', {}, { fetchSite: 'cross-site' }, false],
    ['from a page of the same site, without Origin', {}, { fetchSite: 'same-site' }, false],
    [
      'from another page, with the key',
      { apiKey: KEY },
      { apiKey: KEY, origin: 'https://evil.example', fetchSite: 'cross-site' },
      true,
    ],
  ])('%s', (_, settings, changes, may) => expect(isCallerAllowed({ ...open, ...settings }, caller(changes))).toBe(may));
});

describe('T3: the header x-till', () => {
  it.each([
    [undefined, ''],
    ['TILL 2', 'TILL 2'],
  ])('the header %j selects the till %j', (header, till) => expect(parseTill(header)).toBe(till));

  it.each([[''], [' '], ['x'.repeat(101)], ['tïll'], [['a', 'b']]])('%j is refused', (header) =>
    expect(() => parseTill(header)).toThrow('The request is not valid'),
  );
});
