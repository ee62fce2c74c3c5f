import fc from 'fast-check';
import {
  decideAfterPoll,
  decideAfterPost,
  decideAfterRejection,
  isChanged,
  isNewlyProcessing,
  type KeyValueStore,
  MAX_SENDS,
  PaymentReference,
  pollDelayMs,
  type PostResult,
  type SendState,
  sendStateAfter,
  settlesReference,
  wasNeverSent,
} from './payment-flow.js';

const buildResponse = (httpStatus: number, state?: string, message?: string): PostResult => ({
  kind: 'response',
  httpStatus,
  ...(state === undefined ? {} : { state }),
  ...(message === undefined ? {} : { message }),
});

const unreachable: PostResult = { kind: 'unreachable' };

describe('decideAfterPost', () => {
  it.each([
    [buildResponse(200, 'succeeded'), { do: 'reload' }],
    [buildResponse(200, 'declined'), { do: 'reload' }],
    [buildResponse(202, 'processing'), { do: 'poll', result: 'accepted' }],
    [buildResponse(200), { do: 'poll', result: 'unknown' }],
    [buildResponse(202), { do: 'poll', result: 'unknown' }],
    [buildResponse(409), { do: 'poll', result: 'other-payment' }],
    [buildResponse(402), { do: 'reload' }],
    [buildResponse(404), { do: 'reload' }],
    [buildResponse(410), { do: 'reload' }],
    [buildResponse(400, undefined, 'Bad card'), { do: 'show-form-error', problem: 'refused', message: 'Bad card' }],
    [buildResponse(422), { do: 'show-form-error', problem: 'refused' }],
    [buildResponse(428), { do: 'solve-challenge' }],
    [buildResponse(429), { do: 'show-form-error', problem: 'tooMany' }],
    [buildResponse(408), { do: 'poll', result: 'unknown' }],
    [buildResponse(500), { do: 'poll', result: 'unknown' }],
    [buildResponse(503), { do: 'poll', result: 'unknown' }],
    // Only a 2xx response reports the state of the payment.
    [buildResponse(199, 'succeeded'), { do: 'poll', result: 'unknown' }],
    [buildResponse(300, 'succeeded'), { do: 'poll', result: 'unknown' }],
    [unreachable, { do: 'poll', result: 'unknown' }],
    [{ kind: 'unreachable', neverSent: false } as const, { do: 'poll', result: 'unknown' }],
    [{ kind: 'unreachable', neverSent: true } as const, { do: 'poll', result: 'not-sent' }],
  ])('returns for the result %j of a POST the step %j', (outcome, step) =>
    expect(decideAfterPost(outcome)).toStrictEqual(step),
  );

  it('shows the form for the next payment without a reload if the response contains all data for it', () => {
    const decline = {
      paymentNumber: 2,
      title: 'Declined',
      next: 'Use another card.',
      paymentsLeft: 'You have 4 of 5 attempts left.',
    };
    const received = { state: 'declined', version: '3', decline };
    expect(decideAfterPost({ ...buildResponse(200, 'declined'), received } as PostResult)).toEqual({
      do: 'next-payment',
      state: received,
    });
    for (const incomplete of [
      { ...received, decline: undefined },
      { ...received, version: undefined },
      { ...received, state: 'open' },
    ])
      expect(decideAfterPost({ ...buildResponse(200, incomplete.state), received: incomplete } as PostResult)).toEqual({
        do: 'reload',
      });
  });

  it('redirects to the bank only if the URL is http or https', () => {
    const decideForUrl = (redirectUrl?: string) =>
      decideAfterPost({
        ...buildResponse(200, 'verification'),
        ...(redirectUrl === undefined ? {} : { redirectUrl }),
      });
    expect(decideForUrl('https://bank.example/c/1')).toEqual({ do: 'redirect', url: 'https://bank.example/c/1' });
    expect(decideForUrl('http://127.0.0.1:7304/c/1')).toEqual({ do: 'redirect', url: 'http://127.0.0.1:7304/c/1' });
    const scriptWithUrl = 'javascript:alert("https://bank.example")';
    for (const address of ['javascript:alert(1)', scriptWithUrl, 'data:text/html,x', '//bank.example', '', undefined])
      expect(decideForUrl(address)).toEqual({ do: 'reload' });
  });

  it('redirects to the bank only for a verification', () => {
    const redirectUrl = 'https://bank.example/c/1';
    expect(decideAfterPost({ ...buildResponse(200, 'succeeded'), redirectUrl } as PostResult)).toEqual({
      do: 'reload',
    });
    expect(decideAfterPost({ ...buildResponse(202, 'processing'), redirectUrl } as PostResult)).toEqual({
      do: 'poll',
      result: 'accepted',
    });
  });

  it('shows the form again only for a status that means that the server rejected the payment', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.string(), (httpStatus, state) => {
        const isRejection =
          httpStatus >= 400 && httpStatus < 500 && ![402, 404, 408, 409, 410, 428].includes(httpStatus);
        expect(decideAfterPost(buildResponse(httpStatus, state)).do === 'show-form-error').toBe(isRejection);
      }),
    );
  });
});

