import { en } from '../src/languages/en.js';
import type { PayablePage } from '../src/page-views/pay-page-model.js';
import { buildFormPage, findInput, type Navigation, openInDom, readText, RENDERED_AT } from '../test/open-page.js';
import type { PaymentController } from './payment-controller.js';
import type { IdleWatch } from './payment-flow/idle-watch.js';

const { processing } = en;
const TEXTS = { cardNumber: '4242 4242 4242 4242', expiry: '12 / 30', cvv: '123', holderName: 'Thandi Nkosi' };
const DECLINED = {
  state: 'declined',
  version: 4,
  decline: {
    paymentNumber: 2,
    title: 'Insufficient funds',
    next: 'Use another card.',
    paymentsLeft: 'You can try 4 times.',
  },
};

const NO_CHALLENGES = {
  request: () => Promise.resolve(undefined),
  solve: () => Promise.reject(new Error('no challenge')),
  now: () => RENDERED_AT,
  showWaiting: () => undefined,
  showProgress: () => undefined,
};

/** A response of the gateway. Undefined: there is no response. */
type Reply = { status: number; body: object } | undefined;

let page: PayablePage;
let navigation: Navigation;
let payment: PaymentController;
/** The responses to a POST and to a poll. */
let replies: { post: Promise<Reply>; state: Reply };

beforeAll(async () => {
  page = await buildFormPage();
});

beforeEach(async () => {
  jest.useFakeTimers({ now: RENDERED_AT, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  navigation = openInDom(page);
  replies = { post: Promise.resolve({ status: 200, body: { state: 'processing' } }), state: undefined };
  jest.spyOn(globalThis, 'fetch').mockImplementation(async (_url, init) => {
    const reply = init?.method === 'POST' ? await replies.post : replies.state;
    if (reply === undefined) throw new TypeError('fetch failed');
    return new Response(JSON.stringify(reply.body), { status: reply.status });
  });
  const { CardForm } = await import('./card-form/card-form.js');
  const { PayerChallenge } = await import('./challenge/payer-challenge.js');
  const { messages } = await import('./messages.js');
  const { PaymentController: Controller } = await import('./payment-controller.js');
  const cardForm = new CardForm(() => RENDERED_AT, messages);
  const watch = { start: () => undefined, stop: () => undefined } as unknown as IdleWatch;
  payment = new Controller(cardForm, watch, undefined, new PayerChallenge(undefined, NO_CHALLENGES));
});

afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Runs the timers of this time, and the polls that they start. */
const wait = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds);
const readNote = (): string => readText('processing-note');
const isShown = (id: string): boolean => !document.getElementById(id)!.hidden;
const isStoreLinkShown = (): boolean => !document.querySelector('nav')!.classList.contains('away');

/** Pays while the POST gets no response until `respond` is called. */
async function startPayment() {
  let respond: (reply: Reply) => void = () => undefined;
  replies.post = new Promise((resolve) => (respond = resolve));
  const sent = new Promise<void>((resolve) => {
    const answer = jest.mocked(fetch).getMockImplementation()!;
    jest.mocked(fetch).mockImplementation((url, init) => {
      if (init?.method === 'POST') resolve();
      return answer(url, init);
    });
  });
  const done = payment.pay(TEXTS);
  await sent;
  return { respond, done };
}

describe('a payment that the server has accepted', () => {
  it('shows that the bank processes it, and shows a note that the page is still checking when a poll fails', async () => {
    await payment.pay(TEXTS);
    expect([readText('processing-heading'), readNote()]).toEqual([processing.heading, processing.note]);
    await wait(10);
    expect(readNote()).toBe(processing.stillChecking);
  });

  it('shows the form for the next payment, with the same card, after a poll with its decline', async () => {
    findInput('card-number').value = TEXTS.cardNumber;
    await payment.pay(TEXTS);
    replies.state = { status: 200, body: DECLINED };
    await wait(10);
    expect(readText('form-error')).toContain('Insufficient funds');
    expect([isShown('processing-view'), findInput('card-number').value]).toEqual([false, TEXTS.cardNumber]);
    expect(navigation.replace).not.toHaveBeenCalled();
  });
});

describe('a payment without a response', () => {
  it('shows that the page is still checking', async () => {
    replies.post = Promise.resolve(undefined);
    await payment.pay(TEXTS);
    expect(readNote()).toBe(processing.stillChecking);
  });

  it('shows that the browser is offline, also after a failed poll', async () => {
    Object.assign(navigator, { onLine: false });
    replies.post = Promise.resolve(undefined);
    await payment.pay(TEXTS);
    const offline = [processing.offlineHeading, processing.offlineNote];
    expect([readText('processing-heading'), readNote()]).toEqual(offline);
    await wait(2_000);
    expect(jest.mocked(fetch).mock.calls.length).toBeGreaterThan(1);
    expect([readText('processing-heading'), readNote()]).toEqual(offline);
  });
});

describe('a decline that a poll reports', () => {
  it('reloads the page after two seconds if the payment still has no response', async () => {
    await startPayment();
    replies.state = { status: 200, body: DECLINED };
    await wait(1_500);
    expect(jest.mocked(fetch).mock.calls.map(([url]) => url)).toContain(`${page.callsPath}/state`);
    await wait(1_999);
    expect([isShown('processing-view'), navigation.replace.mock.calls]).toEqual([true, []]);
    await wait(1);
    expect(navigation.replace.mock.calls).toEqual([[page.callsPath]]);
  });

  it('does not reload the page if the response to the payment soon reports the same decline', async () => {
    const { respond, done } = await startPayment();
    replies.state = { status: 200, body: DECLINED };
    await wait(1_500);
    respond({ status: 200, body: DECLINED });
    await done;
    await wait(5_000);
    expect(readText('form-error')).toContain('Insufficient funds');
    expect(navigation.replace).not.toHaveBeenCalled();
  });

  it('reloads the page immediately if it belongs to another payment', async () => {
    replies = { post: Promise.resolve({ status: 409, body: {} }), state: { status: 200, body: DECLINED } };
    await payment.pay(TEXTS);
    await wait(10);
    expect(navigation.replace.mock.calls).toEqual([[page.callsPath]]);
  });
});

describe('the payment of another payer', () => {
  it('hides the link to the store while it is in progress', () => {
    findInput('card-number').value = '4242';
    payment.onIdleState({ state: 'processing', version: '4' });
    expect(isStoreLinkShown()).toBe(false);
    payment.onIdleState({ state: 'open', version: String(page.sessionVersion) });
    expect(isStoreLinkShown()).toBe(true);
    expect(navigation.replace).not.toHaveBeenCalled();
  });
});
