import type { SessionWithPayments } from '../../sessions/session.repository.js';
import type { TillInvoice } from '../../till-codes/till-invoice.js';
import { getPayableId } from './page-payable.js';

test('getPayableId returns the id of a session and the reference of an invoice', () => {
  expect(getPayableId({ sessionId: 'session 1' } as SessionWithPayments)).toBe('session 1');
  expect(getPayableId({ invoiceReference: 'invoice 1' } as TillInvoice)).toBe('invoice 1');
});