describe('settlesReference', () => {
  it('is true only for a response of the gateway with a result', () => {
    const settles = (outcome: PostResult): boolean => settlesReference(outcome, false);
    expect([200, 202].every((status) => settles(buildResponse(status, 'processing')))).toBe(true);
    expect([400, 402, 422].every((status) => settles(buildResponse(status)))).toBe(true);
    // A response without a state comes from a proxy.
    expect([200, 202].some((status) => settles(buildResponse(status)))).toBe(false);
    for (const status of [199, 300, 409, 428, 429, 500, 503])
      for (const state of [undefined, 'processing'])
        expect([status, state, settles(buildResponse(status, state))]).toEqual([status, state, false]);
    expect(settles({ kind: 'unreachable' })).toBe(false);
  });

  it('is false for a 400 or 422 if an earlier request may have arrived', () => {
    expect([400, 422].map((status) => settlesReference(buildResponse(status), true))).toEqual([false, false]);
    expect(settlesReference(buildResponse(402), true)).toBe(true);
    expect(settlesReference(buildResponse(200, 'declined'), true)).toBe(true);
  });
});

describe('decideAfterRejection', () => {
  const shown = { state: 'open', version: '1' };
  const tooMany = { do: 'show-form-error', problem: 'tooMany' } as const;
  const rejected = { do: 'show-form-error', problem: 'refused' } as const;
  const wrongCard = { ...rejected, message: 'Bad card' };
  const unchanged = { state: 'open', version: '1' };

  it.each([tooMany, rejected, wrongCard])('returns the same step if only one request was sent: %j', (rejection) => {
    for (const current of [unchanged, undefined])
      expect(decideAfterRejection({ rejection, current, shown, mayHaveArrived: false })).toEqual(rejection);
  });

  it('polls if an earlier request may have arrived and the state is unknown', () => {
    for (const rejection of [tooMany, rejected, wrongCard])
      expect(decideAfterRejection({ rejection, current: undefined, shown, mayHaveArrived: true })).toEqual({
        do: 'poll',
        result: 'unknown',
      });
  });

  it('shows the form without the message that nothing was charged if an earlier request may have arrived', () => {
    const decide = (rejection: typeof tooMany | typeof rejected) =>
      decideAfterRejection({ rejection, current: unchanged, shown, mayHaveArrived: true });
    expect(decide(tooMany)).toEqual({ do: 'show-form-error', problem: 'notSent' });
    expect(decide(rejected)).toEqual({ do: 'show-form-error', problem: 'notSent' });
    expect(decide(wrongCard)).toEqual({ do: 'show-form-error', problem: 'notSent', message: 'Bad card' });
  });

  it.each([
    { state: 'processing', version: '2' },
    { state: 'declined', version: '3' },
    { state: 'expired', version: '2' },
  ])('reloads if the current state is %j', (current) => {
    for (const mayHaveArrived of [false, true])
      expect(decideAfterRejection({ rejection: tooMany, current, shown, mayHaveArrived })).toEqual({ do: 'reload' });
  });
});

describe('sendStateAfter', () => {
  it('is not-sent only if no earlier request may have arrived', () => {
    expect(sendStateAfter('not-sent', false)).toBe('not-sent');
    expect(sendStateAfter('not-sent', true)).toBe('unknown');
    for (const result of ['accepted', 'unknown', 'other-payment'] as const)
      expect([false, true].map((mayHaveArrived) => sendStateAfter(result, mayHaveArrived))).toEqual([result, result]);
  });
});

describe('wasNeverSent', () => {
  it.each([
    [true, false, true, true],
    [true, true, true, false],
    [true, false, false, false],
    [false, false, true, false],
    [false, true, true, false],
  ])(
    'returns for wasOffline = %p, cameOnline = %p and isOffline = %p the result %p',
    (wasOffline, cameOnline, isOffline, neverSent) => {
      expect(wasNeverSent({ wasOffline, cameOnline, isOffline })).toBe(neverSent);
    },
  );
});

