import fc from 'fast-check';
import type { DisputeReportKind } from '../acquirers/dispute-report.js';
import {
  concludeReport,
  type DisputableCharge,
  type DisputeState,
  findChargeProblem,
  formatReason,
  MAX_DISPUTE_REASON_LENGTH,
  MAX_REPORTS,
  type RecordedReport,
  type ReportConclusion,
} from './dispute.js';

const KINDS = [
  ...(['inquiry', 'opened', 'debited', 'reversed', 'debitedAgain', 'preArbitrationOpened'] as const),
  ...(['defended', 'defencePeriodEnded', 'commented', 'won', 'lost'] as const),
] satisfies readonly DisputeReportKind[];
const MOVEMENTS: readonly DisputeReportKind[] = ['debited', 'reversed', 'debitedAgain'];

const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 10, minute));
const report = (kind: DisputeReportKind, minute = 0, fields: Partial<RecordedReport> = {}): RecordedReport => ({
  ...{ reportReference: `${kind} at ${minute}`, kind, amount: 1_000, reason: '', respondBy: undefined },
  occurredAt: at(minute),
  ...fields,
});

interface Outcome {
  readonly recorded: readonly RecordedReport[];
  readonly state: DisputeState | undefined;
  readonly booked: readonly RecordedReport[];
  readonly impossible: readonly RecordedReport[];
  readonly conclusions: readonly ReportConclusion['kind'][];
}

/** Applies the reports one after the other. */
function applyAll(reports: readonly RecordedReport[]): Outcome {
  let outcome: Outcome = { recorded: [], state: undefined, booked: [], impossible: [], conclusions: [] };
  for (const each of reports) {
    const conclusion = concludeReport(outcome.recorded, each);
    const conclusions = [...outcome.conclusions, conclusion.kind];
    outcome =
      conclusion.kind === 'record'
        ? {
            recorded: [...outcome.recorded, each],
            state: conclusion.state,
            booked: [...outcome.booked, ...conclusion.movements],
            impossible: [...outcome.impossible, ...conclusion.impossible],
            conclusions,
          }
        : { ...outcome, conclusions };
  }
  return outcome;
}
const stageOf = (...reports: readonly RecordedReport[]) => applyAll(reports).state?.stage;
const kindsOf = (reports: readonly RecordedReport[]): string[] => reports.map(({ kind }) => kind);

describe('the stage', () => {
  const STAGES = { i: 'inquiry', o: 'opened', d: 'debited', r: 'reversed', w: 'won', l: 'lost' } as const;
  /** The stage after a first report (the row) and a later one (the column, in the order of KINDS), by initials. */
  const AFTER_PAIR: Readonly<Record<(typeof KINDS)[number], string>> = {
    inquiry: 'i o d r d o i i i w l',
    opened: 'o o d r d o o o o w l',
    debited: 'd d d r d d d d d w l',
    reversed: 'r r r r d r r r r w l',
    debitedAgain: 'd d d d d d d d d w l',
    preArbitrationOpened: 'o o d r d o o o o w l',
    defended: 'i o d r d o i i i w l',
    defencePeriodEnded: 'i o d r d o i i i w l',
    commented: 'i o d r d o i i i w l',
    won: 'w w d w d w w w w w l',
    lost: 'l l l r l l l l l w l',
  };
  const PAIRS = KINDS.flatMap((first) =>
    KINDS.map((second, nth) => [first, second, AFTER_PAIR[first].split(' ')[nth]!]),
  );

  test.each(PAIRS)('after %s and later %s is %s, in either order of arrival', (first, second, initial) => {
    const [earlier, later] = [report(first as DisputeReportKind, 1), report(second as DisputeReportKind, 2)];
    const stage = STAGES[initial as keyof typeof STAGES];
    expect([stageOf(earlier, later), stageOf(later, earlier)]).toEqual([stage, stage]);
  });

  test('after a complete dispute that the merchant loses', () => {
    const reports = [
      ...[report('inquiry', 1), report('opened', 2), report('debited', 3), report('defended', 4)],
      ...[report('reversed', 5), report('preArbitrationOpened', 6), report('debitedAgain', 7), report('lost', 8)],
    ];
    const stages = reports.map((_, nth) => stageOf(...reports.slice(0, nth + 1)));
    expect(stages).toEqual([...['inquiry', 'opened', 'debited', 'debited', 'reversed', 'reversed', 'debited', 'lost']]);
    expect(kindsOf(applyAll(reports).booked)).toEqual(MOVEMENTS);
  });

  test('is the newest decision, for example of the scheme after the decision of the payer’s bank', () => {
    const decisions = [report('lost', 1), report('won', 2), report('lost', 3)];
    expect(decisions.map((_, nth) => stageOf(...decisions.slice(0, nth + 1)))).toEqual(['lost', 'won', 'lost']);
    expect(stageOf(...decisions.toReversed())).toBe('lost');
  });

  test('stays the decision when the contradicting movement happened before or at the same time', () => {
    expect(stageOf(report('won', 5), report('debited', 4))).toBe('won');
    expect(stageOf(report('won', 5), report('debited', 5))).toBe('won');
    expect(stageOf(report('lost', 5), report('debited', 1), report('reversed', 5))).toBe('lost');
  });
});

