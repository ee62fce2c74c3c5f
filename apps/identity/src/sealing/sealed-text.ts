import { hkdfSync } from 'node:crypto';
import { compactDecrypt, CompactEncrypt } from 'jose';

/**
 * Separates the keys that are derived from one sealing key. The private keys of identity tokens are encrypted with another
 * one (libs/auth).
 */
type Purpose = 'svc totp secrets' | 'svc mails';

interface Seal {
  readonly purpose: Purpose;
  /** The row to which the text belongs. In another row the ciphertext is refused. */
  readonly owner: string;
}

/** Encrypts a text with the sealing key as a compact JWE (A256GCM), so that a copy of the database does not contain it. */
export async function sealText(text: string, { purpose, owner }: Seal, sealingKey: string): Promise<string> {
  return new CompactEncrypt(new TextEncoder().encode(text))
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: owner })
    .encrypt(deriveKey(sealingKey, purpose));
}

/** Throws for another sealing key, purpose or owner, and for a modified ciphertext. */
export async function openText(sealed: string, { purpose, owner }: Seal, sealingKey: string): Promise<string> {
  const { plaintext, protectedHeader } = await compactDecrypt(sealed, deriveKey(sealingKey, purpose), {
    keyManagementAlgorithms: ['dir'],
    contentEncryptionAlgorithms: ['A256GCM'],
  });
  if (protectedHeader.kid !== owner) throw new Error('The sealed text belongs to another owner.');
  return new TextDecoder().decode(plaintext);
}

function deriveKey(sealingKey: string, purpose: Purpose): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', Buffer.from(sealingKey, 'base64url'), '', purpose, 32));
}
