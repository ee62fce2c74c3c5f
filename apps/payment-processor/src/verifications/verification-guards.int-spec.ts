/** Each condition for leaving `verificationRequired` and for leases, with only this condition false. */
import { randomUUID } from 'node:crypto';
import { type PaymentSnapshot, SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { factsOf, tamper } from '../../test/attempts/open-attempt.js';
import { aPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { aCard, aMerchant, aPartner } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PartnerPaymentRepository } from '../partner-payments/partner-payment.repository.js';
import { type OpenVerification, VerificationRepository } from './verification.repository.js';

let processor: Processor;
let verifications: VerificationRepository;
let start: number;
beforeAll(async () => {
  processor = await startProcessor();
  verifications = processor.service.app.get(VerificationRepository);
});
beforeEach(async () => {
  start = processor.clock.now().getTime();
  await processor.dataSource.query(`UPDATE verifications SET open = false`);
});
afterEach(() => processor.clock.advance(start - processor.clock.now().getTime()));
afterAll(() => processor.stop());

async function challenged(payable = aPayable()): Promise<OpenVerification> {
  await processor.pay(payable, { card: CARDS.verified });
  const [open] = await look(payable.payableId);
  return open!;
}
const look = (payableId: string): Promise<OpenVerification[]> =>
  verifications.leaseOpen(payableId, processor.clock.later(-1_000));
const paymentIds = (found: readonly OpenVerification[]): string[] => found.map(({ paymentId }) => paymentId).sort();

const GO_ON = [
  ['resumes', (open: OpenVerification) => verifications.resume(open)],
  ['fails', (open: OpenVerification) => verifications.fail(open, 'verification.failed')],
] as const;

describe.each(GO_ON)('a payment that %s', (_, goOn) => {
  test.each([
    ['the payment has continued', `UPDATE payments SET state = 'processing' WHERE payment_id = $1`],
    ['the payment has changed', `UPDATE payments SET version = version + 1 WHERE payment_id = $1`],
    ['the payment has an earlier version', `UPDATE payments SET version = version - 1 WHERE payment_id = $1`],
    ...['+', '-'].map((sign): [string, string] => [
      `the payable has version ${sign} 1`,
      `UPDATE payables SET version = version ${sign} 1 WHERE payable_id = (SELECT payable_id FROM payments WHERE payment_id = $1)`,
    ]),
  ])('changes nothing when %s', async (__, statement) => {
    const open = await challenged();
    await tamper(processor, statement, open.paymentId);
    const before = await factsOf(processor, open.paymentId);
    expect(await goOn(open)).toBeUndefined();
    expect(await factsOf(processor, open.paymentId)).toEqual(before);
  });

  test('changes only once, and no other payment changes', async () => {
    const [open, other] = [await challenged(), await challenged()];
    const before = await factsOf(processor, other.paymentId);
    expect(await goOn(open)).toBeDefined();
    expect(await factsOf(processor, other.paymentId)).toEqual(before);
    const after = await factsOf(processor, open.paymentId);
    expect(after).toMatchObject({ verificationOpen: false, payableVersion: 4, paymentVersion: 3 });
    expect(await goOn(open)).toBeUndefined();
    expect(await factsOf(processor, open.paymentId)).toEqual(after);
  });
});

test('a payment resumes only when its payable is open', async () => {
  const open = await challenged();
  await tamper(
    processor,
    `UPDATE payables SET state = 'closed' WHERE payable_id = (SELECT payable_id FROM payments WHERE payment_id = $1)`,
    open.paymentId,
  );
  const before = await factsOf(processor, open.paymentId);
  expect(await verifications.resume(open)).toBeUndefined();
  expect(await factsOf(processor, open.paymentId)).toEqual(before);
});

describe('a client that polls a payable', () => {
  test('finds its own open verification, at most once a second', async () => {
    const [payable, other] = [aPayable(), aPayable()];
    const open = await challenged(payable);
    await challenged(other);
    processor.clock.advance(999);
    expect(await look(payable.payableId)).toEqual([]);
    processor.clock.advance(1);
    expect(paymentIds(await look(payable.payableId))).toEqual([open.paymentId]);
  });

  test.each([
    ['that is closed', `UPDATE verifications SET open = false WHERE payment_id = $1`],
    ['of a payment that has gone on', `UPDATE payments SET state = 'processing' WHERE payment_id = $1`],
  ])('finds no verification %s', async (_, statement) => {
    const payable = aPayable();
    const open = await challenged(payable);
    await tamper(processor, statement, open.paymentId);
    processor.clock.advance(1_000);
    expect(await look(payable.payableId)).toEqual([]);
  });
});

describe('expired verifications', () => {
  const expired = async () => paymentIds(await verifications.findExpired(50));

  test('are found from the millisecond of their expiry', async () => {
    const open = await challenged();
    processor.clock.advance(899_999);
    expect(await expired()).toEqual([]);
    processor.clock.advance(1);
    expect(await expired()).toEqual([open.paymentId]);
  });

  test.each([
    ['that ended before', `UPDATE verifications SET open = false WHERE payment_id = $1`],
    [
      'whose payable another payment has reserved',
      `UPDATE payables SET state = 'reserved', holder = gen_random_uuid() WHERE payable_id = (SELECT payable_id FROM payments WHERE payment_id = $1)`,
    ],
  ])('are not found %s', async (_, statement) => {
    const open = await challenged();
    await tamper(processor, statement, open.paymentId);
    processor.clock.advance(900_000);
    expect(await expired()).toEqual([]);
  });
});

describe('verifications of partners', () => {
  const claim = async (limit = 50) =>
    paymentIds(await verifications.leaseDueOfPartners(processor.clock.later(5_000), limit));
  /** Returns the payment's id. */
  async function ofPartner(): Promise<string> {
    const [partner, merchant] = [await aPartner(processor), await aMerchant(processor)];
    const payable = aPayable({ ...merchant });
    await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
    const { status, body } = await partner.pay(payable, {
      paymentMethod: { card: aCard({ cardNumber: CARDS.verified }) },
    });
    expect([status, body.status]).toEqual([201, 'verificationRequired']);
    const [row] = await processor.dataSource.query<[{ paymentId: string }]>(
      `SELECT payment_id AS "paymentId" FROM payments WHERE payment_reference = $1`,
      [body.paymentReference],
    );
    return row.paymentId;
  }

  test('are leased every five seconds, those of pages never', async () => {
    const paymentId = await ofPartner();
    await challenged();
    expect(await claim()).toEqual([paymentId]);
    processor.clock.advance(4_999);
    expect(await claim()).toEqual([]);
    processor.clock.advance(1);
    expect(await claim()).toEqual([paymentId]);
  });

  test('are leased in order: the longest waiting one first', async () => {
    const first = await ofPartner();
    expect(await claim(1)).toEqual([first]);
    processor.clock.advance(5_000);
    const second = await ofPartner();
    expect([await claim(1), await claim(1)]).toEqual([[second], [first]]);
  });

  test.each([
    ['that are closed', `UPDATE verifications SET open = false WHERE payment_id = $1`],
    ['of a payment that has gone on', `UPDATE payments SET state = 'processing' WHERE payment_id = $1`],
  ])('are not leased %s', async (_, statement) => {
    await tamper(processor, statement, await ofPartner());
    expect(await claim()).toEqual([]);
  });

  test('have a return page; those of pages, and other references, do not', async () => {
    const { payment } = await challenged();
    const [partners] = await processor.dataSource.query<[{ reference: string }]>(
      `SELECT payment_reference AS reference FROM payments WHERE payment_id = $1`,
      [await ofPartner()],
    );
    const statusOf = async ({ paymentReference }: Pick<PaymentSnapshot, 'paymentReference'>) =>
      (await processor.service.app.inject({ method: 'GET', url: `/v1/verifications/${paymentReference}` })).statusCode;
    expect(await statusOf({ paymentReference: partners.reference })).toBe(200);
    expect(await statusOf(payment)).toBe(404);
    expect(await statusOf({ paymentReference: randomUUID() })).toBe(404);
    const found = await processor.service.app.get(PartnerPaymentRepository).findReturned(partners.reference);
    expect(found).toEqual({ payableId: expect.any(String) });
    expect(found?.payableId).not.toBe(payment.payable.payableId);
  });
});
