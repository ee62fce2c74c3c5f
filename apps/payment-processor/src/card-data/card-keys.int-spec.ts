import { randomUUID } from 'node:crypto';
import { CardKeyPublishedV1, ERROR_CATALOGUE, type PublicKeyJwk } from '@svc/contracts';
import { type RunningService, startService } from '@svc/service';
import { httpClient, waitUntil } from '@svc/testing';
import { encryptedCard } from '../../test/encrypted-card.js';
import { aMerchant, aPartner, openInvoice } from '../../test/partner.js';
import { type Processor, startProcessor } from '../../test/processor.js';
import { PaymentProcessorConfig } from '../config.js';
import { paymentProcessorService } from '../index.js';
import { CARD_KEY_OVERLAP_MS, MAX_OPENING_CARD_KEYS } from './card-key.js';
import { CardKeys } from './card-keys.js';

const PATH = '/admin/v1/card-keys';

let processor: Processor;
let replica: RunningService;
let admin: ReturnType<typeof httpClient>;
beforeEach(async () => {
  processor = await startProcessor();
  replica = await aReplica();
  const { SVC_ADMIN_KEY } = processor.service.app.get(PaymentProcessorConfig);
  admin = httpClient(processor.service, { 'x-admin-key': SVC_ADMIN_KEY });
});
afterEach(async () => {
  await replica.close();
  await processor.stop();
});