describe('decideAfterPoll', () => {
  const shown = { state: 'open', version: '1' };
  const decide = (
    state: string,
    version: string | undefined,
    sendState: SendState,
    unchangedPolls = 1,
    sendCount = 1,
  ) => decideAfterPoll({ polled: { state, version }, shown, sendState, unchangedPolls, sendCount });

  it('waits while a payment is processing, whether or not its POST got a response', () => {
    const sendStates: SendState[] = ['in-flight', 'accepted', 'unknown', 'other-payment'];
    expect(sendStates.map((sendState) => decide('processing', '2', sendState, 99, 99))).toEqual([
      'wait',
      'wait',
      'wait',
      'wait',
    ]);
  });

  it.each(['succeeded', 'declined', 'refused', 'expired', 'cancelled', 'already-paid', 'not-found', 'unknown-state'])(
    'reloads if the state is %s',
    (state) => expect(decide(state, '2', 'accepted')).toBe('reload'),
  );

  it('resends a payment that the server has not received, and shows the form again after the last payment', () => {
    expect(decide('open', '1', 'unknown', 1, 1)).toBe('resend');
    expect(decide('open', '1', 'unknown', 1, MAX_SENDS - 1)).toBe('resend');
    expect(decide('open', '1', 'unknown', 1, MAX_SENDS)).toBe('restore-form');
  });

  it('resends a payment that was never sent as soon as a poll gets a response', () => {
    expect(decide('open', '1', 'not-sent', 1, 0)).toBe('resend');
    expect(decide('open', '1', 'not-sent', 99, 0)).toBe('resend');
    expect(decide('expired', '2', 'not-sent', 1, 0)).toBe('reload');
  });

  it('waits while the POST is in flight, and after the payment was accepted', () => {
    for (const sendState of ['in-flight', 'accepted'] as const)
      expect(decide('open', '1', sendState, 99, 99)).toBe('wait');
  });

  it('shows the form after four unchanged polls if a reload interrupted the payment', () => {
    expect(decide('processing', '2', 'interrupted')).toBe('reload');
    expect(decide('declined', '2', 'interrupted')).toBe('reload');
    expect([1, 2, 3].map((polls) => decide('open', '1', 'interrupted', polls))).toEqual(['wait', 'wait', 'wait']);
    expect(decide('open', '1', 'interrupted', 4, 0)).toBe('restore-form');
  });

  it('waits for the payment of another payer, and reloads if there is none after four polls', () => {
    expect(decide('open', '1', 'other-payment', 1)).toBe('wait');
    expect(decide('open', '1', 'other-payment', 4)).toBe('reload');
    expect(decide('declined', '2', 'other-payment', 1)).toBe('reload');
  });
});

describe('isChanged', () => {
  it.each([
    ['open', '1', 'open', '1', false],
    ['open', '1', 'declined', '1', false],
    ['declined', '2', 'declined', '3', true],
    // The response has an older version.
    ['declined', '3', 'open', '1', false],
    ['declined', '3', 'declined', '2', false],
    // Versions are compared as numbers.
    ['declined', '9', 'declined', '10', true],
    ['declined', '10', 'declined', '9', false],
    // Versions that are not numbers have no order, so any other version is newer.
    ['open', 'b', 'open', 'a', true],
    ['open', '2', 'open', 'a1', true],
    ['open', '2a', 'open', '1', true],
    ['open', 'a', 'open', 'a', false],
    ['open', undefined, 'open', '1', false],
    ['open', '1', 'open', undefined, false],
    ['open', undefined, 'declined', undefined, true],
    ['processing', '2', 'processing', '3', false],
    ['processing', '2', 'succeeded', '2', true],
    // The expiry of a session does not change its version.
    ['open', '1', 'expired', '1', true],
    ['expired', '1', 'open', '1', true],
    ['open', '1', 'verification', '3', true],
    // The page shows the form for another card while a payment waits for verification.
    ['open', '3', 'verification', '3', false],
    ['verification', '3', 'declined', '4', true],
  ])(
    'compares the shown state %s, version %s with the polled state %s, version %s and returns %p',
    (state, version, polledState, polledVersion, changed) => {
      expect(isChanged({ state: polledState, version: polledVersion }, { state, version })).toBe(changed);
    },
  );
});

