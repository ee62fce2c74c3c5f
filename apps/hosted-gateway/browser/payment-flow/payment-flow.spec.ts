import fc from 'fast-check';
import {
  afterPoll,
  afterPost,
  afterRefusal,
  isChanged,
  isNewlyProcessing,
  type KeyValueStore,
  MAX_SENDS,
  PaymentReference,
  pollDelayMs,
  type PostResult,
  settlesReference,
  type Waiting,
  waitingAfterSend,
  wasNeverSent,
} from './payment-flow.js';

const answered = (httpStatus: number, state?: string, message?: string): PostResult => ({
  kind: 'answered',
  httpStatus,
  ...(state === undefined ? {} : { state }),
  ...(message === undefined ? {} : { message }),
});

const unreachable: PostResult = { kind: 'unreachable' };

describe('afterPost', () => {
  it.each([
    [answered(200, 'succeeded'), { do: 'reload' }],
    [answered(200, 'declined'), { do: 'reload' }],
    [answered(202, 'processing'), { do: 'poll', sent: 'yes' }],
    [answered(200), { do: 'poll', sent: 'unknown' }],
    [answered(202), { do: 'poll', sent: 'unknown' }],
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
    [{ kind: 'unreachable', neverSent: false } as const, { do: 'poll', sent: 'unknown' }],
    [{ kind: 'unreachable', neverSent: true } as const, { do: 'poll', sent: 'no' }],
  ])('%j leads to %j', (outcome, step) => expect(afterPost(outcome)).toEqual(step));

  it('continues with the next attempt on the same page if the response contains all data for its form', () => {
    const decline = { try: 2, title: 'Declined', next: 'Use another card.', triesLeft: '4 of 5 tries left.' };
    const received = { state: 'declined', version: '3', decline };
    expect(afterPost({ ...answered(200, 'declined'), received } as PostResult)).toEqual({
      do: 'next-attempt',
      state: received,
    });
    for (const half of [
      { ...received, decline: undefined },
      { ...received, version: undefined },
      { ...received, state: 'open' },
    ])
      expect(afterPost({ ...answered(200, half.state), received: half } as PostResult)).toEqual({ do: 'reload' });
  });

  it('redirects to the bank only if the URL is http or https', () => {
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

  it('redirects to the bank only for a verification', () => {
    const redirectUrl = 'https://bank.example/c/1';
    expect(afterPost({ ...answered(200, 'succeeded'), redirectUrl } as PostResult)).toEqual({ do: 'reload' });
    expect(afterPost({ ...answered(202, 'processing'), redirectUrl } as PostResult)).toEqual({
      do: 'poll',
      sent: 'yes',
    });
  });

  it('shows the form again only if the server rejected the payment', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.string(), (httpStatus, state) => {
        const isRefusal = httpStatus >= 400 && httpStatus < 500 && ![402, 404, 408, 409, 410].includes(httpStatus);
        expect(afterPost(answered(httpStatus, state)).do === 'correct').toBe(isRefusal);
      }),
    );
  });

  it('settles a reference only after a response about the payment itself', () => {
    const settles = (outcome: PostResult): boolean => settlesReference(outcome, false);
    expect([200, 202].every((status) => settles(answered(status, 'processing')))).toBe(true);
    expect([400, 402].every((status) => settles(answered(status)))).toBe(true);
    // From a proxy, which has no data about payments.
    expect([200, 202].some((status) => settles(answered(status)))).toBe(false);
    expect([409, 429, 500, 503].map((status) => settles(answered(status)))).toEqual([false, false, false, false]);
    expect(settles({ kind: 'unreachable' })).toBe(false);
  });

  it('keeps a reference after a 400 when an earlier send may have arrived: the bank may still approve it', () => {
    expect(settlesReference(answered(400), true)).toBe(false);
    expect(settlesReference(answered(402), true)).toBe(true);
    expect(settlesReference(answered(200, 'declined'), true)).toBe(true);
  });
});

