/** Tests that a notification is signed only with keys of its own merchant, site, mode and API version. */
import type { HostedApiVersion } from '@svc/contracts';
import { DispatcherUnderTest } from '../../test/dispatcher.js';
import { type SigningKeys, SigningSecrets } from './signing-secrets.js';

const OWNERS = [
  { merchantId: 7, siteId: 71, mode: 'test' },
  { merchantId: 7, siteId: 71, mode: 'live' },
  { merchantId: 7, siteId: 72, mode: 'test' },
  // Site ids are unique over all merchants. But even if two merchants had the same site id, the keys of one merchant
  // would not sign notifications of the other.
  { merchantId: 8, siteId: 71, mode: 'test' },
] as const;
type Owner = (typeof OWNERS)[number];

let dispatcher: DispatcherUnderTest;
beforeAll(async () => {
  dispatcher = await DispatcherUnderTest.start();
  for (const owner of OWNERS) {
    const { merchantId, siteId, mode } = owner;
    const apiKeyOptions = { merchantId, mode, purpose: 'api-key' } as const;
    // The key of the site is newer than that of the merchant, so it would be the first if v3 selected both.
    await dispatcher.deliverSecret(`site ${ownerName(owner)}`, siteKey(owner), {
      ...apiKeyOptions,
      siteId,
      version: 2,
    });
    await dispatcher.deliverSecret(`site's second ${ownerName(owner)}`, 'not the primary', {
      ...apiKeyOptions,
      siteId,
      primary: false,
    });
    await dispatcher.deliverSecret(`site's revoked ${ownerName(owner)}`, 'revoked', {
      ...apiKeyOptions,
      siteId,
      revoked: true,
    });
    await dispatcher.deliverSecret(`merchant ${merchantId} ${mode}`, merchantKey(owner), apiKeyOptions);
    const webhook = { ...apiKeyOptions, siteId, purpose: 'webhook-secret' } as const;
    await dispatcher.deliverSecret(`webhook ${ownerName(owner)}`, webhookSecret(owner), webhook);
    await dispatcher.deliverSecret(`revoked webhook ${ownerName(owner)}`, webhookSecret(owner, 1), {
      ...webhook,
      revoked: true,
    });
  }
});
afterAll(() => dispatcher.test.stop());

const ownerName = ({ merchantId, siteId, mode }: Owner): string => `${merchantId} ${siteId} ${mode}`;
const siteKey = (owner: Owner): string => `key of site ${ownerName(owner)}`;
const merchantKey = ({ merchantId, mode }: Owner): string => `key of merchant ${merchantId} ${mode}`;
const webhookSecret = (owner: Owner, nth = 0): string =>
  `whsec_${Buffer.alloc(24, OWNERS.indexOf(owner) * 2 + nth + 1).toString('base64')}`;
const findKeys = (owner: Owner, apiVersion: HostedApiVersion): Promise<SigningKeys | undefined> =>
  dispatcher.test.service.app.get(SigningSecrets).findKeys({ ...owner, apiVersion });

test.each(OWNERS)(
  'merchant $merchantId, site $siteId, mode $mode has its own keys for each API version',
  async (owner) => {
    const webhookSecrets = [webhookSecret(owner)];
    expect(await findKeys(owner, 'v3.1')).toEqual({ apiKey: siteKey(owner), webhookSecrets });
    expect(await findKeys(owner, 'v3')).toEqual({ apiKey: merchantKey(owner), webhookSecrets });
  },
);

test('secrets with the same version are ordered by their ids', async () => {
  const owner = { merchantId: 10, siteId: 101, mode: 'test' } as const;
  await dispatcher.deliverSecret('key 10', 'key', { ...owner, purpose: 'api-key' });
  const secrets = [1, 2, 3].map((nth) => `whsec_${Buffer.alloc(24, 110 + nth).toString('base64')}`);
  for (const [nth, id] of ['c', 'b', 'a'].entries())
    await dispatcher.deliverSecret(`webhook 10 ${id}`, secrets[nth]!, {
      ...owner,
      purpose: 'webhook-secret',
      primary: false,
    });
  const found = await dispatcher.test.service.app.get(SigningSecrets).findKeys({ ...owner, apiVersion: 'v3.1' });
  expect(found?.webhookSecrets).toEqual(secrets.toReversed());
});

test('of several webhook secrets, the primary secret signs first, and the others sign in the order newest first', async () => {
  const owner = { merchantId: 9, siteId: 91, mode: 'test' } as const;
  await dispatcher.deliverSecret('key 9', 'key', { ...owner, purpose: 'api-key' });
  const secrets = [1, 2, 3].map((nth) => `whsec_${Buffer.alloc(24, 100 + nth).toString('base64')}`);
  const webhook = { ...owner, purpose: 'webhook-secret' } as const;
  await dispatcher.deliverSecret('webhook 9 a', secrets[0]!, { ...webhook, primary: false, version: 1 });
  await dispatcher.deliverSecret('webhook 9 b', secrets[1]!, { ...webhook, primary: false, version: 2 });
  await dispatcher.deliverSecret('webhook 9 c', secrets[2]!, { ...webhook, primary: true, version: 1 });
  const found = await dispatcher.test.service.app.get(SigningSecrets).findKeys({ ...owner, apiVersion: 'v3.1' });
  expect(found?.webhookSecrets).toEqual([secrets[2], secrets[1], secrets[0]]);
});