describe('isNewlyProcessing', () => {
  it.each<[SendState, boolean]>([
    ['in-flight', true],
    ['not-sent', true],
    ['accepted', false],
    ['unknown', false],
    ['other-payment', false],
    ['interrupted', false],
  ])('returns for a processing payment in the send state %s the result %p', (sendState, expected) => {
    expect(isNewlyProcessing({ state: 'processing' }, sendState)).toBe(expected);
    expect(isNewlyProcessing({ state: 'open' }, sendState)).toBe(false);
  });
});

describe('pollDelayMs', () => {
  it('starts at 250 ms, grows to 2 s, and then stays constant', () => {
    const delays = Array.from({ length: 2000 }, (_, polls) => pollDelayMs(polls));
    expect(delays[0]).toBe(250);
    expect(delays.every((delay, index) => index === 0 || delay >= (delays[index - 1] ?? 0))).toBe(true);
    expect(delays.at(-1)).toBe(2000);
    expect(delays.findIndex((delay) => delay === 2000)).toBeLessThan(10);
  });
});

describe('PaymentReference', () => {
  /** Returns a function that returns uuid-1, uuid-2 and so on. */
  const createUuidGenerator = () => {
    let count = 0;
    return () => `uuid-${++count}`;
  };
  const createStore = (): KeyValueStore & { entries: Map<string, string> } => {
    const entries = new Map<string, string>();
    return {
      entries,
      getItem: (key) => entries.get(key) ?? null,
      setItem: (key, value) => void entries.set(key, value),
      removeItem: (key) => void entries.delete(key),
    };
  };

  it('is the same until it is settled, also after a reload', () => {
    const store = createStore();
    const randomUuid = createUuidGenerator();
    const first = new PaymentReference(store, 's-1', 1, randomUuid);
    expect([first.get(), first.get()]).toEqual(['uuid-1', 'uuid-1']);
    const afterReload = new PaymentReference(store, 's-1', 1, randomUuid);
    expect(afterReload.get()).toBe('uuid-1');
    afterReload.settle();
    expect(store.entries.size).toBe(0);
    expect(afterReload.get()).toBe('uuid-2');
  });

  it('is pending from the pay request until it is settled, also after a reload', () => {
    const store = createStore();
    const createForDocument = (): PaymentReference => new PaymentReference(store, 's-1', 1, createUuidGenerator());
    expect(createForDocument().isPending()).toBe(false);
    const used = createForDocument();
    used.get();
    expect(createForDocument().isPending()).toBe(true);
    expect(new PaymentReference(store, 's-1', 2, createUuidGenerator()).isPending()).toBe(false);
    used.settle();
    expect(createForDocument().isPending()).toBe(false);
  });

  it('is remembered as possibly received by the server, also after a reload, until it is settled', () => {
    for (const store of [createStore(), undefined]) {
      const reference = new PaymentReference(store, 's-1', 1, createUuidGenerator());
      reference.get();
      // The payment was not sent yet, or the server rejected it. After a request without a response, the page calls
      // markMayHaveArrived.
      expect(reference.mayHaveArrived).toBe(false);
      reference.markMayHaveArrived();
      expect(reference.mayHaveArrived).toBe(true);
      expect(new PaymentReference(store, 's-1', 1, createUuidGenerator()).mayHaveArrived).toBe(store !== undefined);
      expect(new PaymentReference(store, 's-1', 2, createUuidGenerator()).mayHaveArrived).toBe(false);
      reference.settle();
      expect(reference.mayHaveArrived).toBe(false);
      expect(new PaymentReference(store, 's-1', 1, createUuidGenerator()).mayHaveArrived).toBe(false);
    }
  });

  it('is different for each payment and each session', () => {
    const store = createStore();
    const randomUuid = createUuidGenerator();
    const references = [
      new PaymentReference(store, 's-1', 1, randomUuid),
      new PaymentReference(store, 's-1', 2, randomUuid),
      new PaymentReference(store, 's-2', 1, randomUuid),
    ];
    expect(new Set(references.map((reference) => reference.get())).size).toBe(3);
  });

  it('is the same until it is settled, also if the browser allows no storage', () => {
    const throwError = () => {
      throw new Error('SecurityError');
    };
    for (const store of [undefined, { getItem: throwError, setItem: throwError, removeItem: throwError }]) {
      const reference = new PaymentReference(store, 's-1', 1, createUuidGenerator());
      expect([reference.get(), reference.get()]).toEqual(['uuid-1', 'uuid-1']);
      expect(reference.isPending()).toBe(false);
      reference.settle();
      expect(reference.get()).toBe('uuid-2');
    }
  });
});
