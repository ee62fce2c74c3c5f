/** Tests that revocations are published without the relay, which publishes all other events of the identity service (A6). */
import { Module } from '@nestjs/common';
import {
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
import { ManualClock, startTestService, type TestService, waitUntil } from '@svc/testing';
import { adminClient, type Client, createPartner, startIdentity } from '../test/identity.js';
import { SendHeartbeat } from './heartbeat/send-heartbeat.js';

@Module({
  imports: [PartnerAuthModule],
  controllers: [CredentialsConsumer],
  providers: [SiteCredentials],
})
class VerifierModule {}

/** A service that verifies every kind of credential. It uses the data of the events that it has received. */
const verifier: ServiceDefinition = {
  name: 'verifier',
  config: ServiceConfig,
  module: VerifierModule,
  migrations: [Credentials1763500000010, PartnerCredentials1763500000020],
};

let identity: TestService;
let verifierService: TestService;
let admin: Client;
/** The events that a subscriber with the name `webhook-dispatcher` has received. */
let receivedEvents: { type: string; aggregateId: string; revoked: boolean }[];

beforeEach(async () => {
  const [clock, broker] = [new ManualClock(), new EmbeddedBroker()];
  receivedEvents = [];
  await broker.subscribe({
    name: 'webhook-dispatcher',
    types: new Set([SigningSecretChangedV1.name, WebhookSecretChangedV1.name]),
    deliver: (events) => {
      for (const { type, aggregateId, payload } of events)
        receivedEvents.push({ type, aggregateId, revoked: (payload as { revoked: boolean }).revoked });
      return Promise.resolve();
    },
  });
  verifierService = await startTestService(verifier, { clock, broker });
  identity = await startIdentity({ clock, broker });
  admin = adminClient(identity);
});
afterEach(async () => {
  await identity.stop();
  await verifierService.stop();
});

/**
 * Waits until the credential is rejected, for at most 5 s (A6). Before each check, the clock advances by a second, so
 * that cached data expire.
 */
const waitUntilRejected = (credential: string, verify: () => Promise<unknown>) =>
  waitUntil(`${credential} to be rejected`, 5_000, async () => {
    verifierService.clock.advance(1_000);
    const result = await verify().catch(
      (error: { code?: string }) => error.code === 'credentials.invalid' && 'rejected',
    );
    return result === undefined || result === 'rejected';
  });

test('a revoked merchant key is rejected, and webhook-dispatcher receives the revocation', async () => {
  const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Shop' })).body;
  const sitesPath = `/admin/v1/merchants/${merchantId}/sites`;
  const { siteId } = (await admin('POST', sitesPath, { siteReference: 'till', name: 'Till' })).body;
  const keysPath = `/admin/v1/merchants/${merchantId}/keys`;
  const { keyId, apiKey } = (await admin('POST', keysPath, { mode: 'test' })).body;
  const headers = { merchantId: String(merchantId), merchantSiteId: String(siteId), apiKey };
  const verify = () => verifierService.service.app.get(SiteCredentials).authenticate(headers);
  await identity.relay();
  expect(await verify()).toMatchObject({ merchantId });

  expect((await admin('DELETE', `${keysPath}/${keyId}`)).status).toBe(204);
  await waitUntilRejected('the key', verify);
  expect(receivedEvents).toContainEqual({ type: SigningSecretChangedV1.name, aggregateId: keyId, revoked: true });
});

test('a revoked partner key is rejected', async () => {
  const { organisationId, keyId, apiKey } = await createPartner(identity);
  const verify = () => verifierService.service.app.get(PartnerCredentials).getPartnerKey(apiKey);
  await identity.relay();
  expect(await verify()).toMatchObject({ organisationId });

  expect((await admin('DELETE', `/admin/v1/organisations/${organisationId}/keys/${keyId}`)).status).toBe(204);
  await waitUntilRejected('the key', verify);

  // Now the relay publishes the revocation and the earlier events again. The key stays rejected.
  await identity.relay();
  expect(await identity.service.app.get(Relay).isCaughtUp()).toBe(true);
  verifierService.clock.advance(1_000);
  await expect(verify()).rejects.toMatchObject({ code: 'credentials.invalid' });
});

test('a withdrawn token key is rejected, and its replacement is accepted immediately', async () => {
  const [{ kid }] = (await admin('GET', '/admin/v1/token-keys')).body.tokenKeys as [{ kid: string }];
  const credentials = verifierService.service.app.get(PartnerCredentials);
  await identity.relay();
  expect(await credentials.findTokenKey(kid)).toBeDefined();

  expect((await admin('DELETE', `/admin/v1/token-keys/${kid}`)).status).toBe(204);
  await waitUntilRejected('the key', () => credentials.findTokenKey(kid));
  const [newKey] = (await admin('GET', '/admin/v1/token-keys')).body.tokenKeys as [{ kid: string }];
  expect(newKey.kid).not.toBe(kid);
  await waitUntil('the new key', 5_000, async () => (await credentials.findTokenKey(newKey.kid)) !== undefined);
});

test('the revocation of a webhook secret reaches webhook-dispatcher', async () => {
  const { merchantId } = (await admin('POST', '/admin/v1/merchants', { name: 'Shop' })).body;
  const sitesPath = `/admin/v1/merchants/${merchantId}/sites`;
  const { siteId } = (await admin('POST', sitesPath, { siteReference: 'till', name: 'Till' })).body;
  const secretsPath = `${sitesPath}/${siteId}/webhook-secrets`;
  const { secretId } = (await admin('POST', secretsPath, { mode: 'test' })).body;
  await identity.relay();

  expect((await admin('DELETE', `${secretsPath}/${secretId}`)).status).toBe(204);
  const revoked = { aggregateId: secretId as string, revoked: true };
  await waitUntil('the revocation', 5_000, () =>
    Promise.resolve(receivedEvents.filter((event) => event.revoked).length === 2),
  );
  expect(receivedEvents).toContainEqual({ type: SigningSecretChangedV1.name, ...revoked });
  expect(receivedEvents).toContainEqual({ type: WebhookSecretChangedV1.name, ...revoked });
});

test('a heartbeat is published directly, like a revocation, and is not stored in the event log', async () => {
  await identity.relay();
  await identity.service.app.get(SendHeartbeat).runStep();
  const [row] = await verifierService.dataSource.query<{ sentAt: Date }[]>(
    'SELECT sent_at AS "sentAt" FROM heartbeats',
  );
  expect(row!.sentAt.toISOString()).toBe(identity.clock.nowISO());
  expect(await identity.published(CredentialsHeartbeatV1)).toEqual([]);
});
