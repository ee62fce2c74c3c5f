import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { CardKeyPublishedV1, ERROR_CATALOGUE, type PublicKeyJwk } from '@svc/contracts';
import { type RunningService, startService } from '@svc/service';
import { httpClient, openTransaction, waitForBlockedBackends } from '@svc/testing';
import { encryptCard, encryptText } from '../../test/encrypted-card.js';
import { createMerchant, createPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { paymentProcessorService } from '../index.js';
import { CARD_KEY_OVERLAP_MS, MAX_ACCEPTED_CARD_KEYS } from './card-key.js';
import { CardKeys } from './card-keys.js';

const PATH = '/admin/v1/card-keys';

let processor: Processor;
let replica: RunningService;
let admin: ReturnType<typeof httpClient>;
beforeEach(async () => {
  processor = await startProcessor();
  replica = await startReplica();
  const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
  admin = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
});
afterEach(async () => {
  await replica.close();
  await processor.stop();
});

/** Starts another process of the service on the same database. */
function startReplica(): Promise<RunningService> {
  const config = processor.service.app.get(PaymentProcessorConfig);
  const env = Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  return startService(paymentProcessorService, { env: { ...env, SVC_PORT: '0' }, clock: processor.clock });
}

const buildBinding = () => ({
  sessionId: randomUUID(),
  paymentNumber: 1,
  expiresAt: processor.clock.later(60_000).toISOString(),
});
const decryptCardOn = async (service: RunningService, key: PublicKeyJwk): Promise<unknown> => {
  const binding = buildBinding();
  return service.app.get(CardKeys).decryptCard(await encryptCard(key, binding), binding);
};
const expectAccepted = async (key: PublicKeyJwk): Promise<void> => {
  for (const service of [processor.service, replica]) await decryptCardOn(service, key);
};
const expectRejected = async (key: PublicKeyJwk): Promise<void> => {
  for (const service of [processor.service, replica])
    await expect(decryptCardOn(service, key)).rejects.toMatchObject({ code: 'card-key.not-in-use' });
};
/** Versions and keys of the published events, newest first. */
const publishedKeys = async (): Promise<[number, PublicKeyJwk][]> =>
  (await processor.published(CardKeyPublishedV1))
    .map(({ aggregateVersion, payload }): [number, PublicKeyJwk] => [aggregateVersion, payload.publicJwk])
    .reverse();
const rotateKey = async (): Promise<PublicKeyJwk> => {
  const { status, body } = await admin('POST', PATH);
  expect([status, body.state]).toEqual([201, 'current']);
  const [[, key] = []] = await publishedKeys();
  expect(key?.kid).toBe(body.kid);
  return key!;
};
const listKeyStates = async () =>
  (await admin('GET', PATH)).body.cardKeys.map(({ kid, state }: Record<string, string>) => [kid, state]);
const listPrivateKeys = async () =>
  processor.dataSource.query(
    `SELECT kid, sealed_private_key IS NOT NULL AS "hasPrivateKey" FROM card_keys ORDER BY version`,
  );

test('before a rotation there is a single key, and all replicas publish it and decrypt with it', async () => {
  expect(await publishedKeys()).toEqual([[1, processor.cardKey]]);
  expect(await listKeyStates()).toEqual([[processor.cardKey.kid, 'current']]);
  expect(await replica.app.get(CardKeys).currentPublicKey()).toEqual(processor.cardKey);
  await expectAccepted(processor.cardKey);
});

test('after a rotation the new key is published, and the old key is still accepted for 24 hours', async () => {
  const partner = await createPartner(processor);
  const oldKey = processor.cardKey;
  await expectAccepted(oldKey);
  const key = await rotateKey();
  expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'enc', alg: 'ECDH-ES' });
  expect([key.kid === oldKey.kid, key.x === oldKey.x]).toEqual([false, false]);
  expect(await publishedKeys()).toEqual([
    [2, key],
    [1, oldKey],
  ]);
  expect((await partner.call('GET', '/v1/cards/encryption-key')).body).toEqual(key);
  expect(await replica.app.get(CardKeys).currentPublicKey()).toEqual(key);

  processor.clock.advance(CARD_KEY_OVERLAP_MS - 1);
  expect(await listKeyStates()).toEqual([
    [key.kid, 'current'],
    [oldKey.kid, 'accepted'],
  ]);
  await processor.runCleanup();
  await expectAccepted(oldKey);
  await expectAccepted(key);
  // Both processes still cache the old key, because less than a second has passed. They reject it nevertheless.
  processor.clock.advance(1);
  await expectRejected(oldKey);
  await expectAccepted(key);
  expect(await listKeyStates()).toEqual([
    [key.kid, 'current'],
    [oldKey.kid, 'retired'],
  ]);
});