/** Another process on the same database. */
function aReplica(): Promise<RunningService> {
  const config = processor.service.app.get(PaymentProcessorConfig);
  const env = Object.fromEntries(
    Object.entries(config).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  return startService(paymentProcessorService, { env: { ...env, SVC_PORT: '0' }, clock: processor.clock });
}

const binding = () => ({ sessionId: randomUUID(), try: 1, expiresAt: processor.clock.later(60_000).toISOString() });
const openOn = async (service: RunningService, key: PublicKeyJwk): Promise<unknown> => {
  const bound = binding();
  return service.app.get(CardKeys).openCard(await encryptedCard(key, bound), bound);
};
const expectOpen = async (key: PublicKeyJwk): Promise<void> => {
  for (const service of [processor.service, replica]) await openOn(service, key);
};
const expectNotInUse = async (key: PublicKeyJwk): Promise<void> => {
  for (const service of [processor.service, replica])
    await expect(openOn(service, key)).rejects.toMatchObject({ code: 'card-key.not-in-use' });
};
/** Newest first. */
const published = async (): Promise<[number, PublicKeyJwk][]> =>
  (await processor.published(CardKeyPublishedV1))
    .map(({ aggregateVersion, payload }): [number, PublicKeyJwk] => [aggregateVersion, payload.publicJwk])
    .reverse();
const rotate = async (): Promise<PublicKeyJwk> => {
  const { status, body } = await admin('POST', PATH);
  expect([status, body.state]).toEqual([201, 'current']);
  const [[, key] = []] = await published();
  expect(key?.kid).toBe(body.kid);
  return key!;
};
const states = async () =>
  (await admin('GET', PATH)).body.cardKeys.map(({ kid, state }: Record<string, string>) => [kid, state]);
const sealed = async () =>
  processor.dataSource.query(`SELECT kid, sealed_private_key IS NOT NULL AS opens FROM card_keys ORDER BY version`);

test('before a rotation, every replica publishes and decrypts with the same single key', async () => {
  expect(await published()).toEqual([[1, processor.cardKey]]);
  expect(await states()).toEqual([[processor.cardKey.kid, 'current']]);
  expect(await replica.app.get(CardKeys).currentPublicKey()).toEqual(processor.cardKey);
  await expectOpen(processor.cardKey);
});

test('after a rotation the new key is published, and the older one is still accepted for 24 hours', async () => {
  const partner = await aPartner(processor);
  const old = processor.cardKey;
  await expectOpen(old);
  const key = await rotate();
  expect(key).toMatchObject({ kty: 'EC', crv: 'P-256', use: 'enc', alg: 'ECDH-ES' });
  expect([key.kid === old.kid, key.x === old.x]).toEqual([false, false]);
  expect(await published()).toEqual([
    [2, key],
    [1, old],
  ]);
  expect((await partner.call('GET', '/v1/cards/encryption-key')).body).toEqual(key);
  expect(await replica.app.get(CardKeys).currentPublicKey()).toEqual(key);

  processor.clock.advance(CARD_KEY_OVERLAP_MS - 1);
  expect(await states()).toEqual([
    [key.kid, 'current'],
    [old.kid, 'accepted'],
  ]);
  await processor.clearUp();
  await expectOpen(old);
  await expectOpen(key);
  // In the same second, while both still cache the key.
  processor.clock.advance(1);
  await expectNotInUse(old);
  await expectOpen(key);
  expect(await states()).toEqual([
    [key.kid, 'current'],
    [old.kid, 'retired'],
  ]);
});

test('a replica that caches a key notices its replacement within a second', async () => {
  const old = processor.cardKey;
  await expectOpen(old);
  await rotate();
  processor.clock.advance(1_000);
  await expectOpen(old);
  processor.clock.advance(CARD_KEY_OVERLAP_MS - 1_000);
  await expectNotInUse(old);
});

test('a card with a retired or unknown key is a 400, card-key.not-in-use', async () => {
  const old = processor.cardKey;
  const key = await rotate();
  processor.clock.advance(CARD_KEY_OVERLAP_MS);
  const partner = await aPartner(processor);
  const store = async (publicJwk: PublicKeyJwk) =>
    partner.call('POST', '/v1/cards', {
      encryptedCard: await encryptedCard(publicJwk, { ...binding(), sessionId: partner.organisationId }),
    });
  for (const unusable of [old, { ...key, kid: randomUUID() }]) {
    const { status, body } = await store(unusable);
    expect([status, body.errors]).toEqual([
      400,
      [{ errorReference: '40', message: ERROR_CATALOGUE['card-key.not-in-use'].message }],
    ]);
  }
  expect((await store(key)).status).toBe(201);
});

test('a private key is erased when the key is retired, not earlier, and never for the current key', async () => {
  const old = processor.cardKey;
  const key = await rotate();
  processor.clock.advance(CARD_KEY_OVERLAP_MS - 1);
  await processor.clearUp();
  expect(await sealed()).toEqual([
    { kid: old.kid, opens: true },
    { kid: key.kid, opens: true },
  ]);
  processor.clock.advance(1);
  await processor.clearUp();
  expect(await sealed()).toEqual([
    { kid: old.kid, opens: false },
    { kid: key.kid, opens: true },
  ]);
  processor.clock.advance(1_000);
  await expectNotInUse(old);
  await expectOpen(key);
});

test('a stored card pays after the key it was encrypted to is retired', async () => {
  const { organisationId, call } = await aPartner(processor);
  const stored = await call('POST', '/v1/cards', {
    encryptedCard: await encryptedCard(processor.cardKey, { ...binding(), sessionId: organisationId }),
  });
  expect(stored.status).toBe(201);
  await rotate();
  processor.clock.advance(CARD_KEY_OVERLAP_MS);
  await processor.clearUp();
  const partner = await aPartner(processor, 'test', organisationId);
  const merchant = await aMerchant(processor);
  const expiresAt = processor.clock.later(60_000).toISOString();
  const paid = await partner.pay(await openInvoice(processor, { ...merchant, expiresAt }), {
    paymentMethod: { card: { token: stored.body.token } },
  });
  expect(paid).toMatchObject({ status: 201, body: { status: 'success' } });
});

test('of two concurrent rotations one succeeds, and the start of a replica does not rotate', async () => {
  const answers = await Promise.all([admin('POST', PATH), admin('POST', PATH), admin('POST', PATH)]);
  const made = answers.filter(({ status }) => status === 201).length;
  expect(made).toBeGreaterThanOrEqual(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(answers.length - made);
  await (await aReplica()).close();
  const versions = (await published()).map(([version]) => version);
  expect(versions).toEqual(Array.from({ length: made + 1 }, (_, i) => made + 1 - i));
  expect((await states()).filter(([, state]: string[]) => state === 'current')).toHaveLength(1);
});

test('a rotation overtaken by another one is a 409, and changes nothing', async () => {
  const other = processor.dataSource.createQueryRunner();
  await other.startTransaction();
  const kid = randomUUID();
  await other.query(`UPDATE card_keys SET current = NULL, replaced_at = $1 WHERE current`, [processor.clock.now()]);
  const rotation = admin('POST', PATH);
  await waitUntil('the rotation to wait for the row', 10_000, async () => {
    const waiting = await processor.dataSource.query<unknown[]>(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return waiting.length === 1;
  });
  await other.query(
    `INSERT INTO card_keys (kid, public_jwk, sealed_private_key, created_at, current, version) VALUES ($1, '{}', 'x', $2, true, 2)`,
    [kid, processor.clock.now()],
  );
  await other.commitTransaction();
  await other.release();
  expect(await rotation).toMatchObject({ status: 409 });
  expect((await states()).map(([known]: string[]) => known)).toEqual([kid, processor.cardKey.kid]);
});

test('at most ten keys are accepted at the same time, until the oldest is retired', async () => {
  for (let keys = 1; keys < MAX_OPENING_CARD_KEYS; keys++) {
    await rotate();
    processor.clock.advance(1_000);
  }
  const before = await states();
  expect(before).toHaveLength(MAX_OPENING_CARD_KEYS);
  expect((await admin('POST', PATH)).status).toBe(409);
  expect(await states()).toEqual(before);
  processor.clock.advance(CARD_KEY_OVERLAP_MS - (MAX_OPENING_CARD_KEYS - 1) * 1_000);
  await rotate();
});

test('only administrators see keys, without private keys, and each rotation has the fingerprint of its administrator', async () => {
  for (const method of ['GET', 'POST'] as const)
    expect((await httpClient(processor.service)(method, PATH)).status).toBe(401);
  expect(await published()).toHaveLength(1);
  await rotate();
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
  const authors = await processor.dataSource.query(`SELECT created_by AS by FROM card_keys ORDER BY version`);
  expect(authors).toEqual([{ by: 'start' }, { by: expect.stringMatching(/^admin:[0-9a-f]{16}$/) }]);
});
