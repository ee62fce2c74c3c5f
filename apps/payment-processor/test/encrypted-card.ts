import type { PublicKeyJwk } from '@svc/contracts';
import { CompactEncrypt, importJWK } from 'jose';

/** Card numbers for which the simulated acquirer has a fixed behaviour. */
export const CARDS = {
  approved: '4242424242424242',
  declined: '4000000000000002',
  insufficientFunds: '4000000000009995',
  expired: '4000000000000069',
  wrongCvv: '4000000000000127',
  stolen: '4000000000009979',
  responseLost: '4000000000004087',
  verificationRequired: '4000000000003220',
  refundDeclined: '4000000000005126',
  refundPending: '4000000000007726',
  refundResponseLost: '4000000000007262',
} as const;

/** Encrypts a card as a page does: with the processor's public key, bound to a session and a payment (P8). */
export async function encryptCard(
  publicJwk: PublicKeyJwk,
  binding: { sessionId: string; paymentNumber: number; expiresAt?: string },
  card: Record<string, unknown> = {},
  header: { zip?: string } = {},
): Promise<string> {
  const content = {
    card: { cardNumber: CARDS.approved, cvv: '123', holderName: 'T Payer', expiryMonth: 12, expiryYear: 2030, ...card },
    binding: { expiresAt: '2026-03-01T10:30:00.000Z', ...binding },
  };
  return encryptText(publicJwk, JSON.stringify(content), header);
}

/** Encrypts any text as {@link encryptCard} encrypts a card. */
export async function encryptText(
  publicJwk: PublicKeyJwk,
  text: string,
  header: { zip?: string } = {},
): Promise<string> {
  return new CompactEncrypt(Buffer.from(text))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: publicJwk.kid, cty: 'json', ...header })
    .encrypt(await importJWK(publicJwk, 'ECDH-ES'));
}
