import { randomUUID } from 'node:crypto';
import {
  type EventEnvelope,
  type HostedPaymentSnapshot,
  MerchantChangedV1,
  PayableClosedV1,
  type PayableDescriptor,
  PaymentFailedV1,
  PaymentSucceededV1,
  SessionCreatedV1,
  SessionExtendedV1,
} from '@svc/contracts';
import { newOwnCode, newPaymentReference } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { CODES_URL, type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';
import { aPartner, codePath } from '../../test/partner.js';

let decoder: Decoder;
let merchant: Merchant;
let partner: Record<string, string>;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  merchant = await decoder.aMerchant();
  partner = await aPartner(decoder);
});
afterAll(() => decoder.stop());

interface Session {
  readonly code: string;
  readonly payable: PayableDescriptor;
  readonly created: EventEnvelope;
}
/** A session as hosted-gateway publishes it; not yet delivered. */
function aSession(over: Partial<PayableDescriptor> = {}): Session {
  const [sessionId, code] = [randomUUID(), newOwnCode()];
  const source = { kind: 'session', sessionId, apiVersion: 'v3.1', merchantOrderId: 'order-17', code } as const;
  const payable: PayableDescriptor = {
    payableId: sessionId,
    mode: 'test',
    merchantId: merchant.merchantId,
    siteId: merchant.siteId,
    amount: 12345,
    currencyISOCode: 'ZAR',
    expiresAt: decoder.clock.later(1_800_000).toISOString(),
    triesMax: 5,
    source: { ...source, notificationUrl: 'https://shop.example/hook' },
    ...over,
  };
  return { code, payable, created: anEvent(SessionCreatedV1, sessionId, 1, { payable }) };
}
const decode = (code: string, headers = partner) => decoder.call('GET', codePath(code), { headers });
const stateOf = async (code: string): Promise<string | number> => {
  const { status, body } = await decode(code);
  return status === 200 ? (body.invoice.state as string) : status;
};

function aPayment(payable: PayableDescriptor, state: 'success' | 'failed', left: 'paid' | 'open' | 'refused') {
  const payment: HostedPaymentSnapshot = {
    reference: randomUUID(),
    paymentReference: newPaymentReference(decoder.clock.now()),
    mode: payable.mode,
    merchantId: payable.merchantId,
    siteId: payable.siteId,
    state,
    currencyISOCode: 'ZAR',
    invoicedAmount: payable.amount,
    amount: payable.amount,
    tipAmount: 0,
    processedAmount: state === 'success' ? payable.amount : 0,
    paymentUTCDate: decoder.clock.nowISO(),
    modifiedUTCDate: decoder.clock.nowISO(),
    paymentMethodType: 'Card',
    paymentMethodLabel: '**** 4242',
    errors: [],
    source: payable.source,
    payable: { payableId: payable.payableId, state: left, version: 3, tries: 1 },
  };
  return anEvent(state === 'success' ? PaymentSucceededV1 : PaymentFailedV1, randomUUID(), 2, payment);
}
const closed = ({ payable }: Session) =>
  anEvent(PayableClosedV1, payable.payableId, 2, {
    payableId: payable.payableId,
    state: 'closed' as const,
    version: 2,
    tries: 0,
  });

test('the code of a hosted session is decoded to its merchant and amount', async () => {
  const { code, payable, created } = aSession();
  await decoder.deliver(created);
  for (const text of [`${CODES_URL}/c/${code}`, code]) {
    const { status, body } = await decode(text);
    expect([status, body]).toEqual([
      200,
      {
        merchant: {
          merchantReference: String(merchant.merchantId),
          merchantName: 'Karoo Books',
          currencyISOCode: 'ZAR',
          currencySymbol: 'R',
          features: {},
        },
        invoice: {
          siteReference: 'KAROO',
          currencyISOCode: 'ZAR',
          amount: 12345,
          createdUTCDate: '2026-03-01T10:00:00.000Z',
          invoiceReference: payable.payableId,
          orderReference: 'order-17',
          state: 'open',
        },
      },
    ]);
  }
  expect((await decode(code, await aPartner(decoder, 'live'))).status).toBe(404);
});

test('a decoded session has only those features of the merchant that apply to sessions', async () => {
  const { merchantId } = merchant;
  const features = { amount: { editable: true }, tip: { enabled: true }, orderReference: { label: 'Table' } };
  await decoder.deliver(
    anEvent(MerchantChangedV1, String(merchantId), 2, { merchantId, name: 'Karoo Books', features, grants: [] }),
  );
  const { code, created } = aSession();
  await decoder.deliver(created);
  expect((await decode(code)).body.merchant.features).toEqual({ orderReference: { label: 'Table' } });
});

test.each([
  ['is paid', (session: Session) => aPayment(session.payable, 'success', 'paid'), 'closed'],
  ['was refused after its last try', (session: Session) => aPayment(session.payable, 'failed', 'refused'), 'closed'],
  ['was cancelled', closed, 'closed'],
  ['can be tried again', (session: Session) => aPayment(session.payable, 'failed', 'open'), 'open'],
] as const)(
  'the code of a session that %s has that state, with events in any order and repeated',
  async (_, happened, state) => {
    const told = aSession();
    await decoder.deliver(told.created, happened(told));
    expect(await stateOf(told.code)).toBe(state);

    const overtaken = aSession();
    await decoder.deliver(happened(overtaken));
    expect(await stateOf(overtaken.code)).toBe(404);
    await decoder.deliver(overtaken.created, overtaken.created, happened(overtaken), overtaken.created);
    expect(await stateOf(overtaken.code)).toBe(state);
  },
);

