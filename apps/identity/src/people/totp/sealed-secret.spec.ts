import { openSecret, sealSecret } from './sealed-secret.js';

const KEY = Buffer.alloc(32, 1).toString('base64url');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64url');
const SECRET = 'JBSWY3DPEHPK3PXP';

test('a sealed secret opens for its person and its key only', async () => {
  const sealed = await sealSecret(SECRET, 'person-1', KEY);
  expect(sealed).not.toContain(SECRET);
  expect(Buffer.from(sealed, 'base64url').toString()).not.toContain(SECRET);
  expect(await openSecret(sealed, 'person-1', KEY)).toBe(SECRET);
  await expect(openSecret(sealed, 'person-2', KEY)).rejects.toThrow('another owner');
  await expect(openSecret(sealed, 'person-1', OTHER_KEY)).rejects.toThrow('decryption operation failed');
  const modified = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA');
  await expect(openSecret(modified, 'person-1', KEY)).rejects.toThrow('decryption operation failed');
});

test('sealing a secret twice gives different texts', async () => {
  expect(await sealSecret(SECRET, 'person-1', KEY)).not.toBe(await sealSecret(SECRET, 'person-1', KEY));
});
