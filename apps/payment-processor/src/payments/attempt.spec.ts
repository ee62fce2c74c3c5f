import {
  type AcquirerResponse,
  ATTEMPT_TRANSITIONS,
  attemptEndFor,
  type AttemptState,
  CHARGEABLE_STATES,
  conclude,
  isChargeMissing,
  isFinal,
  needsLeaseBeforeCall,
  nextQueryAt,
  QUERY_AFTER_MS,
  recoveryStep,
  REVERSE_AFTER_MS,
  statesEndedBy,
} from './attempt.js';

const startedAt = new Date('2026-03-01T10:00:00.000Z');
const after = (milliseconds: number): Date => new Date(startedAt.getTime() + milliseconds);

test('an attempt is queried after 2 s, 10 s, 1 min and 5 min, and reversed at 15 min', () => {
  expect(QUERY_AFTER_MS.map((_, queries) => nextQueryAt(startedAt, queries, startedAt))).toEqual(
    [2_000, 10_000, 60_000, 300_000].map(after),
  );
  expect(nextQueryAt(startedAt, 4, after(300_000))).toEqual(after(900_000));
});

test('a query whose time has passed is due now, and an unconfirmed reversal is retried after 30 seconds', () => {
  expect(nextQueryAt(startedAt, 1, after(20_000))).toEqual(after(20_000));
  expect(nextQueryAt(startedAt, 5, after(REVERSE_AFTER_MS + 5_000))).toEqual(after(REVERSE_AFTER_MS + 35_000));
});

test('due queries and the first reversal are not delayed; once the reversal is due, the next time is 30 seconds later', () => {
  expect(nextQueryAt(startedAt, 0, after(2_000))).toEqual(after(2_000));
  expect(nextQueryAt(startedAt, 3, after(400_000))).toEqual(after(400_000));
  expect(nextQueryAt(startedAt, 4, after(REVERSE_AFTER_MS - 1))).toEqual(after(REVERSE_AFTER_MS));
  expect(nextQueryAt(startedAt, 4, after(REVERSE_AFTER_MS))).toEqual(after(REVERSE_AFTER_MS + 30_000));
});

const CHALLENGE = { reference: 'c-1', url: 'https://bank.example/c/1' };
const RESPONSES: Record<AcquirerResponse['kind'], AcquirerResponse> = {
  approved: { kind: 'approved', acquirerReference: 'a' },
  declined: { kind: 'declined', reason: 'card.expired', acquirerReference: 'a' },
  verificationRequired: { kind: 'verificationRequired', challenge: CHALLENGE },
  notAttempted: { kind: 'notAttempted' },
  neverCharged: { kind: 'neverCharged' },
  reversed: { kind: 'reversed' },
  unknown: { kind: 'unknown' },
  notFound: { kind: 'notFound' },
  unconfirmed: { kind: 'unconfirmed' },
  abandoned: { kind: 'abandoned' },
};
const STATES = Object.keys(ATTEMPT_TRANSITIONS) as AttemptState[];

/**
 * Rows: responses of the acquirer. Columns: states of the attempt. A cell contains the new state or the kind of the
 * conclusion. `-`: the response changes nothing; `!`: an incident; `!!`: an incident with a reversal.
 */
const CONCLUSIONS = `
                      started      unknown      reversing    approved declined notAttempted reversed
  approved            approved     approved     !!           -        !!       !!           !!
  declined            declined     declined     -            !        -        -            !
  verificationRequired notAttempted notAttempted -           !        !        -            !
  notAttempted        notAttempted notAttempted -            !        !        -            !
  neverCharged        notAttempted notAttempted notAttempted !        -        -            !
  reversed            reverse      reverse      reversed     !        !        !            -
  unknown             unknown      unknown      -            -        -        -            -
  notFound            unknown      unknown      -            -        -        -            -
  unconfirmed         unknown      unknown      -            -        -        -            -
  abandoned           notAttempted notAttempted -            -        -        -            -
`;

test('CONCLUSIONS lists the effect of every response in every state', () => {
  const describeConclusion = (state: AttemptState, response: AcquirerResponse): string => {
    const conclusion = conclude(state, response);
    if (conclusion.kind === 'end') return conclusion.end.state;
    if (conclusion.kind === 'incident') return conclusion.needsReversal ? '!!' : '!';
    return conclusion.kind === 'none' ? '-' : conclusion.kind;
  };
  const rows = Object.entries(RESPONSES).map(([kind, response]) => [
    kind,
    ...STATES.map((state) => describeConclusion(state, response)),
  ]);
  const listed = CONCLUSIONS.trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/));
  expect([STATES, ...rows]).toEqual(listed);
});

