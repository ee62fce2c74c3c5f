import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const KEY_BYTES = 32;

/** Signs URLs for payers' browsers. Each purpose has a key of its own, so that no URL is accepted in place of another. */
export class UrlSigner {
  private readonly key: Buffer;

  /** @param secret base64url */
  constructor(secret: string, purpose: string) {
    this.key = Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'base64url'), '', purpose, KEY_BYTES));
  }

  sign(parts: readonly (string | null)[]): string {
    return createHmac('sha256', this.key).update(JSON.stringify(parts)).digest('base64url');
  }

  verify(parts: readonly (string | null)[], signature: unknown): boolean {
    if (typeof signature !== 'string') return false;
    const [expected, found] = [Buffer.from(this.sign(parts)), Buffer.from(signature)];
    return expected.length === found.length && timingSafeEqual(expected, found);
  }
}