test('a replica that caches a key notices its replacement within a second', async () => {
  const oldKey = processor.cardKey;
  await expectAccepted(oldKey);
  await rotateKey();
  processor.clock.advance(1_000);
  await expectAccepted(oldKey);
  processor.clock.advance(CARD_KEY_OVERLAP_MS - 1_000);
  await expectRejected(oldKey);
});

test('a card that was encrypted with a retired or unknown key is rejected with 400 card-key.not-in-use', async () => {
  const oldKey = processor.cardKey;
  const key = await rotateKey();
  processor.clock.advance(CARD_KEY_OVERLAP_MS);
  const partner = await createPartner(processor);
  const storeCard = async (publicJwk: PublicKeyJwk) =>
    partner.call('POST', '/v1/cards', {
      encryptedCard: await encryptCard(publicJwk, { ...buildBinding(), sessionId: partner.organisationId }),
    });
  for (const unusableKey of [oldKey, { ...key, kid: randomUUID() }]) {
    const { status, body } = await storeCard(unusableKey);
    expect([status, body.errors]).toEqual([
      400,
      [{ errorReference: '40', message: ERROR_CATALOGUE['card-key.not-in-use'].message }],
    ]);
  }
  expect((await storeCard(key)).status).toBe(201);
});

test.each([
  ['4242424242424242'],
  ['{"cardNumber":"4242424242424242"'],
  ['{"cardNumber":"4242424242424242","holderName":T Payer}'],
  ['T Payer 4242424242424242 123'],
  ['"T Payer 4242424242424242\n"'],
])('an encrypted text that is not the JSON of a card is rejected without repeating any of it: %s', async (text) => {
  const encrypted = await encryptText(processor.cardKey, text);
  const decrypting = processor.service.app.get(CardKeys).decryptCard(encrypted, buildBinding());
  const error: unknown = await decrypting.catch((rejection: unknown) => rejection);
  expect(error).toMatchObject({ code: 'request.invalid' });
  // Shows hidden properties too: what a log, a trace or a response may contain of the error and its causes.
  const everything = inspect(error, { depth: 10, showHidden: true });
  for (const part of ['4242', 'T Payer', 'cardNumber']) expect(everything).not.toContain(part);
});

test('a private key is erased when its key is retired, not earlier; the private key of the current key is never erased', async () => {
  const oldKey = processor.cardKey;
  const key = await rotateKey();
  processor.clock.advance(CARD_KEY_OVERLAP_MS - 1);
  await processor.runCleanup();
  expect(await listPrivateKeys()).toEqual([
    { kid: oldKey.kid, hasPrivateKey: true },
    { kid: key.kid, hasPrivateKey: true },
  ]);
  processor.clock.advance(1);
  await processor.runCleanup();
  expect(await listPrivateKeys()).toEqual([
    { kid: oldKey.kid, hasPrivateKey: false },
    { kid: key.kid, hasPrivateKey: true },
  ]);
  processor.clock.advance(1_000);
  await expectRejected(oldKey);
  await expectAccepted(key);
});

