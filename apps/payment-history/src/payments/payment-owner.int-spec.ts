/** Tests that callers read only payments of their own organisation, mode and customer, both singly and in pages. */
import { randomUUID } from 'node:crypto';
import type { PartnerPayment } from '@svc/contracts';
import { aPayment, paymentEvent } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { createOrganisation, type Organisation } from '../../test/organisation.js';

let history: History;
/**
 * Three organisations. `first in live mode` has the same id as `first`, but another mode. All three have customers with
 * the same references.
 */
let organisations: Readonly<Record<'first' | 'first in live mode' | 'second', Organisation>>;
/** The payments of the two customers of each organisation. */
const payments = new Map<Organisation, [PartnerPayment[], PartnerPayment[]]>();

beforeAll(async () => {
  history = await startHistory();
  const first = await createOrganisation(history);
  const { organisationId, customers } = first;
  organisations = {
    first,
    'first in live mode': await createOrganisation(history, { organisationId, customers, mode: 'live' }),
    second: await createOrganisation(history, { customers }),
  };
  // The payments of the organisations alternate, and their times are minutes to months apart. If the query used the
  // counts of another owner, it would return a wrong page.
  const allOrganisations = Object.values(organisations);
  for (const organisation of allOrganisations) payments.set(organisation, [[], []]);
  for (let nth = 0; nth < 60; nth++) {
    const organisation = allOrganisations[nth % 3]!;
    const customer = nth % 2;
    // About one second, a minute, an hour, three days or half a year, times a factor.
    const agoMs = [1, 61, 4_097, 262_145, 16_777_217][nth % 5]! * (1 + Math.floor(nth / 5)) * 1_000;
    const payment = aPayment(organisation.organisationId, organisation.customers[customer]!, {
      mode: organisation.mode,
      paymentUTCDate: history.clock.later(-agoMs).toISOString(),
    });
    payments.get(organisation)![customer]!.push(payment);
    await history.deliver(paymentEvent(payment));
  }
});
afterAll(() => history.stop());

const newestFirst = (ownPayments: readonly PartnerPayment[]): string[] =>
  ownPayments
    .toSorted((one, other) => other.paymentUTCDate.localeCompare(one.paymentUTCDate))
    .map(({ paymentReference }) => paymentReference);

async function listReferences(headers: Record<string, string>, query: string, pageSize: number): Promise<string[]> {
  const references: string[] = [];
  for (let page = 1; ; page++) {
    const found = await history.getPage(`?pageSize=${pageSize}&page=${page}${query}`, headers);
    references.push(...(found?.payments ?? []).map(({ paymentReference }) => paymentReference));
    if (!found?.nextPage) return references;
  }
}

describe.each(['first', 'first in live mode', 'second'] as const)('the organisation "%s"', (name) => {
  test.each([1, 7])('lists its own payments and the payments of each customer, %d on a page', async (pageSize) => {
    const { serviceHeaders, customerHeaders, customers } = organisations[name];
    const [paymentsOfFirst, paymentsOfSecond] = payments.get(organisations[name])!;
    expect(await listReferences(serviceHeaders, '', pageSize)).toEqual(
      newestFirst([...paymentsOfFirst, ...paymentsOfSecond]),
    );
    for (const [customer, customerPayments] of [paymentsOfFirst, paymentsOfSecond].entries()) {
      expect(await listReferences(serviceHeaders, `&customerReference=${customers[customer]}`, pageSize)).toEqual(
        newestFirst(customerPayments),
      );
      expect(await listReferences(customerHeaders[customer]!, '', pageSize)).toEqual(newestFirst(customerPayments));
      expect(
        await listReferences(customerHeaders[customer]!, `&customerReference=${customers[customer]}`, pageSize),
      ).toEqual(newestFirst(customerPayments));
      expect(
        await listReferences(customerHeaders[customer]!, `&customerReference=${customers[1 - customer]}`, pageSize),
      ).toEqual([]);
    }
    expect(await listReferences(serviceHeaders, `&customerReference=${randomUUID()}`, pageSize)).toEqual([]);
  });

  test('finds only its own payments, and each of its customers finds only their own payments', async () => {
    const { serviceHeaders, customerHeaders } = organisations[name];
    for (const [owner, paymentsByCustomer] of payments)
      for (const [customer, customerPayments] of paymentsByCustomer.entries()) {
        const isOwn = owner === organisations[name];
        const callers = [
          [serviceHeaders, isOwn],
          [customerHeaders[customer]!, isOwn],
          [customerHeaders[1 - customer]!, false],
        ] as const;
        for (const [headers, isFound] of callers) {
          const { status } = await history.get(`/v1/payments/${customerPayments[0]!.paymentReference}`, headers);
          expect(status).toBe(isFound ? 200 : 404);
        }
      }
  });
});

test('payments with the same time are listed by their reference, in descending order', async () => {
  const organisation = await createOrganisation(history);
  const references = ['b', 'd', 'a', 'c'].map((letter) => `0000000${letter}-0000-4000-8000-000000000000`);
  for (const reference of references)
    await history.deliver(
      paymentEvent(aPayment(organisation.organisationId, organisation.customers[0], { reference })),
    );
  const page = await history.getPage('', organisation.serviceHeaders);
  expect(page!.payments.map(({ reference }) => reference)).toEqual(references.toSorted().toReversed());
});

describe('customer ids:', () => {
  const listCustomerIds = async (headers: Record<string, string>, customerReference?: string): Promise<string[]> => {
    const query = customerReference === undefined ? '' : `?customerReference=${encodeURIComponent(customerReference)}`;
    return (await history.getPage(query, headers))?.payments.map(({ customer }) => customer.id) ?? [];
  };

  test('a customer id that is not a UUID is returned as it was sent, and matches only exactly the same text', async () => {
    const { organisationId, serviceHeaders } = await createOrganisation(history);
    for (const id of ['Loyalty 17 & Käthe', 'loyalty 17 & käthe']) {
      await history.deliver(paymentEvent(aPayment(organisationId, id)));
      expect(await listCustomerIds(serviceHeaders, id)).toEqual([id]);
    }
    expect(await listCustomerIds(serviceHeaders, 'LOYALTY 17 & KÄTHE')).toEqual([]);
  });

  test('a customer id that is a UUID is returned as it was sent, and matches regardless of upper and lower case', async () => {
    const { organisationId, serviceHeaders, customerHeaders, customers } = await createOrganisation(history);
    const [inLowerCase, inUpperCase] = [customers[0], customers[0].toUpperCase()];
    const payment = aPayment(organisationId, inUpperCase);
    await history.deliver(paymentEvent(payment));
    for (const id of [inLowerCase, inUpperCase]) {
      expect(await listCustomerIds(serviceHeaders, id)).toEqual([inUpperCase]);
      expect(await listCustomerIds(customerHeaders[0], id)).toEqual([inUpperCase]);
    }
    expect(await listCustomerIds(customerHeaders[0])).toEqual([inUpperCase]);
    expect((await history.get(`/v1/payments/${payment.paymentReference}`, customerHeaders[0])).status).toBe(200);
    expect(await listCustomerIds(customerHeaders[1])).toEqual([]);
  });
});
