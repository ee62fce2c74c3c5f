import { openText, sealText } from '../../sealing/sealed-text.js';

/** Encrypts a TOTP secret of a person. A copy of the database is therefore not enough to compute codes. */
export async function sealSecret(secret: string, personId: string, sealingKey: string): Promise<string> {
  return sealText(secret, { purpose: 'svc totp secrets', owner: personId }, sealingKey);
}

/** Throws for another sealing key, another person or a modified ciphertext. */
export async function openSecret(sealed: string, personId: string, sealingKey: string): Promise<string> {
  return openText(sealed, { purpose: 'svc totp secrets', owner: personId }, sealingKey);
}
