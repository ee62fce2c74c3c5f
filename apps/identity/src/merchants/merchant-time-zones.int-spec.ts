/** The time zone of a merchant's days (M7). */
import { MerchantChangedV1, type TimeZonePeriod } from '@svc/contracts';
import { httpClient, type TestService } from '@svc/testing';
import { ADMIN_KEY, startIdentity } from '../../test/identity.js';

const MERCHANTS = '/admin/v1/merchants';

let identity: TestService;
let admin: ReturnType<typeof httpClient>;
beforeAll(async () => {
  identity = await startIdentity();
  admin = httpClient(identity.service, { 'x-admin-key': ADMIN_KEY });
});
afterAll(() => identity.stop());

const readPublishedZones = async (merchantId: number): Promise<TimeZonePeriod[][]> =>
  (await identity.published(MerchantChangedV1))
    .filter(({ payload }) => payload.merchantId === merchantId)
    .map(({ payload }) => payload.timeZones);

it('a merchant has the time zone of Johannesburg at first; another zone begins at the next local midnight, and is published and logged', async () => {
  const created = (await admin('POST', MERCHANTS, { name: 'Merchant' })).body;
  const path = `${MERCHANTS}/${created.merchantId}`;
  const johannesburg = { zone: 'Africa/Johannesburg' };
  const kathmandu = { zone: 'Asia/Kathmandu', from: '2026-03-01T22:00:00.000Z' };
  expect(created.timeZones).toEqual([johannesburg]);
  const changed = await admin('PATCH', path, { timeZone: 'Asia/Kathmandu' });
  expect([changed.status, changed.body.timeZones]).toEqual([200, [johannesburg, kathmandu]]);
  await admin('PATCH', path, { timeZone: 'Asia/Kathmandu' });
  // A zone that has not begun is replaced, and removed if the present zone is set again.
  const apia = { zone: 'Pacific/Apia', from: '2026-03-01T22:00:00.000Z' };
  expect((await admin('PATCH', path, { timeZone: 'Pacific/Apia' })).body.timeZones).toEqual([johannesburg, apia]);
  expect((await admin('PATCH', path, { timeZone: 'Africa/Johannesburg' })).body.timeZones).toEqual([johannesburg]);
  expect((await admin('GET', path)).body.timeZones).toEqual([johannesburg]);
  expect(await readPublishedZones(created.merchantId)).toEqual([
    ...[[johannesburg], [johannesburg, kathmandu], [johannesburg, apia], [johannesburg]],
  ]);
  const [entry] = await identity.dataSource.query(
    `SELECT before, after FROM audit_log WHERE merchant_id = $1 ORDER BY entry_id OFFSET 1 LIMIT 1`,
    [created.merchantId],
  );
  expect(entry).toEqual({
    before: { timeZones: [johannesburg] },
    after: { timeZones: [johannesburg, kathmandu] },
  });
});

it('a merchant has the time zone with which the merchant was created', async () => {
  const { status, body } = await admin('POST', MERCHANTS, { name: 'Merchant', timeZone: 'America/New_York' });
  expect([status, body.timeZones]).toEqual([201, [{ zone: 'America/New_York' }]]);
  expect(await readPublishedZones(body.merchantId)).toEqual([[{ zone: 'America/New_York' }]]);
  const rejected = await admin('POST', MERCHANTS, { name: 'Merchant', timeZone: 'Mars/Olympus' });
  expect([rejected.status, rejected.body.errors]).toMatchObject([400, [{ field: 'timeZone' }]]);
});
