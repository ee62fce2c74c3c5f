import { canonicalHost } from './allowed-host.js';

describe('canonicalHost', () => {
  it.each([
    ['shop.example', 'shop.example'],
    ['Shop.EXAMPLE', 'shop.example'],
    ['localhost', 'localhost'],
    ['my_till-1.internal', 'my_till-1.internal'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '[::1]'],
    ['[::1]', '[::1]'],
    ['2001:DB8:0:0:0:0:0:1', '[2001:db8::1]'],
    [`${'a'.repeat(63)}.example`, `${'a'.repeat(63)}.example`],
  ])('writes %s as %s, the way URLs do', (given, canonical) => {
    expect(canonicalHost(given)).toBe(canonical);
    expect(new URL(`https://${canonical}/`).hostname).toBe(canonical);
  });

  it.each([
    '',
    ' ',
    'shop.example ',
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
    '127.1',
    '2130706433',
    '１２７.0.0.1',
    '256.1.1.1',
    '[shop.example]',
    'fe80::1%eth0',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}aa`,
  ])('refuses %j', (text) => {
    expect(canonicalHost(text)).toBeUndefined();
  });
});
