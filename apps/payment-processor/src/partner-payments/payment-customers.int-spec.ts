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
import {
  buildPlainCard,
  createMerchant,
  createPartner,
  openInvoice,
  type PartnerUnderTest,
} from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';

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

const createInvoice = (overrides: Partial<PayableDescriptor<InvoiceSource>> = {}) =>
  openInvoice(processor, { ...merchant, ...overrides });

test('a customer’s token can pay only for this customer', async () => {
  const customer = await partner.customer();
  const { body } = await customer.pay(await createInvoice());
  expect(body.customer).toEqual({ id: customer.customerReference, firstName: '', lastName: '' });
  const otherCustomer = { customer: { id: randomUUID() } };
  expect((await customer.pay(await createInvoice(), otherCustomer)).status).toBe(403);
  const sameCustomer = { customer: { id: customer.customerReference.toUpperCase(), firstName: 'A' } };
  const { status, body: ownPayment } = await customer.pay(await createInvoice(), sameCustomer);
  expect([status, ownPayment.customer.id]).toEqual([201, sameCustomer.customer.id]);
});

test('a payment with a customer’s token stores the registered name of the customer, which later changes do not affect', async () => {
  const { organisationId } = partner;
  const customer = await partner.customer();
  const register = (overrides: Partial<CustomerRegistered>, version = 1) => {
    const { customerReference } = customer;
    const registration = {
      organisationId,
      mode: 'test' as const,
      customerReference,
      firstName: 'Thandi',
      lastName: 'Nkosi',
    };
    return processor.deliver(
      anEvent(CustomerRegisteredV1, customerReference, version, { ...registration, ...overrides }),
    );
  };
  // The registrations in another organisation and in another mode must have no effect.
  await register({ organisationId: randomUUID(), firstName: 'Foreign' });
  await register({ mode: 'live', firstName: 'Live' });
  const reference = randomUUID();
  const invoice = await createInvoice();
  expect((await customer.pay(invoice, { reference })).body.customer).toMatchObject({ firstName: '', lastName: '' });

  await register({}, 2);
  await register({ firstName: 'Older' }, 1);
  const registeredCustomer = { id: customer.customerReference, firstName: 'Thandi', lastName: 'Nkosi' };
  const { body } = await customer.pay(await createInvoice());
  expect(body.customer).toEqual(registeredCustomer);
  const [event] = (await processor.published(PaymentSucceededV1)).slice(-1);
  expect(event!.payload.partner!.customer).toEqual(registeredCustomer);
  // A retry returns the first payment, even if the name has changed since.
  const retried = await customer.pay(invoice, { reference });
  expect([retried.status, retried.body.customer.firstName]).toEqual([200, '']);
  // The name in the request has priority. With a service token the registered name is not used.
  const requestCustomer = { id: customer.customerReference, firstName: 'T' };
  const paidWithName = await customer.pay(await createInvoice(), { customer: requestCustomer });
  expect(paidWithName.body.customer).toEqual({ ...requestCustomer, lastName: '' });
  const serviceRequest = { customer: { id: customer.customerReference } };
  expect((await partner.pay(await createInvoice(), serviceRequest)).body.customer).toMatchObject({ firstName: '' });
});

test.each(['loyalty-17', 'Loyalty 17 / Käthe', 'x'.repeat(100), '0B6C3F4E-6F2A-4C3B-9D1E-7A8B9C0D1E2F'])(
  'a service token may use any customer id, which is stored as sent: %s',
  async (id) => {
    const [invoice, reference] = [await createInvoice(), randomUUID()];
    const paid = await partner.pay(invoice, { reference, customer: { id } });
    expect([paid.status, paid.body.customer]).toEqual([201, { id, firstName: '', lastName: '' }]);
    const [event] = (await processor.published(PaymentSucceededV1)).slice(-1);
    expect(event!.payload.partner!.customer.id).toBe(id);
  },
);

test('customer ids that are UUIDs are compared without case, and other customer ids are compared exactly', async () => {
  const [invoice, id] = [await createInvoice(), randomUUID()];
  const pay = (payable: typeof invoice, reference: string, customerId: string) =>
    partner.pay(payable, { reference, customer: { id: customerId } });
  const reference = randomUUID();
  expect((await pay(invoice, reference, id)).status).toBe(201);
  const retried = await pay(invoice, reference, id.toUpperCase());
  expect([retried.status, retried.body.customer.id]).toEqual([200, id]);
  const [otherInvoice, otherReference] = [await createInvoice(), randomUUID()];
  expect((await pay(otherInvoice, otherReference, 'loyalty-17')).status).toBe(201);
  expect((await pay(otherInvoice, otherReference, 'LOYALTY-17')).status).toBe(409);
});

test('a call without an API key and without a token is rejected, before any validation, with a 401 that has no body', async () => {
  const { status, body } = await (async () => {
    const response = await processor.service.app.inject({ method: 'POST', url: '/v1/payments', payload: {} });
    return { status: response.statusCode, body: response.body };
  })();
  expect([status, body]).toEqual([401, '']);
});

test('two organisations may use the same reference, even for the same invoice', async () => {
  const otherPartner = await createPartner(processor);
  const [invoice, reference] = [await createInvoice(), randomUUID()];
  const declined = { reference, paymentMethod: { card: buildPlainCard({ cardNumber: CARDS.declined }) } };
  const [first, second] = [await partner.pay(invoice, declined), await otherPartner.pay(invoice, declined)];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.body.paymentReference).not.toBe(second.body.paymentReference);
});
