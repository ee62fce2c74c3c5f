import { randomUUID } from 'node:crypto';
import {
  type EventEnvelope,
  type HostedPayableDescriptor,
  type HostedPaymentSnapshot,
  MerchantChangedV1,
  PayableClosedV1,
  PaymentFailedV1,
  PaymentSucceededV1,
  SessionCreatedV1,
  SessionExtendedV1,
} from '@svc/contracts';
import { newOwnCode, newPaymentReference } from '@svc/kernel';
import { anEvent } from '@svc/testing';
import { CODES_URL, type Decoder, type Merchant, startDecoder } from '../../test/decoder.js';
import { codePath, createPartner } from '../../test/partner.js';

let decoder: Decoder;
let merchant: Merchant;
let partnerHeaders: Record<string, string>;
beforeAll(async () => {
  decoder = await startDecoder();
});
beforeEach(async () => {
  merchant = await decoder.createMerchant();
  partnerHeaders = await createPartner(decoder);
});
afterAll(() => decoder.stop());

/** A hosted session, and the event that hosted-gateway publishes for it. */
interface Session {
  readonly code: string;
  readonly payable: HostedPayableDescriptor;
  readonly created: EventEnvelope;
}
/** Creates a session. Its event is not delivered yet. */
function createSession(changes: Partial<HostedPayableDescriptor> = {}): Session {
  const [sessionId, code] = [randomUUID(), newOwnCode()];
  const source = { kind: 'session', sessionId, apiVersion: 'v3.1', merchantOrderId: 'order-17', code } as const;
  const payable: HostedPayableDescriptor = {
    payableId: sessionId,
    mode: 'test',
    merchantId: merchant.merchantId,
    siteId: merchant.siteId,
    amount: 12345,
    currencyISOCode: 'ZAR',
    expiresAt: decoder.clock.later(1_800_000).toISOString(),
    maxPayments: 5,
    source: { ...source, notificationUrl: 'https://shop.example/hook' },
    ...changes,
  };
  return { code, payable, created: anEvent(SessionCreatedV1, sessionId, 1, { payable }) };
}
const decode = (code: string, headers = partnerHeaders) => decoder.call('GET', codePath(code), { headers });
/** The state of the decoded session, or the status of the error. */
const decodeState = async (code: string): Promise<string | number> => {
  const { status, body } = await decode(code);
  return status === 200 ? (body.invoice.state as string) : status;
};

/** The event of a payment of this payable, with the new states of the payment and of the payable. */
function createPaymentEvent(
  payable: HostedPayableDescriptor,
  state: 'success' | 'failed',
  payableState: 'paid' | 'open' | 'refused',
) {
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
    payable: { payableId: payable.payableId, state: payableState, version: 3, paymentCount: 1 },
    merchantName: 'Karoo Books',
    siteReference: 'KAROO',
  };
  return anEvent(state === 'success' ? PaymentSucceededV1 : PaymentFailedV1, randomUUID(), 2, payment);
}
const createClosedEvent = ({ payable }: Session) =>
  anEvent(PayableClosedV1, payable.payableId, 2, {
    payableId: payable.payableId,
    state: 'closed' as const,
    version: 2,
    paymentCount: 0,
  });

test('the code of a hosted session is decoded to its merchant and invoice, but not in the other mode', async () => {
  const { code, payable, created } = createSession();
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
  expect((await decode(code, await createPartner(decoder, 'live'))).status).toBe(404);
});

test('a decoded session has only those features of the merchant that apply to sessions', async () => {
  const { merchantId } = merchant;
  const features = { amount: { editable: true }, tip: { enabled: true }, orderReference: { label: 'Table' } };
  await decoder.deliver(
    anEvent(MerchantChangedV1, String(merchantId), 2, {
      ...{ merchantId, name: 'Karoo Books', features, minimumAmount: 100, grants: [], fees: {} },
      timeZones: [{ zone: 'Africa/Johannesburg' }],
    }),
  );
  const { code, created } = createSession();
  await decoder.deliver(created);
  expect((await decode(code)).body.merchant.features).toEqual({ orderReference: { label: 'Table' } });
});

test.each([
  ['is paid', (session: Session) => createPaymentEvent(session.payable, 'success', 'paid'), 'closed'],
  [
    'was refused after its last attempt',
    (session: Session) => createPaymentEvent(session.payable, 'failed', 'refused'),
    'closed',
  ],
  ['was cancelled', createClosedEvent, 'closed'],
  [
    'had a failed payment and can be paid again',
    (session: Session) => createPaymentEvent(session.payable, 'failed', 'open'),
    'open',
  ],
] as const)(
  'a session that %s is decoded with the correct state, even if its events are repeated or reordered',
  async (_, createEvent, state) => {
    const session = createSession();
    await decoder.deliver(session.created, createEvent(session));
    expect(await decodeState(session.code)).toBe(state);

    const reorderedSession = createSession();
    await decoder.deliver(createEvent(reorderedSession));
    expect(await decodeState(reorderedSession.code)).toBe(404);
    await decoder.deliver(
      reorderedSession.created,
      reorderedSession.created,
      createEvent(reorderedSession),
      reorderedSession.created,
    );
    expect(await decodeState(reorderedSession.code)).toBe(state);
  },
);

