/** A payment belongs to one organisation, one mode and one customer: as a single payment, on a page, and in the counts for paging. */
import { randomUUID } from 'node:crypto';
import type { PartnerPayment } from '@svc/contracts';
import { aPayment, paymentEvent } from '@svc/testing';
import { type History, startHistory } from '../../test/history.js';
import { createOrganisation, type Organisation } from '../../test/organisation.js';

let history: History;
/** By what differs from `ours`; a customer's reference is the same in all of them. */
let organisations: Readonly<Record<'ours' | 'in the other mode' | 'another', Organisation>>;
/** Of both customers of each. */
const payments = new Map<Organisation, [PartnerPayment[], PartnerPayment[]]>();

beforeAll(async () => {
  history = await startHistory();
  const ours = await createOrganisation(history);
  const { organisationId, customers } = ours;
  organisations = {
    ours,
    'in the other mode': await createOrganisation(history, { organisationId, customers, mode: 'live' }),
    another: await createOrganisation(history, { customers }),
  };
  // Interleaved, over minutes, hours and months, so that the counts of each level lead somewhere else for each of them.
  const all = Object.values(organisations);
  for (const organisation of all) payments.set(organisation, [[], []]);
  for (let nth = 0; nth < 60; nth++) {
    const organisation = all[nth % 3]!;
    const customer = nth % 2;
    const ago = [1, 61, 4_097, 262_145, 16_777_217][nth % 5]! * (1 + Math.floor(nth / 5)) * 1_000;
    const payment = aPayment(organisation.organisationId, organisation.customers[customer]!, {
      mode: organisation.mode,
      paymentUTCDate: history.clock.later(-ago).toISOString(),
    });
    payments.get(organisation)![customer]!.push(payment);
    await history.deliver(paymentEvent(payment));
  }
});
afterAll(() => history.stop());

const newestFirst = (of: readonly PartnerPayment[]): string[] =>
  of
    .toSorted((one, other) => other.paymentUTCDate.localeCompare(one.paymentUTCDate))
    .map(({ paymentReference }) => paymentReference);

async function listed(headers: Record<string, string>, query: string, pageSize: number): Promise<string[]> {
  const seen: string[] = [];
  for (let page = 1; ; page++) {
    const found = await history.getPage(`?pageSize=${pageSize}&page=${page}${query}`, headers);
    seen.push(...(found?.payments ?? []).map(({ paymentReference }) => paymentReference));
    if (!found?.nextPage) return seen;
  }
}

describe.each(['ours', 'in the other mode', 'another'] as const)('the organisation: %s', (name) => {
  test.each([1, 7])('lists its own payments and those of each customer, %d on a page', async (pageSize) => {
    const { serviceHeaders, customerHeaders, customers } = organisations[name];
    const [ofFirst, ofSecond] = payments.get(organisations[name])!;
    expect(await listed(serviceHeaders, '', pageSize)).toEqual(newestFirst([...ofFirst, ...ofSecond]));
    for (const [customer, own] of [ofFirst, ofSecond].entries()) {
      expect(await listed(serviceHeaders, `&customerReference=${customers[customer]}`, pageSize)).toEqual(newestFirst(own));
      expect(await listed(customerHeaders[customer]!, '', pageSize)).toEqual(newestFirst(own));
      expect(await listed(customerHeaders[customer]!, `&customerReference=${customers[customer]}`, pageSize)).toEqual(
        newestFirst(own),
      );
      expect(await listed(customerHeaders[customer]!, `&customerReference=${customers[1 - customer]}`, pageSize)).toEqual([]);
    }
    expect(await listed(serviceHeaders, `&customerReference=${randomUUID()}`, pageSize)).toEqual([]);
  });

  test('finds only its own payments, and so does each customer', async () => {
    const { serviceHeaders, customerHeaders } = organisations[name];
    for (const [owner, ofCustomers] of payments)
      for (const [customer, own] of ofCustomers.entries()) {
        const isOurs = owner === organisations[name];
        const callers = [
          [serviceHeaders, isOurs],
          [customerHeaders[customer]!, isOurs],
          [customerHeaders[1 - customer]!, false],
        ] as const;
        for (const [headers, isFound] of callers) {
          const { status } = await history.get(`/v1/payments/${own[0]!.paymentReference}`, headers);
          expect(status).toBe(isFound ? 200 : 404);
        }
      }
  });
});

test('payments of the same time are listed by their reference, in descending order', async () => {
  const organisation = await createOrganisation(history);
  const references = ['b', 'd', 'a', 'c'].map((letter) => `0000000${letter}-0000-4000-8000-000000000000`);
  for (const reference of references)
    await history.deliver(
      paymentEvent(aPayment(organisation.organisationId, organisation.customers[0], { reference })),
    );
  const page = await history.getPage('', organisation.serviceHeaders);
  expect(page!.payments.map(({ reference }) => reference)).toEqual(references.toSorted().toReversed());
});

describe('a customer’s id is any text of the partner', () => {
  const idsOf = async (headers: Record<string, string>, customerReference?: string): Promise<string[]> => {
    const query = customerReference === undefined ? '' : `?customerReference=${encodeURIComponent(customerReference)}`;
    return (await history.getPage(query, headers))?.payments.map(({ customer }) => customer.id) ?? [];
  };

  test('it is returned as sent, and found only by the same text', async () => {
    const { organisationId, serviceHeaders } = await createOrganisation(history);
    for (const id of ['Loyalty 17 & Käthe', 'loyalty 17 & käthe']) {
      await history.deliver(paymentEvent(aPayment(organisationId, id)));
      expect(await idsOf(serviceHeaders, id)).toEqual([id]);
    }
    expect(await idsOf(serviceHeaders, 'LOYALTY 17 & KÄTHE')).toEqual([]);
  });

  test('a UUID is returned as sent, and found in upper and lower case, by its customer too', async () => {
    const { organisationId, serviceHeaders, customerHeaders, customers } = await createOrganisation(history);
    const [inLowerCase, inCapitals] = [customers[0], customers[0].toUpperCase()];
    const payment = aPayment(organisationId, inCapitals);
    await history.deliver(paymentEvent(payment));
    for (const id of [inLowerCase, inCapitals]) {
      expect(await idsOf(serviceHeaders, id)).toEqual([inCapitals]);
      expect(await idsOf(customerHeaders[0], id)).toEqual([inCapitals]);
    }
    expect(await idsOf(customerHeaders[0])).toEqual([inCapitals]);
    expect((await history.get(`/v1/payments/${payment.paymentReference}`, customerHeaders[0])).status).toBe(200);
    expect(await idsOf(customerHeaders[1])).toEqual([]);
  });

  test('a payment stored before ids were returned as sent has its canonical id', async () => {
    const { organisationId, serviceHeaders, customers } = await createOrganisation(history);
    await history.deliver(paymentEvent(aPayment(organisationId, customers[0])));
    await history.dataSource.query(`UPDATE payments SET customer_id_as_sent = NULL WHERE organisation_id = $1`, [
      organisationId,
    ]);
    expect(await idsOf(serviceHeaders, customers[0])).toEqual([customers[0]]);
  });
});