describe('the movements', () => {
  test.each<[readonly DisputeReportKind[], readonly DisputeReportKind[][]]>([
    [['debited'], [['debited']]],
    [['reversed'], [[]]],
    [['debitedAgain'], [[]]],
    [
      ['debited', 'reversed', 'debitedAgain'],
      [['debited'], ['reversed'], ['debitedAgain']],
    ],
    [
      ['reversed', 'debited'],
      [[], ['debited', 'reversed']],
    ],
    [
      ['debited', 'debitedAgain', 'reversed'],
      [['debited'], [], ['reversed', 'debitedAgain']],
    ],
    [
      ['debitedAgain', 'reversed', 'debited'],
      [[], [], ['debited', 'reversed', 'debitedAgain']],
    ],
  ])('of the reports %j are booked in the order %j', (kinds, expected) => {
    const recorded: RecordedReport[] = [];
    const booked = kinds.map((kind) => {
      const conclusion = concludeReport(recorded, report(kind));
      if (conclusion.kind !== 'record') throw new Error(conclusion.kind);
      recorded.push(conclusion.report);
      return kindsOf(conclusion.movements);
    });
    expect(booked).toEqual(expected);
  });

  test.each(KINDS.filter((kind) => !MOVEMENTS.includes(kind)))('of the report %s are none', (kind) =>
    expect(applyAll([report('debited'), report(kind)]).booked).toHaveLength(1),
  );

  test('have the amounts of their reports', () => {
    const reports = [
      report('debited'),
      report('reversed', 1, { amount: 600 }),
      report('debitedAgain', 2, { amount: 1 }),
    ];
    expect(applyAll(reports).booked.map(({ amount }) => amount)).toEqual([1_000, 600, 1]);
  });

  test.each<[DisputeReportKind, readonly RecordedReport[]]>([
    ['reversed', [report('debited'), report('reversed', 1, { amount: 1_001 })]],
    [
      'debitedAgain',
      [report('debited'), report('reversed', 1, { amount: 9 }), report('debitedAgain', 2, { amount: 10 })],
    ],
  ])('never include a report %s that is higher than the movement before it', (kind, reports) => {
    for (const order of [reports, reports.toReversed()]) {
      const { booked, impossible } = applyAll(order);
      expect([kindsOf(booked).includes(kind), kindsOf(impossible)]).toEqual([false, [kind]]);
    }
  });
});

