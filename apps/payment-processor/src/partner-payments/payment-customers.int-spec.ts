/** The organisation and the customer of a payment. */
import { randomUUID } from 'node:crypto';
import {
  type CustomerRegistered,
  CustomerRegisteredV1,
  type InvoiceSource,
  type PayableDescriptor,
  PaymentSucceededV1,
} from '@svc/contracts';
import { anEvent } from '@svc/testing';
import { CARDS } from '../../test/encrypted-card.js';
import { aCard, aMerchant, aPartner, openInvoice, type PartnerUnderTest } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

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

const anInvoice = (over: Partial<PayableDescriptor<InvoiceSource>> = {}) =>
  openInvoice(processor, { ...merchant, ...over });

test('a customer pays only as itself', async () => {
  const customer = await partner.customer();
  const { body } = await customer.pay(await anInvoice());
  expect(body.customer).toEqual({ id: customer.customerReference, firstName: '', lastName: '' });
  const other = { customer: { id: randomUUID() } };
  expect((await customer.pay(await anInvoice(), other)).status).toBe(403);
  const own = { customer: { id: customer.customerReference.toUpperCase(), firstName: 'A' } };
  const { status, body: ofOwn } = await customer.pay(await anInvoice(), own);
  expect([status, ofOwn.customer.id]).toEqual([201, own.customer.id]);
});

test('a customer with its own token has the name of its registration, permanently', async () => {
  const { organisationId } = partner;
  const customer = await partner.customer();
  const register = (over: Partial<CustomerRegistered>, version = 1) => {
    const { customerReference } = customer;
    const thandi = { organisationId, mode: 'test' as const, customerReference, firstName: 'Thandi', lastName: 'Nkosi' };
    return processor.deliver(anEvent(CustomerRegisteredV1, customerReference, version, { ...thandi, ...over }));
  };
  // Customers of another organisation or mode must not matter.
  await register({ organisationId: randomUUID(), firstName: 'Foreign' });
  await register({ mode: 'live', firstName: 'Live' });
  const reference = randomUUID();
  const invoice = await anInvoice();
  expect((await customer.pay(invoice, { reference })).body.customer).toMatchObject({ firstName: '', lastName: '' });

  await register({}, 2);
  await register({ firstName: 'Older' }, 1);
  const named = { id: customer.customerReference, firstName: 'Thandi', lastName: 'Nkosi' };
  const { body } = await customer.pay(await anInvoice());
  expect(body.customer).toEqual(named);
  const [event] = (await processor.published(PaymentSucceededV1)).slice(-1);
  expect(event!.payload.partner!.customer).toEqual(named);
  // A retry returns the same payment, whatever has changed since.
  const again = await customer.pay(invoice, { reference });
  expect([again.status, again.body.customer.firstName]).toEqual([200, '']);
  // The name in the request has priority; for a service token it is the only one.
  const other = { id: customer.customerReference, firstName: 'T' };
  const asSaid = await customer.pay(await anInvoice(), { customer: other });
  expect(asSaid.body.customer).toEqual({ ...other, lastName: '' });
  const ofService = { customer: { id: customer.customerReference } };
  expect((await partner.pay(await anInvoice(), ofService)).body.customer).toMatchObject({ firstName: '' });
});

test.each(['loyalty-17', 'Loyalty 17 / Käthe', 'x'.repeat(100), '0B6C3F4E-6F2A-4C3B-9D1E-7A8B9C0D1E2F'])(
  'a service token may use any customer id, which is stored as sent: %s',
  async (id) => {
    const [invoice, reference] = [await anInvoice(), randomUUID()];
    const paid = await partner.pay(invoice, { reference, customer: { id } });
    expect([paid.status, paid.body.customer]).toEqual([201, { id, firstName: '', lastName: '' }]);
    const [event] = (await processor.published(PaymentSucceededV1)).slice(-1);
    expect(event!.payload.partner!.customer.id).toBe(id);
  },
);

test('UUIDs of customers are compared ignoring case, other ids exactly', async () => {
  const [invoice, id] = [await anInvoice(), randomUUID()];
  const pay = (payable: typeof invoice, reference: string, customerId: string) =>
    partner.pay(payable, { reference, customer: { id: customerId } });
  const reference = randomUUID();
  expect((await pay(invoice, reference, id)).status).toBe(201);
  const again = await pay(invoice, reference, id.toUpperCase());
  expect([again.status, again.body.customer.id]).toEqual([200, id]);
  const [other, loyalty] = [await anInvoice(), randomUUID()];
  expect((await pay(other, loyalty, 'loyalty-17')).status).toBe(201);
  expect((await pay(other, loyalty, 'LOYALTY-17')).status).toBe(409);
});

test('a call without key or token is an empty 401, before any validation', async () => {
  const { status, body } = await (async () => {
    const answer = await processor.service.app.inject({ method: 'POST', url: '/v1/payments', payload: {} });
    return { status: answer.statusCode, body: answer.body };
  })();
  expect([status, body]).toEqual([401, '']);
});

test('two organisations may use the same reference, for the same invoice too', async () => {
  const other = await aPartner(processor);
  const [invoice, reference] = [await anInvoice(), randomUUID()];
  const declined = { reference, paymentMethod: { card: aCard({ cardNumber: CARDS.declined }) } };
  const [first, second] = [await partner.pay(invoice, declined), await other.pay(invoice, declined)];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.body.paymentReference).not.toBe(second.body.paymentReference);
});
