import { randomUUID } from 'node:crypto';
import { ModuleRef } from '@nestjs/core';
import { SessionCreatedV1 } from '@svc/contracts';
import { anEvent, waitUntil } from '@svc/testing';
import type { Pool } from 'pg';
import { aPayable } from '../../test/builders.js';
import { aCard, aMerchant, aPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { Acquirer } from '../acquirers/acquirer.js';
import { PaymentProcessorModule } from '../app.module.js';
import { MakePayment } from './make-payment.js';
import { PaymentIdempotency } from './payment-idempotency.js';

let processor: Processor;
let partner: PartnerUnderTest;
let merchant: { merchantId: number; siteId: number };
beforeAll(async () => {
  processor = await startProcessor();
});
beforeEach(async () => {
  partner = await aPartner(processor);
  merchant = await aMerchant(processor);
});
afterAll(() => processor.stop());

const anInvoice = (over = {}) => openInvoice(processor, { ...merchant, ...over });
const chargesOf = (references: readonly string[]): string[] =>
  processor.charged().filter((reference) => references.includes(reference));
const countOf = async (payable: { payableId: string }): Promise<number> => {
  const [row] = await processor.dataSource.query<[{ count: number }]>(
    `SELECT count(*) FROM payments WHERE payable_id = $1`,
    [payable.payableId],
  );
  return row.count;
};

describe('retries', () => {
  test('return the same payment in its current state, also with another card and after it was paid', async () => {
    const [invoice, reference] = [await anInvoice(), randomUUID()];
    const customer = { id: randomUUID() };
    const first = await partner.pay(invoice, { reference, customer });
    const again = await partner.pay(invoice, {
      reference: reference.toUpperCase(),
      customer,
      paymentMethod: { card: aCard({ cardNumber: '5555555555554444' }) },
    });
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
  });

  test('with different content are a 409', async () => {
    const [invoice, reference] = [await anInvoice(), randomUUID()];
    await partner.pay(invoice, { reference });
    for (const over of [{ amount: 1 }, { orderReference: 'x' }, { customer: { id: randomUUID() } }]) {
      const { status, body } = await partner.pay(invoice, { reference, ...over });
      expect([status, body.errors[0].errorReference]).toEqual([409, '40']);
    }
    const elsewhere = await partner.pay(await anInvoice(), { reference });
    expect(elsewhere.status).toBe(409);
  });

  test('after a rejection are new payments, because the reference is free', async () => {
    const [invoice, reference] = [await anInvoice(), randomUUID()];
    expect((await partner.pay(invoice, { reference, amount: 1 })).status).toBe(422);
    expect((await partner.pay(invoice, { reference })).status).toBe(201);
  });
});

test('a thousand concurrent retries cause one charge and one payment, and waiting calls hold no database connection', async () => {
  const [invoice, reference, customer] = [await anInvoice(), randomUUID(), { id: randomUUID() }];
  // From now on the key and the token are cached, so that none of the thousand calls queries them.
  expect((await partner.pay(await anInvoice())).status).toBe(201);
  const acquirer = processor.service.app.get(Acquirer);
  const charge = acquirer.charge.bind(acquirer);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const calls = jest.spyOn(acquirer, 'charge').mockImplementation(async (...given) => {
    await released;
    return charge(...given);
  });
  const pool = (processor.dataSource.driver as unknown as { master: Pool }).master;
  let acquired = 0;
  const count = (): void => void acquired++;
  pool.on('acquire', count);
  const executed = jest.spyOn(processor.service.app.get(MakePayment), 'execute');
  const all = Promise.all(Array.from({ length: 1_000 }, () => partner.pay(invoice, { reference, customer })));
  await waitUntil('the first call to be at the bank, and the others to wait', 20_000, () =>
    Promise.resolve(
      calls.mock.calls.length === 1 && executed.mock.calls.length === 1_000 && pool.idleCount === pool.totalCount,
    ),
  );
  expect([pool.waitingCount, pool.totalCount - pool.idleCount]).toEqual([0, 0]);
  release();
  const answers = await all;
  pool.off('acquire', count);
  calls.mockRestore();
  executed.mockRestore();

  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status, headers }) => status === 200 && headers['idempotency-replayed'])).toHaveLength(999);
  const references = new Set(answers.map(({ body }) => body.paymentReference as string));
  expect(references.size).toBe(1);
  expect(chargesOf([...references])).toHaveLength(1);
  expect(await countOf(invoice)).toBe(1);
  // Connections of the first call and of background jobs; one for each waiting call would be a thousand.
  expect(acquired).toBeLessThan(100);
});

test('of two replicas with the same reference one creates the payment, and the other returns it', async () => {
  const [invoice, reference, customer] = [await anInvoice(), randomUUID(), { id: randomUUID() }];
  const app = processor.service.app.select(PaymentProcessorModule).get(ModuleRef, { strict: true });
  // Each use case is a process of its own: they share the tables, and no payments in flight.
  const aReplica = async (): Promise<MakePayment> => {
    const replica = await app.create(MakePayment);
    Reflect.set(replica, 'idempotency', await app.create(PaymentIdempotency));
    return replica;
  };
  const replicas = await Promise.all([1, 2, 3].map(aReplica));
  const caller = { ...partner, mode: 'test', customerReference: undefined } as const;
  const made = await Promise.all(
    replicas.map((replica) =>
      replica.execute(caller, {
        reference,
        invoiceReference: invoice.payableId,
        amount: invoice.amount,
        customer,
        paymentMethod: { card: aCard() },
      }),
    ),
  );
  expect(new Set(made.map(({ payment }) => payment.paymentReference)).size).toBe(1);
  expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
  expect(made.map(({ payment }) => payment.state)).toEqual(['success', 'success', 'success']);
  expect(chargesOf([made[0]!.payment.paymentReference])).toHaveLength(1);
});

