import { ownOrigin } from './own-origin.js';

it.each<[string | undefined, string, string]>([
  ['pos.store.example:7305', '127.0.0.1', 'http://pos.store.example:7305'],
  [undefined, '192.168.1.10', 'http://192.168.1.10:7305'],
  ['', '192.168.1.10', 'http://192.168.1.10:7305'],
  [undefined, '::ffff:192.168.1.10', 'http://192.168.1.10:7305'],
  [undefined, 'fd00::7', 'http://[fd00::7]:7305'],
])('with the Host %s at the address %s, the origin is %s', (host, localAddress, origin) => {
  expect(ownOrigin({ protocol: 'http', host, socket: { localAddress, localPort: 7305 } })).toBe(origin);
});