describe('afterRefusal', () => {
  const shown = { state: 'open', version: '1' };
  const tooMany = { do: 'correct', problem: 'tooMany' } as const;
  const refused = { do: 'correct', problem: 'refused' } as const;
  const wrongCard = { ...refused, message: 'Bad card' };
  const unchanged = { state: 'open', version: '1' };

  it.each([tooMany, refused, wrongCard])('shows the form again after the first send, %j', (refusal) => {
    for (const current of [unchanged, undefined])
      expect(afterRefusal({ refusal, current, shown, mayHaveArrived: false })).toEqual(refusal);
  });

  it('keeps checking when an earlier send may have arrived and the state is unknown', () => {
    for (const refusal of [tooMany, refused, wrongCard])
      expect(afterRefusal({ refusal, current: undefined, shown, mayHaveArrived: true })).toEqual({
        do: 'poll',
        sent: 'unknown',
      });
  });

  it('does not say that nothing was charged when an earlier send may have arrived and the form is free', () => {
    const step = (refusal: typeof tooMany | typeof refused) =>
      afterRefusal({ refusal, current: unchanged, shown, mayHaveArrived: true });
    expect(step(tooMany)).toEqual({ do: 'correct', problem: 'notSent' });
    expect(step(refused)).toEqual({ do: 'correct', problem: 'notSent' });
    expect(step(wrongCard)).toEqual({ do: 'correct', problem: 'notSent', message: 'Bad card' });
  });

  it.each([
    { state: 'processing', version: '2' },
    { state: 'declined', version: '3' },
    { state: 'expired', version: '2' },
  ])('lets the server render %j, whatever was refused', (current) => {
    for (const mayHaveArrived of [false, true])
      expect(afterRefusal({ refusal: tooMany, current, shown, mayHaveArrived })).toEqual({ do: 'reload' });
  });
});

describe('waitingAfterSend', () => {
  it('says that nothing was sent only while no earlier send may have arrived', () => {
    expect(waitingAfterSend('no', false)).toBe('no');
    expect(waitingAfterSend('no', true)).toBe('unknown');
    for (const sent of ['yes', 'unknown', 'elsewhere'] as const)
      expect([false, true].map((mayHaveArrived) => waitingAfterSend(sent, mayHaveArrived))).toEqual([sent, sent]);
  });
});

describe('wasNeverSent', () => {
  it.each([
    [true, false, true, true],
    [true, true, true, false],
    [true, false, false, false],
    [false, false, true, false],
    [false, true, true, false],
  ])('offline before %p, online in between %p, offline after %p: %p', (before, between, after, neverSent) => {
    expect(wasNeverSent({ wasOffline: before, cameOnline: between, isOffline: after })).toBe(neverSent);
  });
});