interface ChargeGate {
  /** Resolves when the charge is at the bank. */
  readonly asked: Promise<void>;
  answer(): void;
}

/** A bank that responds to the charge of an amount when its gate opens. */
function gatesAtTheBank(): { of(amount: number): ChargeGate; stop(): void } {
  const gates = new Map<number, { ask: () => void; answered: Promise<void> }>();
  const acquirer = processor.service.app.get(Acquirer);
  const charge = acquirer.charge.bind(acquirer);
  const spy = jest.spyOn(acquirer, 'charge').mockImplementation(async (...given) => {
    const gate = gates.get(given[0].amount);
    gate?.ask();
    await gate?.answered;
    return charge(...given);
  });
  return {
    of: (amount) => {
      let [ask, answer] = [(): void => undefined, (): void => undefined];
      const asked = new Promise<void>((resolve) => (ask = resolve));
      gates.set(amount, { ask, answered: new Promise<void>((resolve) => (answer = resolve)) });
      return { asked, answer };
    },
    stop: () => spy.mockRestore(),
  };
}

test('concurrent payments from the page, a phone and a partner cause one charge, two hundred times', async () => {
  const gates = gatesAtTheBank();
  /**
   * In a quarter of the rounds each, one side is at the bank when the others begin, and the bank responds after their rejection;
   * in half of the rounds all begin at the same time, and the bank responds immediately.
   */
  const begin = ['page first', 'partner first', 'at once', 'at once'] as const;
  const [inProgress, isPaid] = ['payment.in-progress', 'payable.paid'];
  const permitted = {
    'page first': { winners: ['page'], refusals: [inProgress] },
    'partner first': { winners: ['partner'], refusals: [inProgress] },
    'at once': { winners: ['page', 'partner'], refusals: [inProgress, isPaid] },
  };
  const codes: Record<string, string | undefined> = { '23': inProgress, '20': isPaid };
  for (let batch = 0; batch < 10; batch++) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const payable = aPayable({ ...merchant, amount: 1_000 + batch * 20 + index });
        // The page has opened it: the session is stored, and all sides can pay.
        await processor.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable }));
        const how = begin[index % begin.length]!;
        const bank = gates.of(payable.amount);
        if (how === 'at once') bank.answer();
        const refusals: string[] = [];
        const refuse = ({ code }: { code: string }): void => {
          refusals.push(code);
          if (refusals.length === 2) bank.answer();
        };
        const fromPage = async () => {
          if (how === 'partner first') await bank.asked;
          return processor.pay(payable);
        };
        const fromPartner = async () => {
          if (how === 'page first') await bank.asked;
          const { status, body } = await partner.pay(payable);
          if (status === 201) return body as { paymentReference: string };
          const [{ errorReference }] = body.errors as [{ errorReference: string }];
          throw Object.assign(new Error(), { code: codes[errorReference] ?? errorReference });
        };
        const [fromOnePage, fromAnother, fromThePartner] = await Promise.all(
          [fromPage(), fromPage(), fromPartner()].map((paying) => paying.catch(refuse)),
        );
        const paid = [fromOnePage, fromAnother, fromThePartner].flatMap((payment) => payment?.paymentReference ?? []);
        expect(paid).toHaveLength(1);
        expect(chargesOf(paid)).toHaveLength(1);
        expect(await paymentsOf(payable)).toEqual([{ payment_reference: paid[0], state: 'success', payable: 'paid' }]);
        expect(permitted[how].winners).toContain(fromThePartner ? 'partner' : 'page');
        expect(refusals).toHaveLength(2);
        for (const code of refusals) expect(permitted[how].refusals).toContain(code);
      }),
    );
  }
  gates.stop();
});

async function paymentsOf(payable: { payableId: string }): Promise<unknown> {
  return processor.dataSource.query(
    `SELECT payment_reference, payments.state, payables.state AS payable
       FROM payments JOIN payables USING (payable_id) WHERE payable_id = $1`,
    [payable.payableId],
  );
}

test('a payment with an unknown outcome is returned as processing after 20 seconds, and recovered later', async () => {
  const [invoice, reference, customer] = [await anInvoice(), randomUUID(), { id: randomUUID() }];
  const acquirer = processor.service.app.get(Acquirer);
  const silent = { kind: 'unknown' } as const;
  const charge = jest.spyOn(acquirer, 'charge').mockResolvedValue(silent);
  const ask = jest.spyOn(acquirer, 'getChargeStatus').mockResolvedValue(silent);
  const answer = partner.pay(invoice, { reference, customer });
  await waitUntil('a query to the bank', 5_000, () => Promise.resolve(ask.mock.calls.length > 0));
  processor.clock.advance(20_000);
  expect(await answer).toMatchObject({ status: 202, body: { status: 'processing', processedAmount: 0 } });

  charge.mockRestore();
  ask.mockRestore();
  // Nothing has arrived at the bank: blocked there, failed, payable again.
  await processor.recover();
  const again = await partner.pay(invoice, { reference, customer });
  expect(again).toMatchObject({ status: 200, body: { status: 'failed', errors: [{ errorReference: '30' }] } });
  expect((await partner.pay(invoice)).body.status).toBe('success');
});
