import { randomUUID } from 'node:crypto';
import { type Counter, type Meter, type MeterProvider, metrics } from '@opentelemetry/api';
import { type ChargeCard, ChargeCardV1, ChargeInvoiceV1, type ErrorCode, paymentError } from '@svc/contracts';
import { EmbeddedBroker, type ReplyEnvelope } from '@svc/messaging';
import { type RunningService, startService } from '@svc/service';
import { DataSource } from 'typeorm';
import { findChallenge, setAttackLevel, solve, type SolvedChallenge } from '../../test/challenges.js';
import {
  buildPayment,
  CHALLENGE_KEY,
  type Gateway,
  GATEWAY_ENVIRONMENT,
  type HttpResponse,
  type Merchant,
  startGateway,
} from '../../test/gateway.js';
import { createOtherCallers, OTHER_CALLERS } from '../../test/merchants.js';
import { createInvoice, createTill } from '../../test/till-invoices.js';
import { hostedGatewayService } from '../index.js';
import { st } from '../languages/st.js';
import { zu } from '../languages/zu.js';
import { CHALLENGE_LIFETIME_MS, createChallengeText } from './challenge.js';
import { parseChallengeText } from './challenge-work.js';

const KEY = Buffer.from(CHALLENGE_KEY, 'base64url');
/** Numbers of a challenge at level 1, so that the test solves it quickly. */
const NUMBERS = 100;
/** The work after two declines of the payer's address. */
const NUMBERS_AFTER_TWO_DECLINES = 1.5 * NUMBERS;
const LEVEL_2_NUMBERS = 1.5 * NUMBERS;

let gateway: Gateway;
/** A site under attack at level 1. */
let attacked: Merchant;
let chargedReferences: string[];
/** The outcomes that the counter of challenges got. */
const outcomes: unknown[] = [];
beforeAll(async () => {
  const createCounter = (name: string): Counter => ({
    add: (_, attributes) => name === 'svc.challenges' && outcomes.push(attributes?.['outcome']),
  });
  const meter = Object.assign(Object.create(metrics.getMeter('none')) as Meter, { createCounter });
  metrics.setGlobalMeterProvider({ getMeter: () => meter } satisfies MeterProvider);
  gateway = await startGateway({ SVC_CHALLENGE_NUMBERS: String(NUMBERS) });
});
beforeEach(async () => {
  attacked = await gateway.createMerchant();
  await setAttackLevel(gateway, attacked, { level: 1 });
  chargedReferences = [];
  await gateway.respondToCharges(approve);
});
afterAll(async () => {
  metrics.disable();
  await gateway.stop();
});

const approve = ({ payable, reference }: ChargeCard): ReplyEnvelope => {
  chargedReferences.push(reference);
  return { ok: true, reply: buildPayment(payable, { reference, version: 3 }) };
};
const getChallenge = async (path: string): Promise<string | undefined> => {
  const { status, body } = await gateway.call('POST', `${path}/challenges`);
  expect(status).toBe(200);
  return (body as { challenge?: string }).challenge;
};
const pay = (path: string, fields: object = {}, headers: Record<string, string> = {}): Promise<HttpResponse> =>
  gateway.call('POST', `${path}/payments`, {
    headers,
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c', ...fields },
  });
const createPath = async (merchant = attacked): Promise<string> => `/pay/${await gateway.createSession(merchant)}`;
const readNumbers = async (path: string): Promise<number | undefined> =>
  parseChallengeText((await getChallenge(path)) ?? '')?.numbers;
const replyError = (code: ErrorCode): ReplyEnvelope => ({ ok: false, code, message: 'Not now.', fields: [] });
const replyWithError = (code: ErrorCode): Promise<void> => gateway.respondToCharges(() => replyError(code));

async function expectRefused(path: string, fields: object): Promise<void> {
  expect((await pay(path, fields)).status).toBe(428);
  expect(chargedReferences).toEqual([]);
}

