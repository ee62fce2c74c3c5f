import { validateSync } from 'class-validator';
import { AreHosts, canonicalHost } from './allowed-host.js';

describe('canonicalHost', () => {
  it.each([
    ['shop.example', 'shop.example'],
    ['Shop.EXAMPLE', 'shop.example'],
    ['localhost', 'localhost'],
    ['my_till-1.internal', 'my_till-1.internal'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['203.0.113.195', '203.0.113.195'],
    ['a', 'a'],
    ['a.b', 'a.b'],
    ['1.2.3.4.example', '1.2.3.4.example'],
    ['4.3.2.1.Example', '4.3.2.1.example'],
    ['a.1.2.3.b4', 'a.1.2.3.b4'],
    [`shop.${'a'.repeat(63)}`, `shop.${'a'.repeat(63)}`],
    [`${'a.'.repeat(126)}a`, `${'a.'.repeat(126)}a`],
    ['::1', '[::1]'],
    ['[::1]', '[::1]'],
    ['2001:DB8:0:0:0:0:0:1', '[2001:db8::1]'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('converts %s to %s, and a URL with this host keeps it unchanged', (text, canonical) => {
    expect(canonicalHost(text)).toBe(canonical);
    expect(new URL(`https://${canonical}/`).hostname).toBe(canonical);
  });

  it.each([
    '',
    ' ',
    'shop.example ',
    '[::1',
    '::1]',
    'x::1]',
    'shop.example?x',
    'shop.example#x',
    'shop\\example',
    'shop[example',
    'shop]example',
    'sh\top.example',
    'shop-.example',
    'shop.example-',
    'shop.-example',
    'a!b.example',
    'shop.a!b',
    `shop.${'a'.repeat(64)}`,
    'shop.example:8443',
    '[::1]:8443',
    '127.0.0.1:80',
    'https://shop.example',
    'shop.example/pay',
    'user@shop.example',
    '*.example',
    'shop.example.',
    'shop..example',
    '-shop.example',
    'shop%2eexample',
    '0x7f.1',
    '0x7f.20.30.40',
    '127.1',
    '2130706433',
    '１２７.0.0.1',
    '256.1.1.1',
    '[shop.example]',
    'fe80::1%eth0',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}aa`,
    // A name that is too long, although a URL contains it without its soft hyphens.
    `shop.example${'\u00ad'.repeat(300)}`,
    // A name that is too long only after its conversion to ASCII.
    `${'ü.'.repeat(60)}a`,
  ])('returns undefined for %j', (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });
});

describe('AreHosts', () => {
  class Settings {
    @AreHosts()
    hosts: unknown;

    constructor(hosts: unknown) {
      this.hosts = hosts;
    }
  }
  const validate = (hosts: unknown) => validateSync(new Settings(hosts)).map(({ constraints }) => constraints);

  it.each([[[]], [['shop.example', '::1']]])('accepts %j', (hosts) => expect(validate(hosts)).toEqual([]));

  it.each([[undefined], [null], ['shop.example'], [{}], [[7]], [['shop.example', 'shop.example:80']]])(
    'rejects %j',
    (hosts) => {
      const areHosts = 'hosts must be a list of host names or IP addresses, without port';
      expect(validate(hosts)).toEqual([{ areHosts }]);
    },
  );
});
