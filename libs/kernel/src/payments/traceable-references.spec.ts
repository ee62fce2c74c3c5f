import { createHash } from 'node:crypto';
import type { HostedSessionSource, InvoiceSource } from '@svc/contracts';
import { traceableReferences } from './traceable-references.js';

const SESSION_ID = '0190a1b2-0000-7000-8000-00000000000A';
const session = { kind: 'session', sessionId: SESSION_ID, merchantOrderId: 'order-7' } as HostedSessionSource;
const paymentReference = 'svc-1';

test('a payment of a session is found by its reference, by a digest of its session, and by its order', () => {
  const digest = createHash('sha256').update(SESSION_ID.toLowerCase()).digest('hex').slice(0, 16);
  const references = traceableReferences({ paymentReference, source: session });
  expect(references).toEqual({ paymentReference, session: digest, order: 'order-7' });
});

test('the order of a partner comes before that of the session', () => {
  expect(traceableReferences({ paymentReference, orderReference: 'p-1', source: session }).order).toBe('p-1');
});

test.each([
  [
    'an invoice with a reference of the merchant',
    { kind: 'invoice', externalReference: 'till-9' } as InvoiceSource,
    'till-9',
  ],
  ['an invoice without one', { kind: 'invoice' } as InvoiceSource, undefined],
])('%s has no session', (_, source, order) => {
  expect(traceableReferences({ paymentReference, source })).toEqual({
    paymentReference,
    ...(order === undefined ? {} : { order }),
  });
});

test('the report that a payment is in progress has only its reference', () => {
  expect(traceableReferences({ paymentReference, source: { kind: 'session' } })).toEqual({ paymentReference });
});
