import fc from 'fast-check';
import {
  afterPoll,
  afterPost,
  isChanged,
  MAX_SENDS,
  PaymentReference,
  pollDelayMs,
  settlesReference,
  type KeyValueStore,
  type PostOutcome,
  type Waiting,
} from './payment-flow.js';

const answered = (httpStatus: number, state?: string, message?: string): PostOutcome => ({
  kind: 'answered',
  httpStatus,
  ...(state === undefined ? {} : { state }),
  ...(message === undefined ? {} : { message }),
});

const unreachable: PostOutcome = { kind: 'unreachable' };

describe('afterPost', () => {
  it.each([
    [answered(200, 'succeeded'), { do: 'reload' }],
    [answered(200, 'declined'), { do: 'reload' }],
    [answered(202, 'processing'), { do: 'poll', sent: 'yes' }],
    [answered(200), { do: 'poll', sent: 'yes' }],
    [answered(409), { do: 'poll', sent: 'elsewhere' }],
    [answered(402), { do: 'reload' }],
    [answered(404), { do: 'reload' }],
    [answered(410), { do: 'reload' }],
    [answered(400, undefined, 'Bad card'), { do: 'correct', problem: 'refused', message: 'Bad card' }],
    [answered(422), { do: 'correct', problem: 'refused' }],
    [answered(429), { do: 'correct', problem: 'tooMany' }],
    [answered(408), { do: 'poll', sent: 'unknown' }],
    [answered(500), { do: 'poll', sent: 'unknown' }],
    [answered(503), { do: 'poll', sent: 'unknown' }],
    [unreachable, { do: 'poll', sent: 'unknown' }],
  ])('%j leads to %j', (outcome, step) => expect(afterPost(outcome)).toEqual(step));

  it('leaves for the bank only to an address of the web', () => {
    const to = (redirectUrl?: string) =>
      afterPost({
        ...answered(200, 'verification'),
        ...(redirectUrl === undefined ? {} : { redirectUrl }),
      });
    expect(to('https://bank.example/c/1')).toEqual({ do: 'leave', to: 'https://bank.example/c/1' });
    expect(to('http://127.0.0.1:7304/c/1')).toEqual({ do: 'leave', to: 'http://127.0.0.1:7304/c/1' });
    for (const address of ['javascript:alert(1)', 'data:text/html,x', '//bank.example', '', undefined])
      expect(to(address)).toEqual({ do: 'reload' });
  });

  it('leaves for the bank only to be verified', () => {
    const redirectUrl = 'https://bank.example/c/1';
    expect(afterPost({ ...answered(200, 'succeeded'), redirectUrl } as PostOutcome)).toEqual({ do: 'reload' });
    expect(afterPost({ ...answered(202, 'processing'), redirectUrl } as PostOutcome)).toEqual({
      do: 'poll',
      sent: 'yes',
    });
  });

  it('never gives the form back unless the server refused the payment', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.string(), (httpStatus, state) => {
        const isRefusal = httpStatus >= 400 && httpStatus < 500 && ![402, 404, 408, 409, 410].includes(httpStatus);
        expect(afterPost(answered(httpStatus, state)).do === 'correct').toBe(isRefusal);
      }),
    );
  });

  it('settles a reference only by an answer about the payment itself', () => {
    expect([200, 202, 400, 402].every((status) => settlesReference(answered(status)))).toBe(true);
    expect([409, 429, 500, 503].map((status) => settlesReference(answered(status)))).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(settlesReference({ kind: 'unreachable' })).toBe(false);
  });
});

describe('afterPoll', () => {
  const shown = { state: 'open', version: '1' };
  const poll = (state: string, version: string | undefined, waiting: Waiting, unchangedPolls = 1, sends = 1) =>
    afterPoll({ polled: { state, version }, shown, waiting, unchangedPolls, sends });

  it('waits while the payment is processing, whatever became of the answer', () => {
    const all: Waiting[] = ['answer', 'yes', 'unknown', 'elsewhere'];
    expect(all.map((waiting) => poll('processing', '2', waiting, 99, 99))).toEqual(['wait', 'wait', 'wait', 'wait']);
  });

  it.each(['succeeded', 'declined', 'refused', 'expired', 'cancelled', 'already-paid', 'not-found', 'unheard-of'])(
    'lets the server render %s',
    (state) => expect(poll(state, '2', 'yes')).toBe('reload'),
  );

  it('sends an unanswered payment again when the server does not have it, and gives up after a while', () => {
    expect(poll('open', '1', 'unknown', 1, 1)).toBe('send-again');
    expect(poll('open', '1', 'unknown', 1, MAX_SENDS - 1)).toBe('send-again');
    expect(poll('open', '1', 'unknown', 1, MAX_SENDS)).toBe('give-back');
  });

  it('neither sends again nor gives back while an answer may still come, or the payment was accepted', () => {
    for (const waiting of ['answer', 'yes'] as const) expect(poll('open', '1', waiting, 99, 99)).toBe('wait');
  });

  it('asks what became of a payment that a reload interrupted, before the form comes back', () => {
    expect(poll('processing', '2', 'interrupted')).toBe('reload');
    expect(poll('declined', '2', 'interrupted')).toBe('reload');
    expect([1, 2, 3].map((polls) => poll('open', '1', 'interrupted', polls))).toEqual(['wait', 'wait', 'wait']);
    expect(poll('open', '1', 'interrupted', 4, 0)).toBe('give-back');
  });

  it('waits for another payer, and shows the form again when there is none', () => {
    expect(poll('open', '1', 'elsewhere', 1)).toBe('wait');
    expect(poll('open', '1', 'elsewhere', 4)).toBe('reload');
    expect(poll('declined', '2', 'elsewhere', 1)).toBe('reload');
  });
});

