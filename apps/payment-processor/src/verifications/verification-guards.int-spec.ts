/**
 * Tests each condition for leaving the state `verificationRequired` and for leases. In each test exactly one condition
 * is false.
 */
import { randomUUID } from 'node:crypto';
import { type PaymentSnapshot, SessionCreatedV1 } from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { changeRow, readPaymentRows } from '../../test/attempts/open-attempt.js';
import { buildPayable } from '../../test/builders.js';
import { CARDS } from '../../test/encrypted-card.js';
import { buildPlainCard, createMerchant, createPartner } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PartnerPaymentRepository } from '../partner-payments/partner-payment.repository.js';
import { type OpenVerification, VerificationRepository } from './verification.repository.js';

let processor: Processor;
let verifications: VerificationRepository;
let startTime: number;
beforeAll(async () => {
  processor = await startProcessor();
  verifications = processor.service.app.get(VerificationRepository);
});
beforeEach(async () => {
  startTime = processor.clock.now().getTime();
  await processor.dataSource.query(`UPDATE verifications SET open = false`);
});
afterEach(() => processor.clock.advance(startTime - processor.clock.now().getTime()));
afterAll(() => processor.stop());

async function createVerification(payable = buildPayable()): Promise<OpenVerification> {
  await processor.pay(payable, { card: CARDS.verificationRequired });
  const [verification] = await leaseForPoll(payable.payableId);
  return verification!;
}
const leaseForPoll = (payableId: string): Promise<OpenVerification[]> =>
  verifications.leaseOpen(payableId, processor.clock.later(-1_000));
const paymentIds = (verifications: readonly OpenVerification[]): string[] =>
  verifications.map(({ paymentId }) => paymentId).sort();

const TRANSITIONS = [
  ['resume', (verification: OpenVerification) => verifications.resume(verification)],
  ['fail', (verification: OpenVerification) => verifications.fail(verification, 'verification.failed')],
] as const;

describe.each(TRANSITIONS)('the statement to %s a payment', (_, transition) => {
  test.each([
    ['the payment has continued', `UPDATE payments SET state = 'processing' WHERE payment_id = $1`],
    ['the payment has changed', `UPDATE payments SET version = version + 1 WHERE payment_id = $1`],
    ['the payment has an earlier version', `UPDATE payments SET version = version - 1 WHERE payment_id = $1`],
    ...['+', '-'].map((sign): [string, string] => [
      `the version of the payable has changed by ${sign}1`,
      `UPDATE payables SET version = version ${sign} 1 WHERE payable_id = (SELECT payable_id FROM payments WHERE payment_id = $1)`,
    ]),
  ])('changes nothing when %s', async (__, statement) => {
    const verification = await createVerification();
    await changeRow(processor, statement, verification.paymentId);
    const before = await readPaymentRows(processor, verification.paymentId);
    expect(await transition(verification)).toBeUndefined();
    expect(await readPaymentRows(processor, verification.paymentId)).toEqual(before);
  });

  test('changes only the payment of the verification, and only once', async () => {
    const [verification, otherVerification] = [await createVerification(), await createVerification()];
    const before = await readPaymentRows(processor, otherVerification.paymentId);
    expect(await transition(verification)).toBeDefined();
    expect(await readPaymentRows(processor, otherVerification.paymentId)).toEqual(before);
    const after = await readPaymentRows(processor, verification.paymentId);
    expect(after).toMatchObject({ verificationOpen: false, payableVersion: 4, paymentVersion: 3 });
    expect(await transition(verification)).toBeUndefined();
    expect(await readPaymentRows(processor, verification.paymentId)).toEqual(after);
  });
});

test('a payment resumes only when its payable is open', async () => {
  const verification = await createVerification();
  await changeRow(
    processor,
    `UPDATE payables SET state = 'closed' WHERE payable_id = (SELECT payable_id FROM payments WHERE payment_id = $1)`,
    verification.paymentId,
  );
  const before = await readPaymentRows(processor, verification.paymentId);
  expect(await verifications.resume(verification)).toBeUndefined();
  expect(await readPaymentRows(processor, verification.paymentId)).toEqual(before);
});

describe('a poll of a payable', () => {
  test('leases the open verification of this payable, at most once a second', async () => {
    const [payable, otherPayable] = [buildPayable(), buildPayable()];
    const verification = await createVerification(payable);
    await createVerification(otherPayable);
    processor.clock.advance(999);
    expect(await leaseForPoll(payable.payableId)).toEqual([]);
    processor.clock.advance(1);
    expect(paymentIds(await leaseForPoll(payable.payableId))).toEqual([verification.paymentId]);
  });

  test.each([
    ['that is closed', `UPDATE verifications SET open = false WHERE payment_id = $1`],
    ['of a payment that has continued', `UPDATE payments SET state = 'processing' WHERE payment_id = $1`],
  ])('does not lease a verification %s', async (_, statement) => {
    const payable = buildPayable();
    const verification = await createVerification(payable);
    await changeRow(processor, statement, verification.paymentId);
    processor.clock.advance(1_000);
    expect(await leaseForPoll(payable.payableId)).toEqual([]);
  });
});