test('an unpaid session expires; a paid one does not', async () => {
  const [left, paid] = [aSession(), aSession()];
  await decoder.deliver(left.created, paid.created, aPayment(paid.payable, 'success', 'paid'));
  decoder.clock.advance(1_800_000);
  partner = await aPartner(decoder);
  expect([await stateOf(left.code), await stateOf(paid.code)]).toEqual([410, 'closed']);
});

describe('after the expiry of a session', () => {
  async function expiredSession(): Promise<Session> {
    const session = aSession();
    await decoder.deliver(session.created);
    decoder.clock.advance(1_800_000);
    partner = await aPartner(decoder);
    return session;
  }

  test('a session is open during a payment, and expired or closed after it', async () => {
    const session = await expiredSession();
    decoder.payables.add(session.payable, 'reserved');
    const { status, body } = await decode(session.code);
    expect([status, body.invoice]).toEqual([
      200,
      expect.objectContaining({ invoiceReference: session.payable.payableId, amount: 12345, state: 'open' }),
    ]);
    decoder.payables.add(session.payable, 'open');
    expect(await stateOf(session.code)).toBe(410);
    for (const state of ['paid', 'refused', 'closed'] as const) {
      decoder.payables.add(session.payable, state);
      expect(await stateOf(session.code)).toBe('closed');
    }
  });

  test('a session that payment-processor does not know is expired', async () => {
    expect(await stateOf((await expiredSession()).code)).toBe(410);
  });

  test('without payment-processor an expired session stays expired, and other codes are decoded', async () => {
    const session = await expiredSession();
    decoder.payables.add(session.payable, 'reserved');
    const open = aSession();
    await decoder.deliver(open.created);
    await decoder.payables.stop();
    try {
      expect([await stateOf(session.code), await stateOf(open.code)]).toEqual([410, 'open']);
    } finally {
      await decoder.payables.start();
    }
  });

  test('payment-processor is not queried for open or closed sessions', async () => {
    const [open, over] = [aSession(), aSession()];
    await decoder.deliver(open.created, over.created, closed(over));
    await decode(open.code);
    decoder.clock.advance(1_800_000 - 1);
    partner = await aPartner(decoder);
    await decode(open.code);
    decoder.clock.advance(1);
    await decode(over.code);
    expect(decoder.payables.queried).not.toContain(open.payable.payableId);
    expect(decoder.payables.queried).not.toContain(over.payable.payableId);
    await decode(open.code);
    expect(decoder.payables.queried).toContain(open.payable.payableId);
  });
});

test('a session without a code, from an earlier release, is ignored', async () => {
  const { payable } = aSession();
  const { code: _, ...source } = payable.source;
  await decoder.deliver(anEvent(SessionCreatedV1, payable.payableId, 1, { payable: { ...payable, source } }));
  const rows = await decoder.dataSource.query<unknown[]>(`SELECT 1 FROM session_codes WHERE session_id = $1`, [
    payable.payableId,
  ]);
  expect(rows).toEqual([]);
});

test('a closed invoice creates no session', async () => {
  const { reference } = await decoder.createInvoice(merchant);
  await decoder.publishPayable(decoder.payables.set(reference, 'closed'));
  expect(await decoder.dataSource.query(`SELECT 1 FROM session_codes WHERE session_id = $1`, [reference])).toEqual([]);
});

test('a session stays closed at the time that was reported first', async () => {
  const session = aSession();
  const first = closed(session);
  await decoder.deliver(session.created, first);
  await decoder.deliver({ ...closed(session), occurredAt: decoder.clock.later(1_000).toISOString() });
  const rows = await decoder.dataSource.query<unknown[]>(`SELECT closed_at FROM session_codes WHERE session_id = $1`, [
    session.payable.payableId,
  ]);
  expect(rows).toEqual([{ closed_at: new Date(first.occurredAt) }]);
});

test.each([
  ['site', () => ({ siteId: 999_999 })],
  ['merchant', () => ({ merchantId: 999_999 })],
])('a %s whose event has not arrived is a 503; data of other sites and merchants are not used', async (_, unknown) => {
  const { code, created } = aSession(unknown());
  await decoder.deliver(created);
  const { status, headers } = await decode(code);
  expect([status, headers['retry-after']]).toEqual([503, '1']);
});

it('an extended session can be paid until the later time, in any order of the events', async () => {
  for (const isFirst of [false, true]) {
    const { code, payable, created } = aSession();
    const longer = { ...payable, expiresAt: decoder.clock.later(2_700_000).toISOString() };
    const extended = anEvent(SessionExtendedV1, payable.payableId, 2, { payable: longer });
    for (const event of isFirst ? [extended, created, extended] : [created, extended]) await decoder.deliver(event);
    const {
      rows: [row],
    } = await decoder.superuser.query<{ expires_at: Date }>(`SELECT expires_at FROM session_codes WHERE code = $1`, [
      code,
    ]);
    expect(row?.expires_at.toISOString()).toBe(longer.expiresAt);
  }
});