test('after the expiry, the code of an unpaid session causes a 410, and the code of a paid session is still decoded', async () => {
  const [unpaid, paid] = [createSession(), createSession()];
  await decoder.deliver(unpaid.created, paid.created, createPaymentEvent(paid.payable, 'success', 'paid'));
  decoder.clock.advance(1_800_000);
  // The token of the partner has expired too.
  partnerHeaders = await createPartner(decoder);
  expect([await decodeState(unpaid.code), await decodeState(paid.code)]).toEqual([410, 'closed']);
});

describe('the expiry of sessions', () => {
  async function createExpiredSession(): Promise<Session> {
    const session = createSession();
    await decoder.deliver(session.created);
    decoder.clock.advance(1_800_000);
    partnerHeaders = await createPartner(decoder);
    return session;
  }

  test('an expired session is open during a payment, causes a 410 after a failed payment, and is closed when its payable is final', async () => {
    const session = await createExpiredSession();
    decoder.payables.add(session.payable, 'reserved');
    const { status, body } = await decode(session.code);
    expect([status, body.invoice]).toEqual([
      200,
      expect.objectContaining({ invoiceReference: session.payable.payableId, amount: 12345, state: 'open' }),
    ]);
    decoder.payables.add(session.payable, 'open');
    expect(await decodeState(session.code)).toBe(410);
    for (const state of ['paid', 'refused', 'closed'] as const) {
      decoder.payables.add(session.payable, state);
      expect(await decodeState(session.code)).toBe('closed');
    }
  });

  test('an expired session causes a 410 if its payable does not exist in payment-processor', async () => {
    expect(await decodeState((await createExpiredSession()).code)).toBe(410);
  });

  test('while payment-processor is stopped, an expired session causes a 410, and other codes are decoded', async () => {
    const session = await createExpiredSession();
    decoder.payables.add(session.payable, 'reserved');
    const openSession = createSession();
    await decoder.deliver(openSession.created);
    await decoder.payables.stop();
    try {
      expect([await decodeState(session.code), await decodeState(openSession.code)]).toEqual([410, 'open']);
    } finally {
      await decoder.payables.start();
    }
  });

  test('payment-processor is queried for a session only after its expiry, and not if the session is closed', async () => {
    const [openSession, closedSession] = [createSession(), createSession()];
    await decoder.deliver(openSession.created, closedSession.created, createClosedEvent(closedSession));
    await decode(openSession.code);
    decoder.clock.advance(1_800_000 - 1);
    partnerHeaders = await createPartner(decoder);
    await decode(openSession.code);
    decoder.clock.advance(1);
    await decode(closedSession.code);
    expect(decoder.payables.queried).not.toContain(openSession.payable.payableId);
    expect(decoder.payables.queried).not.toContain(closedSession.payable.payableId);
    await decode(openSession.code);
    expect(decoder.payables.queried).toContain(openSession.payable.payableId);
  });
});

test('the event of a closed invoice stores no session', async () => {
  const { reference } = await decoder.createInvoice(merchant);
  await decoder.publishPayable(decoder.payables.set(reference, 'closed'));
  expect(await decoder.dataSource.query(`SELECT 1 FROM session_codes WHERE session_id = $1`, [reference])).toEqual([]);
});

test('only the first reported closing time of a session is stored', async () => {
  const session = createSession();
  const first = createClosedEvent(session);
  await decoder.deliver(session.created, first);
  await decoder.deliver({ ...createClosedEvent(session), occurredAt: decoder.clock.later(1_000).toISOString() });
  const rows = await decoder.dataSource.query<unknown[]>(`SELECT closed_at FROM session_codes WHERE session_id = $1`, [
    session.payable.payableId,
  ]);
  expect(rows).toEqual([{ closed_at: new Date(first.occurredAt) }]);
});

test.each([
  ['site', () => ({ siteId: 999_999 })],
  ['merchant', () => ({ merchantId: 999_999 })],
])(
  'the code of a session causes a 503 while the %s of the session is unknown, even if others are known',
  async (_, createIds) => {
    const { code, created } = createSession(createIds());
    await decoder.deliver(created);
    const { status, headers } = await decode(code);
    expect([status, headers['retry-after']]).toEqual([503, '1']);
  },
);

test('the extension of a session does not extend another session', async () => {
  const [extended, other] = [createSession(), createSession()];
  await decoder.deliver(extended.created, other.created);
  const payable = { ...extended.payable, expiresAt: decoder.clock.later(2_700_000).toISOString() };
  await decoder.deliver(anEvent(SessionExtendedV1, payable.payableId, 2, { payable }));
  const { rows } = await decoder.superuser.query<{ expires_at: Date }>(
    `SELECT expires_at FROM session_codes WHERE code = $1`,
    [other.code],
  );
  expect(rows).toEqual([{ expires_at: new Date(other.payable.expiresAt) }]);
});

test('an extended session has the later expiry, regardless of the order of its events', async () => {
  for (const isExtendedFirst of [false, true]) {
    const { code, payable, created } = createSession();
    const extendedPayable = { ...payable, expiresAt: decoder.clock.later(2_700_000).toISOString() };
    const extended = anEvent(SessionExtendedV1, payable.payableId, 2, { payable: extendedPayable });
    const shorter = anEvent(SessionExtendedV1, payable.payableId, 2, { payable });
    for (const event of isExtendedFirst ? [extended, created, extended, shorter] : [created, extended, shorter])
      await decoder.deliver(event);
    const {
      rows: [row],
    } = await decoder.superuser.query<{ expires_at: Date }>(`SELECT expires_at FROM session_codes WHERE code = $1`, [
      code,
    ]);
    expect(row?.expires_at.toISOString()).toBe(extendedPayable.expiresAt);
  }
});
