import { TokenKeyChangedV1 } from '@svc/contracts';
import { startService } from '@svc/service';
import { httpClient, type TestService } from '@svc/testing';
import { decodeProtectedHeader } from 'jose';
import {
  ADMIN_KEY,
  adminClient,
  type Client,
  CONSOLE_URL,
  createPartner,
  logIn,
  partnerClient,
  SEALING_KEY,
  startIdentity,
} from '../../test/identity.js';
import { identityService } from '../index.js';
import { RotateTokenKeys } from './rotate-token-keys.js';
import { PUBLISH_AHEAD_MS, SIGNING_PERIOD_MS, WITHDRAW_AFTER_MS } from './token-key.js';

const PATH = '/admin/v1/token-keys';

describe('the keys of identity tokens', () => {
  let identity: TestService;
  let admin: Client;
  beforeEach(async () => {
    identity = await startIdentity();
    admin = adminClient(identity);
  });
  afterEach(() => identity.stop());

  const runRotation = () => identity.service.app.get(RotateTokenKeys).runStep();
  const listKeyStates = async () =>
    (await admin('GET', PATH)).body.tokenKeys.map(({ kid, state }: { kid: string; state: string }) => [kid, state]);
  const readPublishedKids = async () =>
    (await httpClient(identity.service)('GET', '/.well-known/jwks.json')).body.keys.map(
      ({ kid }: { kid: string }) => kid,
    );
  const publishedEvents = async () =>
    (await identity.published(TokenKeyChangedV1)).map(({ payload, aggregateVersion }) => [
      payload.publicJwk.kid,
      aggregateVersion,
      payload.withdrawn,
    ]);
  const readKid = (token: string) => decodeProtectedHeader(token).kid;

  it('rotate: a key is published ten minutes before it signs, and is withdrawn when its last token has expired', async () => {
    const partner = await createPartner(identity);
    const firstKid = readKid(await logIn(identity, partner))!;
    identity.clock.advance(SIGNING_PERIOD_MS - PUBLISH_AHEAD_MS);
    await Promise.all([runRotation(), runRotation(), runRotation()]);
    const [nextKid] = (await readPublishedKids()).filter((kid: string) => kid !== firstKid);
    expect(await listKeyStates()).toEqual([
      [nextKid, 'next'],
      [firstKid, 'signing'],
    ]);

    identity.clock.advance(PUBLISH_AHEAD_MS - 1);
    const lastToken = await logIn(identity, partner);
    expect(readKid(lastToken)).toBe(firstKid);
    identity.clock.advance(1);
    expect(readKid(await logIn(identity, partner))).toBe(nextKid);
    identity.clock.advance(WITHDRAW_AFTER_MS - 1 - 60_000);
    await runRotation();
    // The last token of the previous key is still valid a second before it expires.
    const user = { email: 'thandi@example.com', password: 'correct horse battery' };
    identity.clock.advance(-1_000);
    expect((await partnerClient(identity, partner, lastToken)('POST', '/v1/auth/users', user)).status).toBe(201);

    // The previous key is withdrawn a minute after its last token has expired.
    identity.clock.advance(61_001);
    await runRotation();
    expect(await readPublishedKids()).toEqual([nextKid]);
    expect(await publishedEvents()).toEqual([
      [firstKid, 1, false],
      [nextKid, 1, false],
      [firstKid, 2, true],
    ]);
  });

  it('rotate at the request of an administrator, with an audit entry, but not while a next key exists', async () => {
    const [firstKid] = await readPublishedKids();
    const response = await admin('POST', PATH);
    expect(response).toMatchObject({ status: 201, body: { state: 'next' } });
    const { kid, signsFromUTCDate } = response.body;
    expect(Date.parse(signsFromUTCDate) - identity.clock.now().getTime()).toBe(PUBLISH_AHEAD_MS);
    expect(await admin('POST', PATH)).toMatchObject({ status: 409 });
    expect(await readPublishedKids()).toEqual([kid, firstKid]);
    const { entries } = (await admin('GET', '/admin/v1/audit-log')).body;
    expect(entries).toMatchObject([{ action: 'token-key.created', credentialId: kid, after: { kid } }]);
  });

  it('can be withdrawn: tokens of the key are rejected within a second, and a new key signs immediately', async () => {
    const partner = await createPartner(identity);
    const token = await logIn(identity, partner);
    const call = partnerClient(identity, partner, token);
    const user = { email: 'thandi@example.com', password: 'correct horse battery' };
    expect((await admin('DELETE', `${PATH}/${readKid(token)!.toUpperCase()}`)).status).toBe(204);
    identity.clock.advance(1_000);
    expect((await call('POST', '/v1/auth/users', user)).status).toBe(401);
    const newToken = await logIn(identity, partner);
    expect(readKid(newToken)).not.toBe(readKid(token));
    expect((await partnerClient(identity, partner, newToken)('POST', '/v1/auth/users', user)).status).toBe(201);
    expect((await admin('DELETE', `${PATH}/${readKid(token)}`)).status).toBe(404);
    expect((await admin('DELETE', `${PATH}/x`)).status).toBe(404);
  });

  it('are stored encrypted, and only one key is created if several replicas start concurrently', async () => {
    const env = {
      SVC_ENVIRONMENT: 'development',
      SVC_LOG_LEVEL: 'silent',
      SVC_ADMIN_KEY: ADMIN_KEY,
      SVC_SEALING_KEY: SEALING_KEY,
      SVC_CONSOLE_URL: CONSOLE_URL,
      SVC_DATABASE_URL: String((identity.dataSource.options as { url?: string }).url),
    };
    await identity.dataSource.query(`DELETE FROM token_keys`);
    const replicas = await Promise.all(
      [1, 2, 3].map(() => startService(identityService, { env, clock: identity.clock })),
    );
    await Promise.all(replicas.map((replica) => replica.close()));
    expect(await readPublishedKids()).toHaveLength(1);
    const [row] = await identity.dataSource.query<[{ sealed: string }]>(
      `SELECT sealed_private_key AS sealed FROM token_keys`,
    );
    expect(Buffer.from(row.sealed, 'base64').toString('latin1')).not.toMatch(/"d"|"kty"/);
  });

  it('are listed only for administrators', async () => {
    for (const [method, path] of [
      ['GET', PATH],
      ['POST', PATH],
      ['DELETE', `${PATH}/x`],
    ] as const)
      expect((await httpClient(identity.service)(method, path)).status).toBe(401);
  });
});