describe('a site without an attack', () => {
  it('has no challenge, and payments need none', async () => {
    const path = await createPath(await gateway.createMerchant());
    const sessionId = path.split('/').at(-1)!;
    const { text } = await gateway.call('GET', `/pay?sessionId=${sessionId}`);
    expect([findChallenge(text), text.includes('class="ways"')]).toEqual([undefined, true]);
    expect([await getChallenge(path), (await pay(path)).status]).toEqual([undefined, 200]);
  });

  it('costs one query a second, for all pages together', async () => {
    const paths = await Promise.all([1, 2, 3].map(async () => createPath(await gateway.createMerchant())));
    gateway.clock.advance(1_000);
    const query = jest.spyOn(gateway.dataSource, 'query');
    for (const path of paths) await pay(path);
    expect(query.mock.calls.filter(([sql]) => sql.includes('attack_levels'))).toHaveLength(1);
    expect(query.mock.calls.filter(([sql]) => sql.includes('used_challenges'))).toEqual([]);
    query.mockRestore();
  });

  it.each(OTHER_CALLERS)('is not affected by the attack on %s', async (caller) => {
    const owner = await gateway.createMerchant();
    const others = await createOtherCallers(owner, (site) => gateway.createMerchant(site));
    const mode = caller === 'the same site in live mode' ? 'live' : 'test';
    await setAttackLevel(gateway, others[caller], { level: 3, mode });
    expect(await getChallenge(await createPath(owner))).toBeUndefined();
    expect(await getChallenge(await createPath(others[caller]))).toBeDefined();
  });
});

describe('a site under attack', () => {
  it('shows a challenge instead of the form, and a payment needs its solution', async () => {
    const path = await createPath();
    const { text } = await gateway.call('GET', `/pay?sessionId=${path.split('/').at(-1)!}`);
    expect(text).toContain('class="ways away"');
    const refused = await pay(path);
    expect([refused.status, chargedReferences]).toEqual([428, []]);
    expect((await pay(path, solve(findChallenge(text)!))).status).toBe(200);
    expect(chargedReferences).toHaveLength(1);
  });

  it('has a challenge on the page of an invoice, at its code and at the static code of its till', async () => {
    const { code, invoiceReference } = (await createInvoice(gateway, attacked)).source;
    const staticCode = await createTill(gateway, attacked);
    for (const path of [`/c/${code}`, `/c/${staticCode}/invoices/${invoiceReference}`]) {
      expect(findChallenge((await gateway.call('GET', path)).text)).toBeDefined();
      expect((await pay(path)).status).toBe(428);
    }
    const solved = solve((await getChallenge(`/c/${code}`))!);
    await gateway.respondTo(ChargeInvoiceV1, () => replyError('card-key.not-in-use'));
    expect((await pay(`/c/${code}`, solved)).status).toBe(400);
  });

  it('has a challenge on the page of a session at its code', async () => {
    const sessionId = await gateway.createSession(attacked);
    const { code } = (await gateway.findPublishedPayable(sessionId)).source;
    const challenge = findChallenge((await gateway.call('GET', `/c/${code}`)).text);
    // The addresses of one session have the same challenges.
    expect((await pay(`/pay/${sessionId}`, solve(challenge!))).status).toBe(200);
  });

  it('has no challenge after the end of the attack, with and without an event', async () => {
    const other = await gateway.createMerchant();
    await setAttackLevel(gateway, other, { level: 1 });
    await setAttackLevel(gateway, other, { level: 0, version: 2 });
    expect(await getChallenge(await createPath(other))).toBeUndefined();
    const untilUTCDate = gateway.clock.later(60_000).toISOString();
    await setAttackLevel(gateway, other, { level: 2, version: 3, untilUTCDate });
    expect(await readNumbers(await createPath(other))).toBe(LEVEL_2_NUMBERS);
    gateway.clock.advance(58_999);
    expect(await readNumbers(await createPath(other))).toBe(LEVEL_2_NUMBERS);
    gateway.clock.advance(1);
    expect(await getChallenge(await createPath(other))).toBeUndefined();
  });

  it('keeps its level if an older event arrives later', async () => {
    await setAttackLevel(gateway, attacked, { level: 3, version: 5 });
    await setAttackLevel(gateway, attacked, { level: 0, version: 4 });
    expect(await readNumbers(await createPath())).toBe(2 * NUMBERS);
  });

  it('has the highest level of the attack and of the switch of the merchant, which has level 1 in both modes', async () => {
    const always = await gateway.createMerchant({ challengePayers: true });
    gateway.clock.advance(1_000);
    expect(await readNumbers(await createPath(always))).toBe(NUMBERS);
    await setAttackLevel(gateway, always, { level: 2 });
    expect(await readNumbers(await createPath(always))).toBe(LEVEL_2_NUMBERS);
    await setAttackLevel(gateway, always, { level: 0, version: 2 });
    expect(await readNumbers(await createPath(always))).toBe(NUMBERS);
    const live = await gateway.createMerchant({ challengePayers: true, mode: 'live' });
    gateway.clock.advance(1_000);
    expect(await readNumbers(await createPath(live))).toBe(NUMBERS);
  });
});

