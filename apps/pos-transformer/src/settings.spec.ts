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

test('one site, on loopback', () => {
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

test('keys come from the environment', () => {
  const env = { TRANSFORMER_API_KEY: KEY, TRANSFORMER_SITE_KEY_5001: 'other' };
  const sites = [{ siteId: 5001, siteReference: 'STORE-1' }];
  expect(parseWith({ sites }, env)).toMatchObject({ apiKey: KEY, sites: [{ apiKey: 'other' }] });
});

describe('A9: a non-loopback address', () => {
  it('is refused without a key or a list, with a message that explains it', () => {
    expect(() => parseWith({ listenAddress: '0.0.0.0' })).toThrow('set TRANSFORMER_API_KEY or allowedClients');
    expect(() => parseWith({ listenAddress: '::' })).toThrow('set TRANSFORMER_API_KEY or allowedClients');
  });

  it('is accepted with either', () => {
    expect(parseWith({ listenAddress: '0.0.0.0' }, { TRANSFORMER_API_KEY: KEY }).apiKey).toBe(KEY);
    const listed = parseWith({ listenAddress: '0.0.0.0', allowedClients: ['192.168.1.0/24', 'fd00::1'] }).allowedClients;
    expect([listed?.check('192.168.1.9'), listed?.check('192.168.2.9'), listed?.check('fd00::1', 'ipv6')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.1', false],
  ])('%s is loopback: %s', (address, is) => expect(isLoopback(address)).toBe(is));
});

describe('T5: the site of the facade', () => {
  it('is required if there are several', () => {
    expect(parseWith({ sites: [...VALID_FILE.sites, secondSite], facadeSiteId: 5002 }).facadeSiteId).toBe(5002);
    expect(() => parseWith({ sites: [...VALID_FILE.sites, secondSite] })).toThrow(
      'facadeSiteId must be the siteId of one of the sites',
    );
    expect(() => parseWith({ facadeSiteId: 7 })).toThrow('facadeSiteId must be the siteId of one of the sites');
  });
});

test.each<[string, object, Record<string, string>, string]>([
  ['a member that is not known', { listenPort: 1 }, {}, 'listenPort is not a member of the configuration'],
  ['no address of the platform', { apiUrl: 'api' }, {}, 'apiUrl'],
  ['no sites', { sites: [] }, {}, 'sites'],
  ['a site that is none', { sites: [null] }, {}, 'sites'],
  ['the same site twice', { sites: [VALID_FILE.sites[0], VALID_FILE.sites[0]] }, {}, 'another siteId'],
  ['a site without a key', { sites: [{ siteId: 1, siteReference: 'S' }] }, {}, 'TRANSFORMER_SITE_KEY_'],
  ['a list that is none', { allowedClients: ['192.168.1.0/99'] }, {}, 'neither an address nor a network'],
  ['an empty list', { allowedClients: [] }, {}, 'allowedClients'],
  ['a short key', {}, { TRANSFORMER_API_KEY: 'short' }, 'TRANSFORMER_API_KEY must be 16 to 200'],
  ['no database', { database: '' }, {}, 'database'],
])('%s is refused', (_, changes, env, message) => expect(() => parseWith(changes, env)).toThrow(message));

test.each([[null], [[]], ['text']])('%j is no configuration', (json) =>
  expect(() => parseSettings(json, {}, '/')).toThrow('must hold a JSON object'),
);
