import { relyingPartyAt } from './relying-party.js';

test.each([
  ['https://console.svc.example', 'console.svc.example', 'https://console.svc.example'],
  ['https://console.svc.example:8443', 'console.svc.example', 'https://console.svc.example:8443'],
  ['http://127.0.0.1:7307', 'localhost', 'http://localhost:7307'],
  ['http://[::1]:7307', 'localhost', 'http://localhost:7307'],
  ['http://localhost:7307', 'localhost', 'http://localhost:7307'],
])('the relying party of %s is %s with the origin %s', (url, id, origin) => {
  expect(relyingPartyAt(url)).toEqual({ id, origin });
});