describe('a report', () => {
  test('that was recorded before has no effect', () => {
    const recorded = [report('debited'), report('commented', 1)];
    for (const each of recorded) expect(concludeReport(recorded, { ...each, amount: 5 })).toEqual({ kind: 'none' });
  });

  test.each(MOVEMENTS)('%s with another reference than the recorded one is an incident', (kind) =>
    expect(concludeReport([report(kind)], report(kind, 1))).toEqual({ kind: 'incident', problem: 'repeatedMovement' }),
  );

  test('that is not a movement is recorded repeatedly, up to a limit', () => {
    const comments = Array.from({ length: MAX_REPORTS }, (_, nth) => report('commented', nth));
    expect(applyAll(comments).recorded).toHaveLength(MAX_REPORTS);
    expect(concludeReport(comments, report('commented', MAX_REPORTS))).toEqual({
      kind: 'incident',
      problem: 'tooManyReports',
    });
    expect(concludeReport(comments, report('debited'))).toMatchObject({ kind: 'record' });
  });

  test('is a change only if it changes what the merchant sees', () => {
    const isChange = (recorded: readonly RecordedReport[], next: RecordedReport) =>
      (concludeReport(recorded, next) as { isChange?: boolean }).isChange;
    const opened = report('opened', 1, { reason: '10.4 Fraud', respondBy: at(50) });
    expect(isChange([], opened)).toBe(true);
    expect(isChange([opened], report('commented', 2))).toBe(false);
    expect(isChange([opened], report('commented', 2, { reason: '10.5 Fraud' }))).toBe(true);
    expect(isChange([opened], report('commented', 2, { respondBy: at(51) }))).toBe(true);
    expect(isChange([opened], report('commented', 2, { respondBy: at(50) }))).toBe(false);
    expect(isChange([opened], report('opened', 2, { amount: 999 }))).toBe(true);
    expect(isChange([opened], report('debited', 2))).toBe(true);
    expect(isChange([report('won', 5)], report('debited', 2))).toBe(false);
  });
});

test('the amount is that of the last claim, and until then that of the newest report', () => {
  const amountOf = (...reports: readonly RecordedReport[]) => applyAll(reports).state?.amount;
  const [inquiry, opened, debited, again] = (['inquiry', 'opened', 'debited', 'debitedAgain'] as const).map(
    (kind, nth) => report(kind, nth, { amount: 10 - nth }),
  ) as [RecordedReport, RecordedReport, RecordedReport, RecordedReport];
  const reversed = report('reversed', 9, { amount: 8 });
  expect(amountOf(report('won', 1, { amount: 3 }), report('commented', 2, { amount: 4 }))).toBe(4);
  expect(amountOf(inquiry)).toBe(10);
  expect(amountOf(opened, inquiry)).toBe(9);
  expect(amountOf(debited, opened, inquiry, reversed)).toBe(8);
  expect(amountOf(again, debited, reversed)).toBe(7);
  expect(amountOf(debited, reversed, { ...again, amount: 9 })).toBe(8);
});

test('the reason is the newest one that is not empty', () => {
  const reports = [
    report('opened', 2, { reason: 'second' }),
    report('inquiry', 1, { reason: 'first' }),
    report('won', 3),
  ];
  expect(applyAll(reports).state?.reason).toBe('second');
  expect(applyAll([report('opened')]).state?.reason).toBe('');
});

describe('the deadline', () => {
  const opened = report('opened', 1, { respondBy: at(30) });
  const deadlineOf = (...reports: readonly RecordedReport[]) => applyAll(reports).state?.respondBy;

  test('is the newest one', () => {
    expect(deadlineOf(report('preArbitrationOpened', 2, { respondBy: at(20) }), opened)).toEqual(at(20));
    expect(deadlineOf(opened, report('commented', 2))).toEqual(at(30));
    expect(deadlineOf(report('opened'))).toBeUndefined();
  });

  test.each(['defended', 'defencePeriodEnded', 'reversed', 'won', 'lost'] as const)('is over after %s', (kind) => {
    expect(deadlineOf(opened, report(kind, 2))).toBeUndefined();
    expect(deadlineOf(report(kind, 2), opened)).toBeUndefined();
  });

  test('is a new one if the dispute continues after a defence', () =>
    expect(deadlineOf(opened, report('defended', 2), report('debitedAgain', 3, { respondBy: at(40) }))).toEqual(
      at(40),
    ));
});

describe('findChargeProblem', () => {
  const charge: DisputableCharge = {
    ...{ isApproved: true, acquirerReference: 'psp-1', amount: 1_000, currencyISOCode: 'ZAR' },
  };
  const about = {
    charge: { paymentReference: 'P', acquirerReference: 'psp-1' },
    amount: 1_000,
    currencyISOCode: 'ZAR',
  };

  test.each<[string, DisputableCharge | undefined, Partial<typeof about>, string | undefined]>([
    ['the whole charge', charge, {}, undefined],
    ['a part of the charge', charge, { amount: 1 }, undefined],
    ['no known charge', undefined, {}, 'unknownCharge'],
    ['another charge of the acquirer', { ...charge, acquirerReference: 'psp-2' }, {}, 'otherCharge'],
    ['a charge without a reference', { ...charge, acquirerReference: undefined }, {}, 'otherCharge'],
    ['a charge that was not approved', { ...charge, isApproved: false }, {}, 'notCharged'],
    ['an amount of another currency', charge, { currencyISOCode: 'EUR' }, 'otherCurrency'],
    ['more than the charge', charge, { amount: 1_001 }, 'amountExceedsCharge'],
  ])('of a report about %s', (_, known, fields, problem) =>
    expect(findChargeProblem(known, { ...about, ...fields })).toBe(problem),
  );

  test('does not require the acquirer’s reference of the charge', () =>
    expect(findChargeProblem(charge, { ...about, charge: { paymentReference: 'P' } })).toBeUndefined());
});

