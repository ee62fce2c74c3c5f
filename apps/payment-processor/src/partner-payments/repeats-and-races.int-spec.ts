import { randomUUID } from 'node:crypto';
import { ModuleRef } from '@nestjs/core';
import { SessionCreatedV1 } from '@svc/contracts';
import { anEvent, waitUntil } from '@svc/testing';
import type { Pool } from 'pg';
import { buildPayable } from '../../test/builders.js';
import {
  buildPlainCard,
  createMerchant,
  createPartner,
  openInvoice,
  type PartnerUnderTest,
} from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorModule } from '../app.module.js';
import { MakePayment } from './make-payment.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await createPartner(processor);
  merchant = await createMerchant(processor);
});
afterAll(() => processor.stop());

const createInvoice = (overrides = {}) => openInvoice(processor, { ...merchant, ...overrides });
const findCharges = (references: readonly string[]): string[] =>
  processor.chargedReferences().filter((reference) => references.includes(reference));
const countPayments = async (payable: { payableId: string }): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  return row.count;
};

describe('retries', () => {
  test('return the existing payment in its current state, also with another card', async () => {
    const [invoice, reference] = [await createInvoice(), randomUUID()];
    const customer = { id: randomUUID() };
    const first = await partner.pay(invoice, { reference, customer });
    const retried = await partner.pay(invoice, {
      reference: reference.toUpperCase(),
      customer,
      paymentMethod: { card: buildPlainCard({ cardNumber: '5555555555554444' }) },
    });
    expect([retried.status, retried.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(retried.body).toEqual(first.body);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
  });

  test('are rejected with 409 if their content is different', async () => {
    const [invoice, reference] = [await createInvoice(), randomUUID()];
    await partner.pay(invoice, { reference });
    for (const overrides of [{ amount: 1 }, { orderReference: 'x' }, { customer: { id: randomUUID() } }]) {
      const { status, body } = await partner.pay(invoice, { reference, ...overrides });
      expect([status, body.errors[0].errorReference]).toEqual([409, '40']);
    }
    const responseForOtherInvoice = await partner.pay(await createInvoice(), { reference });
    expect(responseForOtherInvoice.status).toBe(409);
  });

  test('create a new payment after a rejection, because a rejected call does not use its reference', async () => {
    const [invoice, reference] = [await createInvoice(), randomUUID()];
    expect((await partner.pay(invoice, { reference, amount: 1 })).status).toBe(422);
    expect((await partner.pay(invoice, { reference })).status).toBe(201);
  });
});

test('a thousand concurrent retries cause one charge and one payment, and waiting calls use no database connection', async () => {
  const [invoice, reference, customer] = [await createInvoice(), randomUUID(), { id: randomUUID() }];
  // This payment fills the caches of the API key and the token, so that the thousand calls do not query them.
  expect((await partner.pay(await createInvoice())).status).toBe(201);
  const acquirer = processor.acquirer;
  const charge = acquirer.charge.bind(acquirer);
  let release: () => void = () => undefined;
  const whenReleased = new Promise<void>((resolve) => (release = resolve));
  const chargeSpy = jest.spyOn(acquirer, 'charge').mockImplementation(async (...args) => {
    await whenReleased;
    return charge(...args);
  });
  const pool = (processor.dataSource.driver as unknown as { master: Pool }).master;
  let acquiredConnections = 0;
  const count = (): void => void acquiredConnections++;
  pool.on('acquire', count);
  const executeSpy = jest.spyOn(processor.service.app.get(MakePayment), 'execute');
  const calls = Promise.all(Array.from({ length: 1_000 }, () => partner.pay(invoice, { reference, customer })));
  await waitUntil('one charge at the bank and 999 waiting calls', 20_000, () =>
    Promise.resolve(
      chargeSpy.mock.calls.length === 1 && executeSpy.mock.calls.length === 1_000 && pool.idleCount === pool.totalCount,
    ),
  );
  expect([pool.waitingCount, pool.totalCount - pool.idleCount]).toEqual([0, 0]);
  release();
  const responses = await calls;
  pool.off('acquire', count);
  chargeSpy.mockRestore();
  executeSpy.mockRestore();

  expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(responses.filter(({ status, headers }) => status === 200 && headers['idempotency-replayed'])).toHaveLength(
    999,
  );
  const references = new Set(responses.map(({ body }) => body.paymentReference as string));
  expect(references.size).toBe(1);
  expect(findCharges([...references])).toHaveLength(1);
  expect(await countPayments(invoice)).toBe(1);
  // The first call and background jobs use connections. If each waiting call used a connection, there would be at least
  // a thousand connections.
  expect(acquiredConnections).toBeLessThan(100);
});

test('if several replicas get the same reference, one replica creates the payment, and the other replicas return it', async () => {
  const [invoice, reference, customer] = [await createInvoice(), randomUUID(), { id: randomUUID() }];
  const app = processor.service.app.select(PaymentProcessorModule).get(ModuleRef, { strict: true });
  // Each MakePayment simulates a separate process. The processes share the tables, but not the calls in flight.
  const replicas = await Promise.all([1, 2, 3].map(() => app.create(MakePayment)));
  const caller = { ...partner, mode: 'test', customerReference: undefined } as const;
  const results = await Promise.all(
    replicas.map((replica) =>
      replica.execute(caller, {
        reference,
        invoiceReference: invoice.payableId,
        amount: invoice.amount,
        customer,
        paymentMethod: { card: buildPlainCard() },
      }),
    ),
  );
  expect(new Set(results.map(({ payment }) => payment.paymentReference)).size).toBe(1);
  expect(results.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(results.map(({ payment }) => payment.state)).toEqual(['success', 'success', 'success']);
  expect(findCharges([results[0]!.payment.paymentReference])).toHaveLength(1);
});

interface HeldCharge {
  /** Resolves when the bank has received the charge. */
  readonly received: Promise<void>;
  /** Lets the bank respond. */
  respond(): void;
}

/** Makes the bank hold the charge of an amount until the HeldCharge of this amount lets the bank respond. */
function holdChargesAtBank(): { hold(amount: number): HeldCharge; stop(): void } {
  const heldCharges = new Map<number, { receive: () => void; whenAllowed: Promise<void> }>();
  const acquirer = processor.acquirer;
  const charge = acquirer.charge.bind(acquirer);
  const spy = jest.spyOn(acquirer, 'charge').mockImplementation(async (...args) => {
    const heldCharge = heldCharges.get(args[0].amount);
    heldCharge?.receive();
    await heldCharge?.whenAllowed;
    return charge(...args);
  });
  return {
    hold: (amount) => {
      let [receive, respond] = [(): void => undefined, (): void => undefined];
      const received = new Promise<void>((resolve) => (receive = resolve));
      heldCharges.set(amount, { receive, whenAllowed: new Promise<void>((resolve) => (respond = resolve)) });
      return { received, respond };
    },
    stop: () => spy.mockRestore(),
  };
}

test('concurrent payments from two pages and a partner cause one charge, in each of two hundred rounds', async () => {
  const heldCharges = holdChargesAtBank();
  /**
   * The start order of a round. "page first": the partner begins when the bank has received the charge of a page.
   * "partner first": both pages begin when the bank has received the partner's charge. In both cases the bank responds
   * after two payments were rejected. "concurrently": both pages and the partner begin at the same time, and the bank
   * responds immediately.
   */
  const START_ORDERS = ['page first', 'partner first', 'concurrently', 'concurrently'] as const;
  const [inProgress, isPaid] = ['payment.in-progress', 'payable.paid'];
  const EXPECTED_RESULTS = {
    'page first': { winners: ['page'], refusals: [inProgress] },
    'partner first': { winners: ['partner'], refusals: [inProgress] },
    concurrently: { winners: ['page', 'partner'], refusals: [inProgress, isPaid] },
  };
  const codes: Record<string, string | undefined> = { '23': inProgress, '20': isPaid };
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const payable = buildPayable({ ...merchant, amount: 1_000 + batch * 20 + index });
        // The session is stored, so that both pages and the partner can pay it.
        await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
        const startOrder = START_ORDERS[index % START_ORDERS.length]!;
        const heldCharge = heldCharges.hold(payable.amount);
        if (startOrder === 'concurrently') heldCharge.respond();
        const refusals: string[] = [];
        const recordRefusal = ({ code }: { code: string }): void => {
          refusals.push(code);
          if (refusals.length === 2) heldCharge.respond();
        };
        const payFromPage = async () => {
          if (startOrder === 'partner first') await heldCharge.received;
          return processor.pay(payable);
        };
        const payAsPartner = async () => {
          if (startOrder === 'page first') await heldCharge.received;
          const { status, body } = await partner.pay(payable);
          if (status === 201) return body as { paymentReference: string };
          const [{ errorReference }] = body.errors as [{ errorReference: string }];
          throw Object.assign(new Error(), { code: codes[errorReference] ?? errorReference });
        };
        const [firstPagePayment, secondPagePayment, partnerPayment] = await Promise.all(
          [payFromPage(), payFromPage(), payAsPartner()].map((call) => call.catch(recordRefusal)),
        );
        const paid = [firstPagePayment, secondPagePayment, partnerPayment].flatMap(
          (payment) => payment?.paymentReference ?? [],
        );
        expect(paid).toHaveLength(1);
        expect(findCharges(paid)).toHaveLength(1);
        expect(await readPayments(payable)).toEqual([
          { payment_reference: paid[0], state: 'success', payable: 'paid' },
        ]);
        expect(EXPECTED_RESULTS[startOrder].winners).toContain(partnerPayment ? 'partner' : 'page');
        expect(refusals).toHaveLength(2);
        for (const code of refusals) expect(EXPECTED_RESULTS[startOrder].refusals).toContain(code);
      }),
    );
  }
  heldCharges.stop();
});

