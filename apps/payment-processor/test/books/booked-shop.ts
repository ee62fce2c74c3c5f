import { type Mode, ReadSettlementV1, type SettlementAccount, type SettlementPeriod } from '@svc/contracts';
import { Commands } from '@svc/messaging';
import { buildPayable } from '../builders.js';
import { encryptCard } from '../encrypted-card.js';
import { createMerchant } from '../partner.js';
import type { Processor } from '../processor.js';
import { forge } from './ledger.js';

/** A merchant whose movements a test books at any time. */
export interface BookedShop {
  readonly merchantId: number;
  read(period: string, changes?: Partial<SettlementPeriod>): Promise<SettlementAccount>;
  /** Books amounts that the platform owes to the merchant, at these times. */
  book(entries: readonly (readonly [time: string, amount: number])[], siteId?: number): Promise<void>;
}

/** A merchant with the sites 5001 and 5002, without any movement. */
export async function openBookedShop(
  processor: Processor,
  { zone = 'Africa/Johannesburg', mode = 'test' }: { readonly zone?: string; readonly mode?: Mode } = {},
): Promise<BookedShop> {
  const commands = new Commands(processor.broker);
  const { merchantId } = await createMerchant(processor, { timeZones: [{ zone }] });
  await createMerchant(processor, { merchantId, timeZones: [{ zone }] }, 5002);
  const paymentIds = new Map<number, string>();
  for (const siteId of [5001, 5002]) {
    const expiresAt = processor.clock.later(60_000).toISOString();
    const payable = buildPayable({ merchantId, siteId, mode, expiresAt });
    const binding = { sessionId: payable.payableId, paymentNumber: 1, expiresAt };
    const encryptedCard = await encryptCard(processor.cardKey, binding);
    const { paymentReference } = await processor.pay(payable, { command: { encryptedCard } });
    const [row] = await processor.dataSource.query<[{ payment_id: string }]>(
      `SELECT payment_id FROM payments WHERE payment_reference = $1`,
      [paymentReference],
    );
    paymentIds.set(siteId, row.payment_id);
  }
  // The merchant has only the movements that a test books.
  await forge(processor, `DELETE FROM transfers`);
  return {
    merchantId,
    read: (period, changes = {}) => commands.request(ReadSettlementV1, { merchantId, mode, period, ...changes }),
    book: async (entries, siteId = 5001) => {
      await processor.dataSource.query(
        `INSERT INTO transfers (transfer_id, kind, debit_account, credit_account, amount, currency, mode, merchant_id, payment_id, created_at)
         SELECT gen_random_uuid(), 'voucher', $1 || ':service:vouchers', $1 || ':merchant:' || $2::bigint || ':payable', amount, 'ZAR', $1, $2, $3,
                time
           FROM unnest($4::timestamptz[], $5::bigint[]) AS entry (time, amount)`,
        [mode, merchantId, paymentIds.get(siteId), entries.map(([time]) => time), entries.map(([, amount]) => amount)],
      );
    },
  };
}