describe('isChanged', () => {
  it.each([
    ['open', '1', 'open', '1', false],
    ['open', '1', 'declined', '1', false],
    ['declined', '2', 'declined', '3', true],
    ['open', undefined, 'open', '1', false],
    ['open', '1', 'open', undefined, false],
    ['open', undefined, 'declined', undefined, true],
    ['processing', '2', 'processing', '3', false],
    ['processing', '2', 'succeeded', '2', true],
    ['open', '1', 'verification', '3', true],
    // Another card was asked for while a verification is open.
    ['open', '3', 'verification', '3', false],
    ['verification', '3', 'declined', '4', true],
  ])('%s/%s then %s/%s: %p', (state, version, polledState, polledVersion, changed) => {
    expect(isChanged({ state: polledState, version: polledVersion }, { state, version })).toBe(changed);
  });
});

describe('pollDelayMs', () => {
  it('starts at 250 ms, grows, and stays at 2 s however long it takes', () => {
    const delays = Array.from({ length: 2000 }, (_, polls) => pollDelayMs(polls));
    expect(delays[0]).toBe(250);
    expect(delays.every((delay, index) => index === 0 || delay >= (delays[index - 1] ?? 0))).toBe(true);
    expect(delays.at(-1)).toBe(2000);
    expect(delays.findIndex((delay) => delay === 2000)).toBeLessThan(10);
  });
});

describe('PaymentReference', () => {
  const uuids = () => {
    let made = 0;
    return () => `uuid-${++made}`;
  };
  const memory = (): KeyValueStore & { kept: Map<string, string> } => {
    const kept = new Map<string, string>();
    return {
      kept,
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    };
  };

  it('is the same until it is settled, over a reload too', () => {
    const store = memory();
    const randomUuid = uuids();
    const first = new PaymentReference(store, 's-1', 1, randomUuid);
    expect([first.get(), first.get()]).toEqual(['uuid-1', 'uuid-1']);
    const afterReload = new PaymentReference(store, 's-1', 1, randomUuid);
    expect(afterReload.get()).toBe('uuid-1');
    afterReload.settle();
    expect(store.kept.size).toBe(0);
    expect(afterReload.get()).toBe('uuid-2');
  });

  it('is unanswered from the press until it is settled, as a document loaded in between can tell', () => {
    const store = memory();
    const inDocument = (): PaymentReference => new PaymentReference(store, 's-1', 1, uuids());
    expect(inDocument().isUnanswered()).toBe(false);
    const pressed = inDocument();
    pressed.get();
    expect(inDocument().isUnanswered()).toBe(true);
    expect(new PaymentReference(store, 's-1', 2, uuids()).isUnanswered()).toBe(false);
    pressed.settle();
    expect(inDocument().isUnanswered()).toBe(false);
  });

  it('is another for another try and another session', () => {
    const store = memory();
    const randomUuid = uuids();
    const all = [
      new PaymentReference(store, 's-1', 1, randomUuid),
      new PaymentReference(store, 's-1', 2, randomUuid),
      new PaymentReference(store, 's-2', 1, randomUuid),
    ];
    expect(new Set(all.map((each) => each.get())).size).toBe(3);
  });

  it('holds for the life of the page where nothing may be stored', () => {
    const refuses = () => {
      throw new Error('SecurityError');
    };
    for (const store of [undefined, { getItem: refuses, setItem: refuses, removeItem: refuses }]) {
      const reference = new PaymentReference(store, 's-1', 1, uuids());
      expect([reference.get(), reference.get()]).toEqual(['uuid-1', 'uuid-1']);
      expect(reference.isUnanswered()).toBe(false);
      reference.settle();
      expect(reference.get()).toBe('uuid-2');
    }
  });
});
