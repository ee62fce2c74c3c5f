import type { DeclineCode } from '../../src/acquirers/acquirer.js';
import {
  type AcquirerAnswer,
  ATTEMPT_TRANSITIONS,
  type AttemptState,
  CHARGEABLE_STATES,
  conclude,
  isFinal,
  isMissing,
  needsClaimBeforeCall,
  recoveryStep,
} from '../../src/payments/attempt.js';

/**
 * One attempt, the process that charges it, two that recover it, and the bank. Each process has the steps of
 * {@link ChargeAttempt}, {@link RecoverAttempts} and {@link SettleAttempt}, one step for each statement and each message, and
 * may die before any of them. The decisions are the product's own functions. A message takes as long as it likes, so
 * the bank's time is its own; the charging and the recovering processes have clocks that move independently.
 */
export interface Rules {
  readonly conclude: typeof conclude;
  readonly recoveryStep: typeof recoveryStep;
  readonly isMissing: typeof isMissing;
  readonly needsClaimBeforeCall: typeof needsClaimBeforeCall;
  /** What the row of an attempt is after the decision to reverse; undefined where the decision may not be taken. */
  readonly decide: (state: AttemptState) => AttemptState | undefined;
  readonly mayFollow: (from: AttemptState, to: AttemptState) => boolean;
}

export const PRODUCT: Rules = {
  conclude,
  recoveryStep,
  isMissing,
  needsClaimBeforeCall,
  decide: (state) => (CHARGEABLE_STATES.includes(state) ? 'reversing' : undefined),
  mayFollow: (from, to) => (ATTEMPT_TRANSITIONS[from] as readonly AttemptState[]).includes(to),
};

/** What the bank does with the charge. `breaks its word`: it charges under a key that it had confirmed it never would. */
export const BANKS = ['approves', 'declines', 'asks for verification', 'breaks its word'] as const;
export type Bank = (typeof BANKS)[number];

/** Clocks in milliseconds: each only moves on to its next time, at any moment. */
const PAYER_TIMES = [0, 1_000];
const RECOVERY_TIMES = [0, 10_000, 11_000, 900_000];

type PayerStep = 'accept' | 'check' | 'send' | 'sent' | 'settle' | 'settleLocked' | 'end';
type RecoveryStep = 'claim' | 'ask' | 'decide' | 'reverse' | 'settle' | 'settleLocked' | 'end';
type Key = 'none' | 'approved' | 'declined' | 'challenged' | 'barred' | 'givenBack';

export interface World {
  readonly row: AttemptState | 'absent';
  readonly startedAt: number;
  readonly payment: 'processing' | 'success' | 'failed' | 'verificationRequired';
  readonly giveBack: boolean;
  /** An approval has reached the platform, and the process lived to record it. */
  readonly isApprovalHeard: boolean;
  readonly key: Key;
  readonly payerTime: number;
  readonly recoveryTime: number;
  readonly payer: { readonly at: PayerStep; readonly answer?: AcquirerAnswer['kind'] };
  /** The charge on its way to the bank, or the bank's answer on its way back; it arrives whether or not its sender lives. */
  readonly charge: 'none' | 'sent' | AcquirerAnswer['kind'];
  readonly recoveries: readonly Recovery[];
}

interface Recovery {
  readonly at: RecoveryStep;
  readonly seen?: { readonly state: AttemptState; readonly startedAt: number };
  readonly answer?: AcquirerAnswer['kind'];
}

/** Equal for worlds with the same future: the two recovering processes are alike. */
export function identityOf({ payer, recoveries, ...world }: World): string {
  const processes = recoveries.map(({ at, seen, answer }) => [at, seen?.state, seen?.startedAt, answer].join());
  return [...Object.values(world), payer.at, payer.answer, ...processes.sort()].join('|');
}

export const START: World = {
  row: 'absent',
  startedAt: 0,
  payment: 'processing',
  giveBack: false,
  isApprovalHeard: false,
  key: 'none',
  payerTime: 0,
  recoveryTime: 0,
  payer: { at: 'accept' },
  charge: 'none',
  recoveries: [{ at: 'claim' }, { at: 'claim' }],
};

export class Violation extends Error {}

