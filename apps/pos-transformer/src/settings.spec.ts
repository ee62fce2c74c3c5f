import { isLoopback, parseSettings } from './settings.js';

const VALID_FILE = {
  apiUrl: 'https://api.example',
  merchantId: 1001,
  sites: [{ siteId: 5001, siteReference: 'STORE-1', apiKey: 'key-1' }],
  database: 'pos.sqlite',
};
const secondSite = { siteId: 5002, siteReference: 'STORE-2', apiKey: 'key-2' };
const KEY = 'a-key-of-the-store';
const parseWith = (changes: object = {}, env: Record<string, string> = {}) =>
  parseSettings({ ...VALID_FILE, ...changes }, env, '/srv');

test('a file with one site results in the defaults, which include listening on loopback', () => {
  expect(parseWith()).toMatchObject({
    apiUrl: 'https://api.example',
    facadeSiteId: 5001,
    listenAddress: '127.0.0.1',
    port: 7305,
    apiKey: undefined,
    allowedClients: undefined,
    database: '/srv/pos.sqlite',
  });
});

test('the name of a store is optional, and shown as it is', () => {
  const site = VALID_FILE.sites[0]!;
  expect(parseWith().sites[0]?.name).toBeUndefined();
  expect(parseWith({ sites: [{ ...site, name: 'Kafee Rooi Dak' }] }).sites[0]?.name).toBe('Kafee Rooi Dak');
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(101), 7])
    expect(() => parseWith({ sites: [{ ...site, name }] })).toThrow('name must be 1 to 100 characters');
});

test('API keys are read from the environment', () => {
  const env = { TRANSFORMER_API_KEY: KEY, TRANSFORMER_SITE_KEY_5001: 'other' };
  const sites = [{ siteId: 5001, siteReference: 'STORE-1' }];
  expect(parseWith({ sites }, env)).toMatchObject({ apiKey: KEY, sites: [{ apiKey: 'other' }] });
});

describe('A9: a non-loopback address', () => {
  it('is refused without an API key and without allowedClients, with a message that names both', () => {
    expect(() => parseWith({ listenAddress: '0.0.0.0' })).toThrow('set TRANSFORMER_API_KEY or allowedClients');
    expect(() => parseWith({ listenAddress: '::' })).toThrow('set TRANSFORMER_API_KEY or allowedClients');
  });

  it('is accepted with an API key or with allowedClients', () => {
    expect(parseWith({ listenAddress: '0.0.0.0' }, { TRANSFORMER_API_KEY: KEY }).apiKey).toBe(KEY);
    const listed = parseWith({
      listenAddress: '0.0.0.0',
      allowedClients: ['192.168.1.0/24', 'fd00::1'],
    }).allowedClients;
    expect([listed?.check('192.168.1.9'), listed?.check('192.168.2.9'), listed?.check('fd00::1', 'ipv6')]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.1.1', false],
])('A9: isLoopback(%j) is %s', (address, expected) => expect(isLoopback(address)).toBe(expected));

describe('T5: facadeSiteId', () => {
  it('is required if there are several sites', () => {
    expect(parseWith({ sites: [...VALID_FILE.sites, secondSite], facadeSiteId: 5002 }).facadeSiteId).toBe(5002);
    expect(() => parseWith({ sites: [...VALID_FILE.sites, secondSite] })).toThrow(
      'facadeSiteId must be the siteId of one of the sites',
    );
    expect(() => parseWith({ facadeSiteId: 7 })).toThrow('facadeSiteId must be the siteId of one of the sites');
  });
});

test.each<[string, object, Record<string, string>, string]>([
  ['an unknown member', { listenPort: 1 }, {}, 'listenPort is not a member of the configuration'],
  ['an invalid URL of the platform', { apiUrl: 'api' }, {}, 'apiUrl'],
  ['an empty list of sites', { sites: [] }, {}, 'sites'],
  ['a site that is null', { sites: [null] }, {}, 'sites'],
  ['the same site twice', { sites: [VALID_FILE.sites[0], VALID_FILE.sites[0]] }, {}, 'another siteId'],
  ['a site without a key', { sites: [{ siteId: 1, siteReference: 'S' }] }, {}, 'TRANSFORMER_SITE_KEY_'],
  [
    'an invalid network in allowedClients',
    { allowedClients: ['192.168.1.0/99'] },
    {},
    'neither an address nor a network',
  ],
  ['an empty allowedClients', { allowedClients: [] }, {}, 'allowedClients'],
  ['a short key', {}, { TRANSFORMER_API_KEY: 'short' }, 'TRANSFORMER_API_KEY must be 16 to 200'],
  ['an empty database path', { database: '' }, {}, 'database'],
])('a configuration with %s is refused', (_, changes, env, message) =>
  expect(() => parseWith(changes, env)).toThrow(message),
);

test.each([[null], [[]], ['text']])('the configuration %j is refused, because it is not an object', (json) =>
  expect(() => parseSettings(json, {}, '/')).toThrow('must hold a JSON object'),
);
