import { randomInt, randomUUID } from 'node:crypto';
import type { Acquirer, CardCharge, ChargeOutcome } from '../../src/acquirers/acquirer.js';
import { buildPayable } from '../builders.js';
import { encryptCard } from '../encrypted-card.js';
import type { Processor } from '../processor.js';

/** Limits that hold in test mode. */
export const LIMITS_ON = { SVC_VELOCITY_LIMITS_TEST: 'on' } as const;

/** A new valid card number of 16 digits that begins with this range, by default with a new one. */
export function newCardNumber(range = `51${String(randomInt(1_000_000)).padStart(6, '0')}`): string {
  const digits = range + String(randomInt(10_000_000)).padStart(15 - range.length, '0');
  const sum = [...digits].reduceRight((total, digit, index) => {
    const value = Number(digit) * ((digits.length - index) % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

export const DECLINED = {
  kind: 'declined',
  reason: 'card.declined',
  acquirerReference: 'a-1',
} as const satisfies ChargeOutcome;
export const APPROVED = { kind: 'approved', acquirerReference: 'a-1' } as const satisfies ChargeOutcome;

/** Replaces the acquirer's charges by this outcome. The returned mock counts the charges. */
export function answerCharges(
  { acquirer }: Pick<Processor, 'acquirer'>,
  outcome: ChargeOutcome | ((charge: CardCharge) => ChargeOutcome | Promise<ChargeOutcome>),
): jest.SpiedFunction<Acquirer['charge']> {
  const charges = jest.spyOn(acquirer, 'charge').mockClear();
  return charges.mockImplementation((charge) =>
    Promise.resolve(typeof outcome === 'function' ? outcome(charge) : outcome),
  );
}

/** How a payment on the page of a new session ends: the state of the payment, or the code of the refusal. */
export async function payWith(
  processor: Processor,
  card: string,
  {
    address,
    paymentNumber = 1,
    ...overrides
  }: Parameters<typeof buildPayable>[0] & { readonly address?: string; readonly paymentNumber?: number } = {},
): Promise<string> {
  const expiresAt = processor.clock.later(60_000).toISOString();
  const payable = buildPayable({ expiresAt, ...overrides });
  const payer = address === undefined ? {} : { address };
  const binding = { sessionId: payable.payableId, paymentNumber, expiresAt };
  const encryptedCard = await encryptCard(processor.cardKey, binding, { cardNumber: card });
  try {
    return (await processor.pay(payable, { reference: randomUUID(), paymentNumber, command: { payer, encryptedCard } }))
      .state;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

export interface CounterRow {
  readonly scope: string;
  readonly inFlight: number;
  readonly declines: number;
}

/** All counters without their keys, in the order of their scopes. */
export async function readCounters({ dataSource }: Pick<Processor, 'dataSource'>): Promise<CounterRow[]> {
  return dataSource.query(
    `SELECT split_part(counter_key, ':', 1) AS scope, cardinality(in_flight) AS "inFlight", cardinality(declined_at) AS declines
       FROM velocity_counters ORDER BY 1, 2, 3`,
  );
}
