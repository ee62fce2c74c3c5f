import { networkOf } from './network-of.js';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0'],
  ['2001:db8:0:1::1', '2001:db8:0:1'],
  ['unknown', undefined],
  ['', undefined],
])('the network of %s is %s', (address, expected) => {
  expect(networkOf(address)).toBe(expected);
});