describe('a solution', () => {
  let path: string;
  let solved: SolvedChallenge;
  beforeEach(async () => {
    path = await createPath();
    solved = solve((await getChallenge(path))!);
  });

  it('of another session is refused', async () => {
    const other = await createPath();
    await expectRefused(other, solved);
    expect((await pay(path, solved)).status).toBe(200);
  });

  it('is refused after five minutes', async () => {
    const other = await createPath();
    const solvedLater = solve((await getChallenge(other))!);
    gateway.clock.advance(CHALLENGE_LIFETIME_MS - 1);
    expect((await pay(path, solved)).status).toBe(200);
    chargedReferences = [];
    gateway.clock.advance(1);
    await expectRefused(other, solvedLater);
  });

  it('of an easier challenge is refused when the payer would get one with more than twice the work', async () => {
    const other = await createPath();
    const solvedBefore = solve((await getChallenge(other))!);
    await setAttackLevel(gateway, attacked, { level: 3, version: 2 });
    expect((await pay(other, solvedBefore)).status).toBe(200);
    await replyWithDecline('card.declined');
    await pay(await createPath(await gateway.createMerchant()));
    chargedReferences = [];
    await gateway.respondToCharges(approve);
    await expectRefused(path, solved);
    await setAttackLevel(gateway, attacked, { level: 2, version: 3 });
    expect((await pay(path, solved)).status).toBe(200);
    gateway.clock.advance(10 * 60_000);
  });

  it('of a challenge that is signed with another key is refused', async () => {
    const payableId = path.split('/').at(-1)!;
    const facts = { payableId, numbers: NUMBERS, now: gateway.clock.now() };
    await expectRefused(path, solve(await createChallengeText(facts, Buffer.alloc(32, 'x'))));
    expect((await pay(path, solve(await createChallengeText(facts, KEY)))).status).toBe(200);
  });

  it('is used up by a wrong solution, so that a client cannot try the numbers here', async () => {
    const wrong = { ...solved, solution: (solved.solution + 1) % NUMBERS };
    const reference = randomUUID();
    await expectRefused(path, { reference, ...wrong });
    await expectRefused(path, { reference, ...solved });
  });

  it('without its challenge, or a challenge without its solution, is refused', async () => {
    await expectRefused(path, { solution: solved.solution });
    await expectRefused(path, { challenge: solved.challenge });
    expect((await pay(path, solved)).status).toBe(200);
  });

  it('is valid for one payment, on all replicas', async () => {
    const replica = await startReplica();
    try {
      const payOnReplica = (fields: object) => payOn(replica, path, fields);
      const payments = [pay(path, solved), payOnReplica(solved), pay(path, solved), payOnReplica(solved)];
      const statuses = (await Promise.all(payments)).map(({ status }) => status);
      expect(statuses.sort()).toEqual([200, 428, 428, 428]);
      expect(chargedReferences).toHaveLength(1);
    } finally {
      await replica.close();
    }
  });

  it('is valid again for a repeat of the same payment that has failed before it was made', async () => {
    const reference = randomUUID();
    await replyWithError('service.not-ready');
    expect((await pay(path, { reference, ...solved })).status).toBe(503);
    await replyWithError('card-key.not-in-use');
    expect((await pay(path, { reference, ...solved })).status).toBe(400);
    expect((await pay(path, solved)).status).toBe(428);
  });

  it('is not needed for the repeat of a payment that exists', async () => {
    const reference = randomUUID();
    expect((await pay(path, { reference, ...solved })).status).toBe(200);
    expect((await pay(path, { reference })).status).toBe(200);
  });

  it.each([{ challenge: 'x'.repeat(251) }, { challenge: 7 }, { solution: -1 }, { solution: 0.5 }, { solution: 1e9 }])(
    'that is malformed is a 400: %j',
    async (fields) => expect((await pay(path, { ...solved, ...fields })).status).toBe(400),
  );
});

test('the counter of challenges has the outcomes, and counts nothing for a site without an attack', async () => {
  const path = await createPath();
  const quietPath = await createPath(await gateway.createMerchant());
  outcomes.splice(0);
  const solved = solve((await getChallenge(path))!);
  await pay(path);
  await pay(path, solved);
  await getChallenge(quietPath);
  await pay(quietPath);
  expect(outcomes).toEqual(['created', 'refused', 'accepted']);
});