async function readPayments(payable: { payableId: string }): Promise<unknown> {
  return processor.dataSource.query(
    `SELECT payment_reference, payments.state, payables.state AS payable
       FROM payments JOIN payables USING (payable_id) WHERE payable_id = $1`,
    [payable.payableId],
  );
}

test('a payment with an unknown outcome is returned as processing after 20 seconds, and recovered later', async () => {
  const [invoice, reference, customer] = [await createInvoice(), randomUUID(), { id: randomUUID() }];
  const acquirer = processor.acquirer;
  const unknownOutcome = { kind: 'unknown' } as const;
  const charge = jest.spyOn(acquirer, 'charge').mockResolvedValue(unknownOutcome);
  const querySpy = jest.spyOn(acquirer, 'getChargeStatus').mockResolvedValue(unknownOutcome);
  const response = partner.pay(invoice, { reference, customer });
  await waitUntil('a query to the bank', 5_000, () => Promise.resolve(querySpy.mock.calls.length > 0));
  processor.clock.advance(20_000);
  expect(await response).toMatchObject({ status: 202, body: { status: 'processing', processedAmount: 0 } });

  charge.mockRestore();
  querySpy.mockRestore();
  // The bank has received no charge. The recovery blocks the idempotency key at the bank, and the payment fails, so
  // that the invoice can be paid again.
  await processor.recoverAttempts();
  const retried = await partner.pay(invoice, { reference, customer });
  expect(retried).toMatchObject({ status: 200, body: { status: 'failed', errors: [{ errorReference: '30' }] } });
  expect((await partner.pay(invoice)).body.status).toBe('success');
});