test.each([
  [{ code: '10.4', text: 'Other Fraud-Card Absent Environment' }, '10.4 Other Fraud-Card Absent Environment'],
  [{ code: ' 4853', text: 'not\nas\u0000 described ' }, '4853 not as described'],
  [{ text: 'Fraud' }, 'Fraud'],
  [{ code: '13.1', text: '' }, '13.1'],
  [{}, ''],
  [{ text: 'lone \ud800' }, 'lone \ufffd'],
  [{ text: '😀'.repeat(300) }, '😀'.repeat(MAX_DISPUTE_REASON_LENGTH)],
])('formatReason(%j) is one line of bounded plain text', (reason, expected) =>
  expect(formatReason(reason)).toBe(expected),
);

/** Reports of one dispute: at most one of each movement, and any number of others. */
const reportsOfDispute: fc.Arbitrary<RecordedReport[]> = fc
  .uniqueArray(
    fc.record({
      kind: fc.constantFrom(...KINDS),
      nth: fc.integer({ min: 1, max: 2 }),
      minute: fc.integer({ min: 0, max: 3 }),
      amount: fc.integer({ min: 1, max: 3 }),
      reason: fc.constantFrom('', 'a', 'b'),
      respondBy: fc.option(fc.integer({ min: 10, max: 12 }).map(at), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 12, selector: ({ kind, nth }) => (MOVEMENTS.includes(kind) ? kind : `${kind} ${nth}`) },
  )
  .map((all) =>
    all.map(({ kind, nth, minute, ...fields }) =>
      report(kind, minute, { reportReference: `${kind} ${nth}`, ...fields }),
    ),
  );

/** All reports in another order, some of them twice. */
const twoOrders = reportsOfDispute.chain((reports) =>
  fc
    .tuple(fc.shuffledSubarray(reports), fc.shuffledSubarray(reports, { minLength: reports.length }))
    .chain(([repeats, order]) =>
      fc
        .shuffledSubarray([...order, ...repeats], { minLength: order.length + repeats.length })
        .map((delivered) => ({ reports, delivered })),
    ),
);
const referencesOf = (reports: readonly RecordedReport[]): string[] =>
  reports.map(({ reportReference }) => reportReference).toSorted();

test('ledger, state and impossible movements depend only on the set of reports, never on their order or repeats', () =>
  fc.assert(
    fc.property(twoOrders, ({ reports, delivered }) => {
      const [expected, found] = [applyAll(reports), applyAll(delivered)];
      expect(referencesOf(found.booked)).toEqual(referencesOf(expected.booked));
      expect(referencesOf(found.impossible)).toEqual(referencesOf(expected.impossible));
      expect(found.state).toEqual(expected.state);
      expect(found.conclusions.filter((kind) => kind === 'record')).toHaveLength(reports.length);
    }),
    { numRuns: 2_000 },
  ));

test('after each report the merchant is debited with nothing or with at most the disputed amount', () =>
  fc.assert(
    fc.property(twoOrders, ({ delivered }) => {
      delivered.forEach((_, nth) => {
        const { booked } = applyAll(delivered.slice(0, nth + 1));
        const amountOf = (kind: DisputeReportKind) => booked.find((movement) => movement.kind === kind)?.amount ?? 0;
        const debited = amountOf('debited') - amountOf('reversed') + amountOf('debitedAgain');
        expect(debited).toBeGreaterThanOrEqual(0);
        expect(debited).toBeLessThanOrEqual(amountOf('debited'));
        expect(new Set(referencesOf(booked)).size).toBe(booked.length);
      });
    }),
    { numRuns: 500 },
  ));
