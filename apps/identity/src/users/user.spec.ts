import { canonicalEmail } from './user.js';

test.each([
  ['a@b.example', 'a@b.example'],
  ['A.B@Example.COM', 'a.b@example.com'],
  [' a@b.example\n', 'a@b.example'],
  ['\uff41@b.example', 'a@b.example'],
  ['ZOE\u0308@b.example', 'zo\u00eb@b.example'],
])('the email %j is stored as %j', (email, canonical) => expect(canonicalEmail(email)).toBe(canonical));