describe('the address of a payer with declines', () => {
  it('gets harder challenges, also at other sites, for ten minutes', async () => {
    const other = await gateway.createMerchant();
    await setAttackLevel(gateway, other, { level: 1 });
    await replyWithDecline('card.declined');
    for (const numbers of [NUMBERS, 1.25 * NUMBERS]) {
      expect(await readNumbers(await createPath(other))).toBe(numbers);
      const path = await createPath();
      expect((await pay(path, solve((await getChallenge(path))!))).status).toBe(200);
    }
    expect(await readNumbers(await createPath(other))).toBe(NUMBERS_AFTER_TWO_DECLINES);
    gateway.clock.advance(10 * 60_000);
    expect(await readNumbers(await createPath(other))).toBe(NUMBERS);
  });

  it('also gets them for declines at sites without an attack, and for refused attempts, but not if a bank is unavailable', async () => {
    const quiet = await gateway.createMerchant();
    await replyWithDecline('acquirer.unavailable');
    for (let index = 0; index < 2; index++) await pay(await createPath(quiet));
    expect(await readNumbers(await createPath())).toBe(NUMBERS);
    await replyWithError('card.too-many-attempts');
    for (let index = 0; index < 2; index++) await pay(await createPath(quiet));
    expect(await readNumbers(await createPath())).toBe(NUMBERS_AFTER_TWO_DECLINES);
    gateway.clock.advance(10 * 60_000);
  });

  it('is not the address in a forged header', async () => {
    const quiet = await gateway.createMerchant();
    await replyWithDecline('card.declined');
    for (let index = 0; index < 2; index++)
      await pay(await createPath(quiet), {}, { 'x-forwarded-for': `203.0.113.${index}` });
    expect(await readNumbers(await createPath())).toBe(NUMBERS_AFTER_TWO_DECLINES);
    gateway.clock.advance(10 * 60_000);
  });
});

test('while other payments of the same address are in flight, the response says so in the language of the page, and when to repeat', async () => {
  const path = await createPath();
  await gateway.respondToCharges(() => ({ ...replyError('request.rate-limited'), retryAfterSeconds: 1 }));
  const [solved, reference] = [solve((await getChallenge(path))!), randomUUID()];
  const busy = await pay(path, { reference, ...solved }, { 'accept-language': 'st' });
  expect([busy.status, busy.headers['retry-after'], busy.body]).toEqual([
    429,
    '1',
    { status: 'BadRequest', errors: [{ message: st.formErrors.tooMany }] },
  ]);
  expect(await readNumbers(path)).toBe(NUMBERS);
  await gateway.respondToCharges(approve);
  expect((await pay(path, { reference, ...solved })).status).toBe(200);
});

test('a refused attempt shows in the language of the page that another card may help, and the form stays', async () => {
  const path = await createPath(await gateway.createMerchant());
  await replyWithError('card.too-many-attempts');
  const { status, body } = await pay(path, {}, { 'accept-language': 'zu' });
  expect([status, body.errors]).toEqual([422, [{ message: zu.refusals['card.too-many-attempts'] }]]);
  expect((await gateway.call('GET', `${path}/state`)).body).toMatchObject({
    state: 'open',
    nextPayment: { paymentNumber: 1 },
  });
  gateway.clock.advance(10 * 60_000);
});

async function replyWithDecline(code: ErrorCode): Promise<void> {
  await gateway.respondToCharges(({ payable, reference }) => {
    const errors = [paymentError(code)];
    return { ok: true, reply: buildPayment(payable, { reference, version: 3, state: 'failed', errors }) };
  });
}

/** Another replica with the same database and settings. */
async function startReplica(): Promise<RunningService> {
  const broker = new EmbeddedBroker();
  await broker.respond(ChargeCardV1.name, (command) => Promise.resolve(approve(command as ChargeCard)));
  return startService(hostedGatewayService, {
    env: {
      SVC_ENVIRONMENT: 'development',
      SVC_LOG_LEVEL: 'silent',
      SVC_DATABASE_URL: (gateway.service.app.get(DataSource).options as { url: string }).url,
      ...GATEWAY_ENVIRONMENT,
      SVC_CHALLENGE_NUMBERS: String(NUMBERS),
    },
    broker,
    clock: gateway.clock,
  });
}

async function payOn(replica: RunningService, path: string, fields: object): Promise<{ status: number }> {
  const { statusCode } = await replica.app.inject({
    method: 'POST',
    url: `${path}/payments`,
    payload: { reference: randomUUID(), paymentNumber: 1, encryptedCard: 'a.b.c', ...fields },
  });
  return { status: statusCode };
}