const DECLINE: DeclineCode = 'card.declined';
function answerOf(kind: AcquirerAnswer['kind']): AcquirerAnswer {
  switch (kind) {
    case 'approved':
      return { kind, acquirerReference: 'a' };
    case 'declined':
      return { kind, acquirerReference: 'a', reason: DECLINE };
    case 'verificationRequired':
      return { kind, challenge: { reference: 'c', url: 'https://bank.example' } };
    default:
      return { kind };
  }
}

const ANSWER_OF_KEY: Record<Key, AcquirerAnswer['kind']> = {
  none: 'notFound',
  approved: 'approved',
  declined: 'declined',
  challenged: 'verificationRequired',
  barred: 'neverCharged',
  givenBack: 'reversed',
};

/** Every world that one more step leads to. */
export function stepsFrom(world: World, bank: Bank, rules: Rules): World[] {
  return [
    ...next(PAYER_TIMES, world.payerTime).map((payerTime) => ({ ...world, payerTime })),
    ...next(RECOVERY_TIMES, world.recoveryTime).map((recoveryTime) => ({ ...world, recoveryTime })),
    ...bankSteps(world, bank),
    ...payerSteps(world, rules),
    ...world.recoveries.flatMap((_, nth) => recoverySteps(world, nth, rules)),
  ];
}

const next = (times: readonly number[], now: number): number[] => times.slice(times.indexOf(now) + 1).slice(0, 1);

function bankSteps(world: World, bank: Bank): World[] {
  if (world.charge !== 'sent') return [];
  const charged: Key = bank === 'declines' ? 'declined' : bank === 'asks for verification' ? 'challenged' : 'approved';
  const isNew = world.key === 'none' || (bank === 'breaks its word' && world.key === 'barred');
  const key = isNew ? charged : world.key;
  return [{ ...world, key, charge: ANSWER_OF_KEY[key] }];
}

function payerSteps(world: World, rules: Rules): World[] {
  const { payer, charge, row } = world;
  const to = (at: PayerStep, answer?: AcquirerAnswer['kind']): World => ({
    ...world,
    payer: answer ? { at, answer } : { at },
  });
  const dies = to('end');
  switch (payer.at) {
    case 'accept':
      return [{ ...to('check'), row: 'started', startedAt: world.payerTime }];
    case 'check': {
      if (!rules.needsClaimBeforeCall(new Date(world.startedAt), new Date(world.payerTime))) return [dies, to('send')];
      const claimed = CHARGEABLE_STATES.includes(row as AttemptState);
      return [dies, claimed ? { ...to('send'), startedAt: world.payerTime } : to('settle', 'notAttempted')];
    }
    case 'send':
      return [dies, { ...to('sent'), charge: 'sent' }];
    case 'sent':
      // The time limit, or a lost answer; otherwise the answer, once it is there.
      return [dies, to('settle', 'unknown'), ...(charge === 'sent' || charge === 'none' ? [] : [to('settle', charge)])];
    case 'settle':
      return [
        dies,
        ...settle(world, rules, payer.answer!, (then, isDone) => ({
          ...then,
          payer: isDone ? { at: 'end' } : { ...payer, at: 'settleLocked' },
        })),
      ];
    case 'settleLocked':
      return [dies, { ...settleLocked(world, payer.answer!, rules), payer: { at: 'end' } }];
    case 'end':
      return [];
  }
}

function recoverySteps(world: World, nth: number, rules: Rules): World[] {
  const recovery = world.recoveries[nth]!;
  const put = (changed: World, mine: Recovery): World => ({
    ...changed,
    recoveries: changed.recoveries.map((each, index) => (index === nth ? mine : each)),
  });
  const dies = put(world, { at: 'end' });
  switch (recovery.at) {
    case 'claim': {
      if (!isOpen(world.row)) return [];
      const seen = { state: world.row, startedAt: world.startedAt };
      const asks = rules.recoveryStep(seen.state, world.recoveryTime - seen.startedAt) === 'ask';
      return [dies, put(world, { at: asks ? 'ask' : 'decide', seen })];
    }
    case 'ask': {
      const seen = recovery.seen!;
      const ageMs = world.recoveryTime - seen.startedAt;
      const heard = (answer: AcquirerAnswer['kind']): World =>
        put(world, rules.isMissing(answerOf(answer), ageMs) ? { at: 'decide', seen } : { at: 'settle', answer });
      return [dies, heard(ANSWER_OF_KEY[world.key]), heard('unknown')];
    }
    case 'decide': {
      if (recovery.seen!.state === 'reversing') return [dies, put(world, { at: 'reverse' })];
      const isClaimed = world.startedAt !== recovery.seen!.startedAt;
      const decided = isClaimed ? undefined : rules.decide(world.row as AttemptState);
      return [dies, ...(decided ? [put(move(world, decided, rules), { at: 'reverse' })] : [])];
    }
    case 'reverse': {
      const reversed = {
        ...world,
        key: world.key === 'approved' || world.key === 'givenBack' ? 'givenBack' : 'barred',
      } as const;
      const heard = (from: World, answer: AcquirerAnswer['kind']): World => put(from, { at: 'settle', answer });
      return [
        dies,
        heard(reversed, ANSWER_OF_KEY[reversed.key]),
        heard(reversed, 'unconfirmed'),
        heard(world, 'unconfirmed'),
      ];
    }
    case 'settle':
      return [
        dies,
        ...settle(world, rules, recovery.answer!, (then, isDone) =>
          put(then, isDone ? { at: 'end' } : { ...recovery, at: 'settleLocked' }),
        ),
      ];
    case 'settleLocked':
      return [dies, put(settleLocked(world, recovery.answer!, rules), { at: 'end' })];
    case 'end':
      return [];
  }
}