describe('afterPoll', () => {
  const shown = { state: 'open', version: '1' };
  const poll = (state: string, version: string | undefined, waiting: Waiting, unchangedPolls = 1, sends = 1) =>
    afterPoll({ polled: { state, version }, shown, waiting, unchangedPolls, sends });

  it('waits while the payment is processing, with or without a response', () => {
    const all: Waiting[] = ['answer', 'yes', 'unknown', 'elsewhere'];
    expect(all.map((waiting) => poll('processing', '2', waiting, 99, 99))).toEqual(['wait', 'wait', 'wait', 'wait']);
  });

  it.each(['succeeded', 'declined', 'refused', 'expired', 'cancelled', 'already-paid', 'not-found', 'unheard-of'])(
    'lets the server render %s',
    (state) => expect(poll(state, '2', 'yes')).toBe('reload'),
  );

  it('resends a payment without a response if the server does not have it, a limited number of times', () => {
    expect(poll('open', '1', 'unknown', 1, 1)).toBe('send-again');
    expect(poll('open', '1', 'unknown', 1, MAX_SENDS - 1)).toBe('send-again');
    expect(poll('open', '1', 'unknown', 1, MAX_SENDS)).toBe('restore-form');
  });

  it('sends a payment that was never sent as soon as the server responds, after any number of failures', () => {
    expect(poll('open', '1', 'no', 1, 0)).toBe('send-again');
    expect(poll('open', '1', 'no', 99, 0)).toBe('send-again');
    expect(poll('expired', '2', 'no', 1, 0)).toBe('reload');
  });

  it('neither resends nor shows the form while a response may still arrive, or if the payment was accepted', () => {
    for (const waiting of ['answer', 'yes'] as const) expect(poll('open', '1', waiting, 99, 99)).toBe('wait');
  });

  it('checks a payment that a reload interrupted, before the form comes back', () => {
    expect(poll('processing', '2', 'interrupted')).toBe('reload');
    expect(poll('declined', '2', 'interrupted')).toBe('reload');
    expect([1, 2, 3].map((polls) => poll('open', '1', 'interrupted', polls))).toEqual(['wait', 'wait', 'wait']);
    expect(poll('open', '1', 'interrupted', 4, 0)).toBe('restore-form');
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
    // An outdated response.
    ['declined', '3', 'open', '1', false],
    ['declined', '3', 'declined', '2', false],
    // As numbers, not as text.
    ['declined', '9', 'declined', '10', true],
    ['declined', '10', 'declined', '9', false],
    // Versions that are not numbers have no order.
    ['open', 'b', 'open', 'a', true],
    ['open', '2', 'open', 'a1', true],
    ['open', '2a', 'open', '1', true],
    ['open', 'a', 'open', 'a', false],
    ['open', undefined, 'open', '1', false],
    ['open', '1', 'open', undefined, false],
    ['open', undefined, 'declined', undefined, true],
    ['processing', '2', 'processing', '3', false],
    ['processing', '2', 'succeeded', '2', true],
    ['open', '1', 'verification', '3', true],
    // The payer requested another card while a verification is open.
    ['open', '3', 'verification', '3', false],
    ['verification', '3', 'declined', '4', true],
  ])('%s/%s then %s/%s: %p', (state, version, polledState, polledVersion, changed) => {
    expect(isChanged({ state: polledState, version: polledVersion }, { state, version })).toBe(changed);
  });
});

describe('isFirstSightOfProcessing', () => {
  it.each<[Waiting, boolean]>([
    ['answer', true],
    ['no', true],
    ['yes', false],
    ['unknown', false],
    ['elsewhere', false],
    ['interrupted', false],
  ])('in the waiting state %s: %p', (waiting, isFirst) => {
    expect(isNewlyProcessing({ state: 'processing' }, waiting)).toBe(isFirst);
    expect(isNewlyProcessing({ state: 'open' }, waiting)).toBe(false);
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

  it('is the same until it is settled, also after a reload', () => {
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

  it('is unanswered from the pay request until it is settled, also for a document that is loaded meanwhile', () => {
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

  it('may have arrived after a send without a response, until it is settled, also for a document loaded later', () => {
    for (const store of [memory(), undefined]) {
      const reference = new PaymentReference(store, 's-1', 1, uuids());
      reference.get();
      // Not sent yet, or rejected immediately.
      expect(reference.mayHaveArrived).toBe(false);
      reference.markUnanswered();
      expect(reference.mayHaveArrived).toBe(true);
      expect(new PaymentReference(store, 's-1', 1, uuids()).mayHaveArrived).toBe(store !== undefined);
      expect(new PaymentReference(store, 's-1', 2, uuids()).mayHaveArrived).toBe(false);
      reference.settle();
      expect(reference.mayHaveArrived).toBe(false);
      expect(new PaymentReference(store, 's-1', 1, uuids()).mayHaveArrived).toBe(false);
    }
  });

  it('is different for each try and each session', () => {
    const store = memory();
    const randomUuid = uuids();
    const all = [
      new PaymentReference(store, 's-1', 1, randomUuid),
      new PaymentReference(store, 's-1', 2, randomUuid),
      new PaymentReference(store, 's-2', 1, randomUuid),
    ];
    expect(new Set(all.map((each) => each.get())).size).toBe(3);
  });

  it('is kept until the page is closed if the browser allows no storage', () => {
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
