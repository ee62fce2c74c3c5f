import { randomUUID } from 'node:crypto';
import { createChallengeText } from '../src/challenge/challenge.js';
import { en } from '../src/languages/en.js';
import type { PayablePage } from '../src/page-views/pay-page-model.js';
import { buildFormPage, findInput, openInDom, readText, RENDERED_AT } from '../test/open-page.js';
import { declinedPage } from '../test/pages.js';

const TEXTS = {
  'card-number': '4242 4242 4242 4242',
  'card-expiry': '12 / 30',
  'card-cvv': '123',
  'card-name': 'Thandi Nkosi',
};
const DECLINED = {
  state: 'declined',
  version: 4,
  decline: { paymentNumber: 2, title: 'Declined', next: 'Use another card.', paymentsLeft: '' },
};
const REQUIRED = { status: 428, body: { status: 'BadRequest', errors: [{ message: 'Solve a challenge.' }] } };
/** Other payments of the payer's network are in flight. */
const BUSY = {
  status: 429,
  headers: { 'retry-after': '1' },
  body: { status: 'BadRequest', errors: [{ message: en.formErrors.tooMany }] },
};
const PROCESSING = { status: 202, body: { state: 'processing' } };
const { formErrors, processing, challenge: texts } = en;

interface Reply {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

let form: PayablePage;
/** Replies to the pay requests, in their order. */
let payReplies: Reply[];
/** Replies to the requests for a challenge, in their order. Undefined: there is no response. */
let challengeReplies: (Reply | undefined)[];
/** The bodies of the pay requests. */
let sent: { reference: string; challenge?: string; solution?: number }[];
let challengeCalls: number;

beforeAll(async () => {
  form = await buildFormPage();
});
beforeEach(() => {
  jest.useFakeTimers({ now: RENDERED_AT, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  [payReplies, challengeReplies, sent, challengeCalls] = [[], [], [], 0];
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const createChallenge = (now = RENDERED_AT): Promise<string> =>
  createChallengeText({ payableId: randomUUID(), numbers: 30, now }, Buffer.alloc(32));
const replyWithChallenge = async (): Promise<Reply> => ({ status: 200, body: { challenge: await createChallenge() } });

/** Opens the page and runs its script. */
async function open(model: PayablePage): Promise<void> {
  openInDom(model);
  jest.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const url = input as string;
    const reply = url.endsWith('/payments')
      ? (sent.push(JSON.parse(init?.body as string) as (typeof sent)[number]), payReplies.shift())
      : url.endsWith('/challenges')
        ? (challengeCalls++, challengeReplies.shift())
        : { status: 200, body: { state: 'open', version: form.sessionVersion } };
    if (reply === undefined) return Promise.reject(new TypeError('fetch failed'));
    return Promise.resolve(new Response(JSON.stringify(reply.body), reply));
  });
  await import('./pay.js');
}

/** Lets the script continue until the condition is met. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn > 100_000) throw new Error('The condition was never met.');
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

function pressPay(): void {
  for (const [id, text] of Object.entries(TEXTS)) findInput(id).value = text;
  document.getElementById('pay-form')!.dispatchEvent(new window.Event('submit', { cancelable: true }));
}

const isFormShown = (): boolean => !document.getElementById('ways')!.classList.contains('away');
const isChallengeShown = (): boolean => !document.getElementById('challenge-view')!.hidden;
const readCard = (): string => findInput('card-number').value;

test('the form appears when the challenge of the page is solved, and a payment contains the solution', async () => {
  const challenge = await createChallenge();
  await open({ ...form, challenge });
  expect([isFormShown(), isChallengeShown()]).toEqual([false, true]);
  await until(isFormShown);
  expect([isChallengeShown(), readText('challenge-status')]).toEqual([false, texts.done]);
  payReplies = [PROCESSING];
  pressPay();
  await until(() => sent.length > 0);
  expect(sent).toMatchObject([{ challenge, solution: expect.any(Number) }]);
  expect(challengeCalls).toBe(0);
});

test('a page without a challenge shows the form at once, and announces nothing', async () => {
  await open(form);
  expect([isFormShown(), isChallengeShown(), readText('challenge-status')]).toEqual([true, false, '']);
  payReplies = [PROCESSING];
  pressPay();
  await until(() => sent.length > 0);
  expect(sent[0]).not.toHaveProperty('challenge');
});

test('the reason of a decline has the focus after the challenge', async () => {
  await open({ ...form, ...declinedPage, challenge: await createChallenge(), encryptionKey: form.encryptionKey });
  await until(isFormShown);
  expect(document.activeElement?.id).toBe('decline');
});

test('without WebCrypto, the page shows the form with the reason instead of a challenge that never ends', async () => {
  const challenge = await createChallenge();
  Object.defineProperty(crypto, 'subtle', { value: undefined, configurable: true });
  try {
    await open({ ...form, challenge });
    expect([isFormShown(), isChallengeShown(), readText('form-error')]).toEqual([true, false, formErrors.insecure]);
  } finally {
    Reflect.deleteProperty(crypto, 'subtle');
  }
});

test('a payment for which the server requires a challenge is sent again with its solution and the same reference', async () => {
  await open(form);
  payReplies = [REQUIRED, PROCESSING];
  challengeReplies = [await replyWithChallenge()];
  pressPay();
  await until(() => sent.length === 2);
  expect(sent[1]).toMatchObject({ reference: sent[0]!.reference, solution: expect.any(Number) });
  expect(challengeCalls).toBe(1);
  await until(() => !isChallengeShown());
  expect(isFormShown()).toBe(false);
});

test('an expired solution is replaced when the payer presses Pay, and the view has the focus meanwhile', async () => {
  await open({ ...form, challenge: await createChallenge() });
  await until(isFormShown);
  jest.setSystemTime(RENDERED_AT.getTime() + 300_000);
  const next = await createChallenge(new Date(RENDERED_AT.getTime() + 300_000));
  challengeReplies = [{ status: 200, body: { challenge: next } }];
  payReplies = [PROCESSING];
  pressPay();
  await until(isChallengeShown);
  expect(document.activeElement?.id).toBe('challenge-heading');
  await until(() => sent.length > 0);
  expect(sent).toMatchObject([{ challenge: next }]);
});

test('if no challenge can be requested, the form shows this, with the same card', async () => {
  await open(form);
  payReplies = [REQUIRED];
  challengeReplies = [undefined];
  pressPay();
  await until(isFormShown);
  expect([readText('form-error'), readCard(), sent.length]).toEqual([formErrors.notSent, TEXTS['card-number'], 1]);
});

test('after three refused solutions the form shows this, with the same card', async () => {
  await open(form);
  payReplies = [REQUIRED, REQUIRED, REQUIRED, REQUIRED];
  challengeReplies = await Promise.all([1, 2, 3].map(replyWithChallenge));
  pressPay();
  await until(() => sent.length === 4);
  await until(isFormShown);
  expect([readText('form-error'), readCard()]).toEqual([formErrors.challengeFailed, TEXTS['card-number']]);
  // The last call requests the challenge for the next press of Pay.
  expect([isChallengeShown(), challengeCalls]).toEqual([false, 4]);
});

test('after a decline the next challenge is solved while the form is shown', async () => {
  await open({ ...form, challenge: await createChallenge() });
  await until(isFormShown);
  payReplies = [{ status: 200, body: DECLINED }, PROCESSING];
  const next = await createChallenge();
  challengeReplies = [{ status: 200, body: { challenge: next } }];
  pressPay();
  await until(() => challengeCalls === 1);
  expect([isFormShown(), isChallengeShown(), readText('form-error')]).toEqual([
    true,
    false,
    expect.stringContaining('Declined'),
  ]);
  pressPay();
  await until(() => sent.length === 2);
  expect(sent[1]).toMatchObject({ challenge: next });
  expect(sent[1]!.reference).not.toBe(sent[0]!.reference);
});

test('a refused attempt shows the text of the server, and its reference is not used again', async () => {
  await open(form);
  const message = en.refusals['card.too-many-attempts'];
  payReplies = [{ status: 422, body: { status: 'BadRequest', errors: [{ message }] } }, PROCESSING];
  pressPay();
  await until(() => isFormShown() && sent.length === 1 && readText('form-error') !== '');
  expect([readText('form-error'), readCard()]).toEqual([message, TEXTS['card-number']]);
  pressPay();
  await until(() => sent.length === 2);
  expect(sent[1]!.reference).not.toBe(sent[0]!.reference);
});

describe('while many payments of the payer’s network are in flight', () => {
  const isWaiting = (): boolean => readText('processing-heading') === processing.busyHeading;
  /** Lets time pass until the page has sent so many pay requests. The delay before a repeat is 1 to 2 seconds. */
  async function untilSent(count: number): Promise<void> {
    for (let turn = 0; sent.length < count; turn++) {
      if (turn > 10_000) throw new Error('The payment was never repeated.');
      await jest.advanceTimersByTimeAsync(100);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  test('the page says so, and sends the same payment with the same solution again by itself', async () => {
    const challenge = await createChallenge();
    await open({ ...form, challenge });
    await until(isFormShown);
    payReplies = [BUSY, BUSY, PROCESSING];
    pressPay();
    await until(isWaiting);
    expect([readText('processing-note'), isFormShown(), sent.length]).toEqual([processing.note, false, 1]);
    await jest.advanceTimersByTimeAsync(999);
    expect(sent).toHaveLength(1);
    await untilSent(3);
    expect(sent).toEqual([sent[0], sent[0], sent[0]]);
    await until(() => readText('processing-heading') === processing.heading);
    expect(challengeCalls).toBe(0);
  });

  test('the form appears with the same card after ten repeats, and with a sentence of its own', async () => {
    await open(form);
    payReplies = Array.from({ length: 11 }, () => BUSY);
    pressPay();
    await untilSent(11);
    await until(isFormShown);
    expect([readText('form-error'), readCard(), sent.length]).toEqual([formErrors.tooMany, TEXTS['card-number'], 11]);
    // The next press repeats again, and is still the same payment.
    payReplies = [BUSY, PROCESSING];
    pressPay();
    await untilSent(13);
    expect(new Set(sent.map(({ reference }) => reference)).size).toBe(1);
  });

  test('a repeat solves another challenge if the attack has begun meanwhile', async () => {
    await open(form);
    payReplies = [BUSY, REQUIRED, PROCESSING];
    challengeReplies = [await replyWithChallenge()];
    pressPay();
    await untilSent(2);
    await until(() => sent.length === 3);
    expect(sent[2]).toMatchObject({ reference: sent[0]!.reference, solution: expect.any(Number) });
  });
});