test('an approval with another reference than the stored one is an incident without a reversal, only for an approved attempt', () => {
  expect(conclude('approved', RESPONSES.approved, 'a')).toEqual({ kind: 'none' });
  expect(conclude('approved', RESPONSES.approved, 'b')).toEqual({ kind: 'incident', needsReversal: false });
  expect(conclude('started', RESPONSES.approved, 'b')).toMatchObject({ kind: 'end' });
  expect(conclude('declined', RESPONSES.approved, 'b')).toEqual({ kind: 'incident', needsReversal: true });
});

test('exactly the responses with an outcome are final', () => {
  const finalResponses = Object.values(RESPONSES).filter(isFinal);
  expect(finalResponses.map(({ kind }) => kind)).toEqual([
    'approved',
    'declined',
    'verificationRequired',
    'notAttempted',
    'neverCharged',
    'reversed',
    'abandoned',
  ]);
});

/** The state of the attempt after the response, and after the reversal that an incident needs. */
function stateAfter(response: AcquirerResponse, state: AttemptState): AttemptState {
  const conclusion = conclude(state, response);
  switch (conclusion.kind) {
    case 'end':
      return conclusion.end.state;
    case 'unknown':
      return 'unknown';
    case 'reverse':
      return 'reversing';
    case 'incident':
      return conclusion.needsReversal ? 'reversed' : state;
    case 'none':
      return state;
  }
}

test.each(STATES)('from the state %s, exactly the states are possible to which a response leads', (state) => {
  const reached = new Set(Object.values(RESPONSES).map((response) => stateAfter(response, state)));
  reached.delete(state);
  expect(ATTEMPT_TRANSITIONS[state].toSorted()).toEqual([...reached].toSorted());
});

test('an approval is final, and an attempt that ended without a charge can only be reversed (P1)', () => {
  expect(ATTEMPT_TRANSITIONS).toMatchObject({
    approved: [],
    declined: ['reversed'],
    notAttempted: ['reversed'],
    reversed: [],
  });
});

test('after the decision to reverse no response leads to a success', () => {
  expect(statesEndedBy(RESPONSES.approved)).toEqual(CHARGEABLE_STATES);
});

test('an attempt is reversed without a query after 15 minutes, and immediately if the decision to reverse is committed', () => {
  expect(recoveryStep('unknown', REVERSE_AFTER_MS - 1)).toBe('query');
  expect(recoveryStep('started', REVERSE_AFTER_MS)).toBe('reverse');
  expect(recoveryStep('reversing', 0)).toBe('reverse');
});

test('the response notFound is final only after 10 s, because the call must start within 1 s and end within the next 9 s', () => {
  expect(isChargeMissing(RESPONSES.notFound, 9_999)).toBe(false);
  expect(isChargeMissing(RESPONSES.notFound, 10_000)).toBe(true);
  expect(isChargeMissing(RESPONSES.unknown, 10_000)).toBe(false);
  expect(needsLeaseBeforeCall(startedAt, after(999))).toBe(false);
  expect(needsLeaseBeforeCall(startedAt, after(1_000))).toBe(true);
});

test('a response that requires a verification ends the attempt without a charge', () => {
  expect(attemptEndFor({ kind: 'verificationRequired', challenge: CHALLENGE })).toEqual({
    state: 'notAttempted',
    acquirerReference: 'c-1',
    settlement: { state: 'verificationRequired', challenge: CHALLENGE },
  });
  expect(attemptEndFor({ kind: 'notAttempted' })).toEqual(attemptEndFor({ kind: 'neverCharged' }));
});

test('only an approval settles the payment as a success', () => {
  expect(attemptEndFor({ kind: 'approved', acquirerReference: 'a' })).toEqual({
    state: 'approved',
    acquirerReference: 'a',
    settlement: { state: 'success' },
  });
  expect(attemptEndFor({ kind: 'declined', reason: 'card.expired', acquirerReference: 'a' })).toEqual({
    state: 'declined',
    acquirerReference: 'a',
    settlement: { state: 'failed', error: 'card.expired' },
  });
  expect(attemptEndFor({ kind: 'neverCharged' })).toEqual({
    state: 'notAttempted',
    settlement: { state: 'failed', error: 'acquirer.unavailable' },
  });
  expect(attemptEndFor({ kind: 'reversed' })).toEqual({
    state: 'reversed',
    settlement: { state: 'failed', error: 'acquirer.outcome-unknown' },
  });
});