describe('expired verifications', () => {
  const findExpiredIds = async () => paymentIds(await verifications.findExpired(50));

  test('are found from the millisecond of their expiry', async () => {
    const verification = await createVerification();
    processor.clock.advance(899_999);
    expect(await findExpiredIds()).toEqual([]);
    processor.clock.advance(1);
    expect(await findExpiredIds()).toEqual([verification.paymentId]);
  });

  test.each([
    ['if they have ended', `UPDATE verifications SET open = false WHERE payment_id = $1`],
    [
      'if another payment has reserved their payable',
      `UPDATE payables SET state = 'reserved', holder = gen_random_uuid() WHERE payable_id = (SELECT payable_id FROM payments WHERE payment_id = $1)`,
    ],
  ])('are not found %s', async (_, statement) => {
    const verification = await createVerification();
    await changeRow(processor, statement, verification.paymentId);
    processor.clock.advance(900_000);
    expect(await findExpiredIds()).toEqual([]);
  });
});

describe('verifications of partners', () => {
  const leaseDueOfPartners = async (limit = 50) =>
    paymentIds(await verifications.leaseDueOfPartners('simulated', processor.clock.later(5_000), limit));
  /** Creates a partner's payment that requires a verification. Returns the payment's id. */
  async function createPartnerVerification(): Promise<string> {
    const [partner, merchant] = [await createPartner(processor), await createMerchant(processor)];
    const payable = buildPayable({ ...merchant });
    await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
    const { status, body } = await partner.pay(payable, {
      paymentMethod: { card: buildPlainCard({ cardNumber: CARDS.verificationRequired }) },
    });
    expect([status, body.status]).toEqual([201, 'verificationRequired']);
    const [row] = await processor.dataSource.query<[{ paymentId: string }]>(
      `SELECT payment_id AS "paymentId" FROM payments WHERE payment_reference = $1`,
      [body.paymentReference],
    );
    return row.paymentId;
  }

  test('are leased every five seconds; verifications of hosted payments are not leased', async () => {
    const paymentId = await createPartnerVerification();
    await createVerification();
    expect(await leaseDueOfPartners()).toEqual([paymentId]);
    processor.clock.advance(4_999);
    expect(await leaseDueOfPartners()).toEqual([]);
    processor.clock.advance(1);
    expect(await leaseDueOfPartners()).toEqual([paymentId]);
  });

  test('are leased in the order of their waiting time, longest first', async () => {
    const first = await createPartnerVerification();
    expect(await leaseDueOfPartners(1)).toEqual([first]);
    processor.clock.advance(5_000);
    const second = await createPartnerVerification();
    expect([await leaseDueOfPartners(1), await leaseDueOfPartners(1)]).toEqual([[second], [first]]);
  });

  test.each([
    ['if they are closed', `UPDATE verifications SET open = false WHERE payment_id = $1`],
    ['of a payment that has continued', `UPDATE payments SET state = 'processing' WHERE payment_id = $1`],
  ])('are not leased %s', async (_, statement) => {
    await changeRow(processor, statement, await createPartnerVerification());
    expect(await leaseDueOfPartners()).toEqual([]);
  });

  test('have a return page; hosted payments and unknown references have no return page', async () => {
    const { payment } = await createVerification();
    const [partnerPayment] = await processor.dataSource.query<[{ reference: string }]>(
      `SELECT payment_reference AS reference FROM payments WHERE payment_id = $1`,
      [await createPartnerVerification()],
    );
    const returnPageStatus = async ({ paymentReference }: Pick<PaymentSnapshot, 'paymentReference'>) =>
      (await processor.service.app.inject({ method: 'GET', url: `/v1/verifications/${paymentReference}` })).statusCode;
    expect(await returnPageStatus({ paymentReference: partnerPayment.reference })).toBe(200);
    expect(await returnPageStatus(payment)).toBe(404);
    expect(await returnPageStatus({ paymentReference: randomUUID() })).toBe(404);
    const returned = await processor.service.app
      .get(PartnerPaymentRepository)
      .findPayableOfPayment(partnerPayment.reference);
    expect(returned).toEqual({ payableId: expect.any(String) });
    expect(returned?.payableId).not.toBe(payment.payable.payableId);
  });
});
