/** Revocations while a transaction in another database of the server holds back identity's relay (A6). */
import { Module } from '@nestjs/common';
import {
  CredentialBounds1763500000011,
  Credentials1763500000010,
  CredentialsConsumer,
  PartnerAuthModule,
  PartnerCredentials,
  PartnerCredentials1763500000020,
  SiteCredentials,
} from '@svc/auth';
import { CredentialsHeartbeatV1, SigningSecretChangedV1, WebhookSecretChangedV1 } from '@svc/contracts';
import { EmbeddedBroker, Relay } from '@svc/messaging';
import { ServiceConfig, type ServiceDefinition } from '@svc/service';
import {
  ManualClock,
  type OlderTransaction,
  openOlderTransaction,
  startTestService,
  type TestService,
  waitUntil,
} from '@svc/testing';
import { adminClient, createPartner, type Client, startIdentity } from '../test/identity.js';
import { SendHeartbeat } from './heartbeat/send-heartbeat.js';

@Module({
  imports: [PartnerAuthModule],
  controllers: [CredentialsConsumer],
  providers: [SiteCredentials],
})
class VerifierModule {}

/** A service that verifies every kind of credential, from the events it has received. */
const verifier: ServiceDefinition = {
  name: 'verifier',
  config: ServiceConfig,
  module: VerifierModule,
  migrations: [Credentials1763500000010, CredentialBounds1763500000011, PartnerCredentials1763500000020],
};

let identity: TestService;
let verifying: TestService;
let admin: Client;
let older: OlderTransaction | undefined;
/** Events that a stand-in for webhook-dispatcher received. */
let received: { type: string; aggregateId: string; revoked: boolean }[];

beforeEach(async () => {
  const [clock, broker] = [new ManualClock(), new EmbeddedBroker()];
  received = [];
  await broker.subscribe({
    name: 'webhook-dispatcher',
    types: new Set([SigningSecretChangedV1.name, WebhookSecretChangedV1.name]),
    deliver: (events) => {
      for (const { type, aggregateId, payload } of events)
        received.push({ type, aggregateId, revoked: (payload as { revoked: boolean }).revoked });
      return Promise.resolve();
    },
  });
  verifying = await startTestService(verifier, { clock, broker });
  identity = await startIdentity({ clock, broker });
  admin = adminClient(identity);
});
afterEach(async () => {
  await identity.stop();
  await verifying.stop();
  await older?.end();
  older = undefined;
});

/** Within the limit of A6. Each check is later than the cache time of a second. */
const isRefused = (what: string, look: () => Promise<unknown>) =>
  waitUntil(`${what} to be refused`, 5_000, async () => {
    verifying.clock.advance(1_000);
    const found = await look().catch((error: { code?: string }) => error.code === 'credentials.invalid' && 'refused');
    return found === undefined || found === 'refused';
  });

async function holdBack(): Promise<void> {
  await identity.relay();
  older = await openOlderTransaction();
}

test('a revoked merchant key is rejected', async () => {
  const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Shop' })).body;
  const sites = `/admin/v1/merchants/${merchantId}/sites`;
  const { siteId } = (await admin('POST', sites, { siteReference: 'till', name: 'Till' })).body;
  const keys = `/admin/v1/merchants/${merchantId}/keys`;
  const { keyId, apiKey } = (await admin('POST', keys, { mode: 'test' })).body;
  const claim = { merchantId: String(merchantId), merchantSiteId: String(siteId), apiKey };
  const look = () => verifying.service.app.get(SiteCredentials).authenticate(claim);
  await holdBack();
  expect(await look()).toMatchObject({ merchantId });

  expect((await admin('DELETE', `${keys}/${keyId}`)).status).toBe(204);
  await isRefused('the key', look);
  expect(received).toContainEqual({ type: SigningSecretChangedV1.name, aggregateId: keyId, revoked: true });
});

test('a revoked partner key is rejected', async () => {
  const { organisationId, keyId, apiKey } = await createPartner(identity);
  const look = () => verifying.service.app.get(PartnerCredentials).getPartnerKey(apiKey);
  await holdBack();
  expect(await look()).toMatchObject({ organisationId });

  expect((await admin('DELETE', `/admin/v1/organisations/${organisationId}/keys/${keyId}`)).status).toBe(204);
  await isRefused('the key', look);

  // The relay publishes the revocation and the earlier events again: the key stays rejected.
  await older?.end();
  await identity.relay();
  expect(await identity.service.app.get(Relay).isCaughtUp()).toBe(true);
  await isRefused('the key', look);
});

test('a withdrawn token key is rejected, and its replacement is known at once', async () => {
  const [{ kid }] = (await admin('GET', '/admin/v1/token-keys')).body.tokenKeys as [{ kid: string }];
  const credentials = verifying.service.app.get(PartnerCredentials);
  await holdBack();
  expect(await credentials.findTokenKey(kid)).toBeDefined();

  expect((await admin('DELETE', `/admin/v1/token-keys/${kid}`)).status).toBe(204);
  await isRefused('the key', () => credentials.findTokenKey(kid));
  const [next] = (await admin('GET', '/admin/v1/token-keys')).body.tokenKeys as [{ kid: string }];
  expect(next.kid).not.toBe(kid);
  await waitUntil('the next key', 5_000, async () => (await credentials.findTokenKey(next.kid)) !== undefined);
});

test('a webhook secret', async () => {
  const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Shop' })).body;
  const sites = `/admin/v1/merchants/${merchantId}/sites`;
  const { siteId } = (await admin('POST', sites, { siteReference: 'till', name: 'Till' })).body;
  const secrets = `${sites}/${siteId}/webhook-secrets`;
  const { secretId } = (await admin('POST', secrets, { mode: 'test' })).body;
  await holdBack();

  expect((await admin('DELETE', `${secrets}/${secretId}`)).status).toBe(204);
  const revoked = { aggregateId: secretId as string, revoked: true };
  await waitUntil('the revocation', 5_000, () =>
    Promise.resolve(received.filter((event) => event.revoked).length === 2),
  );
  expect(received).toContainEqual({ type: SigningSecretChangedV1.name, ...revoked });
  expect(received).toContainEqual({ type: WebhookSecretChangedV1.name, ...revoked });
});

test('the heartbeat arrives as fast as a revocation', async () => {
  await holdBack();
  await identity.service.app.get(SendHeartbeat).runOnce();
  const [row] = await verifying.dataSource.query<{ sentAt: Date }[]>('SELECT sent_at AS "sentAt" FROM heartbeats');
  expect(row!.sentAt.toISOString()).toBe(identity.clock.nowISO());
  expect(await identity.published(CredentialsHeartbeatV1)).toEqual([]);
});