const isOpen = (row: World['row']): row is AttemptState =>
  row !== 'absent' && (CHARGEABLE_STATES.includes(row) || row === 'reversing');

/** The first statement: an end where the row may take it, or "unknown"; `isDone` says whether that was all. */
function settle(
  world: World,
  rules: Rules,
  kind: AcquirerAnswer['kind'],
  then: (world: World, isDone: boolean) => World,
): World[] {
  const conclusion = rules.conclude(world.row as AttemptState, answerOf(kind));
  if (conclusion.kind === 'end')
    return [then({ ...move(world, conclusion.end.state, rules), payment: conclusion.end.settlement.state }, true)];
  if (isFinal(answerOf(kind))) return [then(world, false)];
  return [then(conclusion.kind === 'unknown' ? move(world, 'unknown', rules) : world, true)];
}

/** The second one, where the first changed nothing. */
function settleLocked(world: World, kind: AcquirerAnswer['kind'], rules: Rules): World {
  const conclusion = rules.conclude(world.row as AttemptState, answerOf(kind));
  const heard = { ...world, isApprovalHeard: world.isApprovalHeard || kind === 'approved' };
  if (conclusion.kind === 'reverse') return move(heard, 'reversing', rules);
  if (conclusion.kind !== 'incident') return heard;
  return { ...heard, giveBack: heard.giveBack || conclusion.giveBack };
}

function move(world: World, to: AttemptState, rules: Rules): World {
  const from = world.row as AttemptState;
  if (from !== to && !rules.mayFollow(from, to)) throw new Violation(`${from} → ${to} is not listed`);
  return { ...world, row: to };
}

/** Holds at any moment. */
export function check(world: World, bank: Bank): void {
  const { payment, key } = world;
  if (payment === 'success' && key !== 'approved') throw new Violation(`success, but at the bank ${key}`);
  if (payment === 'failed' && key === 'approved' && bank !== 'breaks its word')
    throw new Violation('failed, and the bank holds its money');
}

/** Holds when nothing is left to happen but the jobs: they end the attempt, and give back what must be given back. */
export function checkEnd(end: World, bank: Bank, rules: Rules): void {
  let world: World = { ...end, recoveryTime: 900_000 };
  for (let run = 1; isOpen(world.row); run++) {
    if (run > 3) throw new Violation(`stays ${world.row}`);
    world = { ...world, recoveries: [{ at: 'claim' }] };
    // The bank answers: the last of the steps is never the crash, and the second never the lost answer.
    while (world.recoveries[0]!.at !== 'end') {
      const steps = recoverySteps(world, 0, rules);
      world = steps[1] ?? { ...world, recoveries: [{ at: 'end' }] };
      check(world, bank);
    }
  }
  if (world.giveBack && world.key === 'approved') world = { ...world, key: 'givenBack' };
  check(world, bank);
  if (world.row !== 'absent' && world.payment === 'processing') throw new Violation('stays processing');
  const { payment, key } = world;
  // Only a comparison of the books finds a bank that breaks its word and loses the answer.
  if ((bank !== 'breaks its word' || world.isApprovalHeard) && (payment === 'success') !== (key === 'approved'))
    throw new Violation(`${payment}, and in the end at the bank ${key}`);
}