test('a payment with a stored card still succeeds after the key that encrypted the card is retired', async () => {
  const { organisationId, call } = await createPartner(processor);
  const storedCard = await call('POST', '/v1/cards', {
    encryptedCard: await encryptCard(processor.cardKey, { ...buildBinding(), sessionId: organisationId }),
  });
  expect(storedCard.status).toBe(201);
  await rotateKey();
  processor.clock.advance(CARD_KEY_OVERLAP_MS);
  await processor.runCleanup();
  const partner = await createPartner(processor, 'test', organisationId);
  const merchant = await createMerchant(processor);
  const expiresAt = processor.clock.later(60_000).toISOString();
  const paid = await partner.pay(await openInvoice(processor, { ...merchant, expiresAt }), {
    paymentMethod: { card: { token: storedCard.body.token } },
  });
  expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
});

test('concurrent rotations succeed or are rejected with 409, and the start of a replica does not rotate the key', async () => {
  const responses = await Promise.all([admin('POST', PATH), admin('POST', PATH), admin('POST', PATH)]);
  const createdCount = responses.filter(({ status }) => status === 201).length;
  expect(createdCount).toBeGreaterThanOrEqual(1);
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(responses.length - createdCount);
  await (await startReplica()).close();
  const versions = (await publishedKeys()).map(([version]) => version);
  expect(versions).toEqual(Array.from({ length: createdCount + 1 }, (_, i) => createdCount + 1 - i));
  expect((await listKeyStates()).filter(([, state]: string[]) => state === 'current')).toHaveLength(1);
});

test('a rotation that waits for a concurrent rotation is rejected with 409 and changes nothing', async () => {
  await using concurrentRotation = await openTransaction(processor.dataSource);
  const kid = randomUUID();
  await concurrentRotation.query(`UPDATE card_keys SET current = NULL, replaced_at = $1 WHERE current`, [
    processor.clock.now(),
  ]);
  const rotation = admin('POST', PATH);
  await waitForBlockedBackends(processor.dataSource, 1);
  await concurrentRotation.query(
    `INSERT INTO card_keys (kid, public_jwk, sealed_private_key, created_at, created_by, current, version)
     VALUES ($1, '{}', 'x', $2, 'x', true, 2)`,
    [kid, processor.clock.now()],
  );
  await concurrentRotation.commit();
  expect(await rotation).toMatchObject({ status: 409 });
  expect((await listKeyStates()).map(([listedKid]: string[]) => listedKid)).toEqual([kid, processor.cardKey.kid]);
});

test('while ten keys are accepted, a rotation is rejected with 409; it succeeds after the oldest key is retired', async () => {
  for (let keys = 1; keys < MAX_ACCEPTED_CARD_KEYS; keys++) {
    await rotateKey();
    processor.clock.advance(1_000);
  }
  const before = await listKeyStates();
  expect(before).toHaveLength(MAX_ACCEPTED_CARD_KEYS);
  expect((await admin('POST', PATH)).status).toBe(409);
  expect(await listKeyStates()).toEqual(before);
  // 24 hours after the first rotation, which replaced the oldest key.
  processor.clock.advance(CARD_KEY_OVERLAP_MS - (MAX_ACCEPTED_CARD_KEYS - 1) * 1_000);
  await rotateKey();
});

test('only administrators can list and rotate keys; the list has no private keys, and a rotation stores the fingerprint of its administrator', async () => {
  for (const method of ['GET', 'POST'] as const)
    expect((await httpClient(processor.service)(method, PATH)).status).toBe(401);
  expect(await publishedKeys()).toHaveLength(1);
  await rotateKey();
  const { body } = await admin('GET', PATH);
  expect(body.cardKeys).toEqual([
    { kid: expect.any(String), state: 'current', createdUTCDate: '2026-03-01T10:00:00.000Z' },
    {
      kid: processor.cardKey.kid,
      state: 'accepted',
      createdUTCDate: '2026-03-01T10:00:00.000Z',
      opensUntilUTCDate: '2026-03-02T10:00:00.000Z',
    },
  ]);
  const creators = await processor.dataSource.query(`SELECT created_by AS "createdBy" FROM card_keys ORDER BY version`);
  expect(creators).toEqual([{ createdBy: 'start' }, { createdBy: expect.stringMatching(/^admin:[0-9a-f]{16}$/) }]);
});
