import type { PublicKeyJwk } from '@svc/contracts';
import type { DataSource } from 'typeorm';

/** The newest key for card data that payment-processor published. */
export async function findCardKey(db: Pick<DataSource, 'query'>): Promise<PublicKeyJwk | undefined> {
  const [row] = await db.query<{ jwk: PublicKeyJwk }[]>(
    `SELECT public_jwk AS jwk FROM card_keys WHERE name = 'card-key'`,
  );
  return row?.jwk;
}
