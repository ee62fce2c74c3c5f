import type { DeclineCode } from '../../src/acquirers/acquirer.js';
import {
  type AcquirerResponse,
  ATTEMPT_TRANSITIONS,
  type AttemptState,
  CHARGEABLE_STATES,
  conclude,
  isChargeMissing,
  isFinal,
  needsLeaseBeforeCall,
  recoveryStep,
} from '../../src/payments/attempt.js';

/**
 * The rules of a model with one attempt, the process that charges it, two processes that recover it, and the bank. Each
 * process has the steps of {@link ChargeAttempt}, {@link RecoverAttempts} and {@link SettleAttempt}, one step for each
 * SQL statement and each message, and may crash before any step. The model uses the decision functions of the
 * production code. A message may be delayed for any time, so the bank needs no clock. The charging process and the
 * recovering processes have independent clocks.
 */
export interface Rules {
  readonly conclude: typeof conclude;
  readonly recoveryStep: typeof recoveryStep;
  readonly isChargeMissing: typeof isChargeMissing;
  readonly needsLeaseBeforeCall: typeof needsLeaseBeforeCall;
  /** State of an attempt's row after the decision to reverse; undefined when the decision is not allowed. */
  readonly decide: (state: AttemptState) => AttemptState | undefined;
  readonly isTransitionAllowed: (from: AttemptState, to: AttemptState) => boolean;
}

export const PRODUCTION_RULES: Rules = {
  conclude,
  recoveryStep,
  isChargeMissing,
  needsLeaseBeforeCall,
  decide: (state) => (CHARGEABLE_STATES.includes(state) ? 'reversing' : undefined),
  isTransitionAllowed: (from, to) => (ATTEMPT_TRANSITIONS[from] as readonly AttemptState[]).includes(to),
};

/**
 * The bank's behaviour. `charges a blocked key`: the bank charges although it has confirmed that it will never charge
 * under this key.
 */
export const BANK_BEHAVIOURS = ['approves', 'declines', 'requires verification', 'charges a blocked key'] as const;
export type BankBehaviour = (typeof BANK_BEHAVIOURS)[number];

/** Possible values of the two clocks in milliseconds. A clock can advance to its next value at any moment. */
const PAYER_TIMES = [0, 1_000];
const RECOVERY_TIMES = [0, 10_000, 11_000, 900_000];

type PayerStep = 'accept' | 'check' | 'send' | 'sent' | 'settle' | 'settleLocked' | 'end';
type RecoveryStep = 'lease' | 'query' | 'decide' | 'reverse' | 'settle' | 'settleLocked' | 'end';
/** State of the attempt's idempotency key at the bank. */
type KeyState = 'none' | 'approved' | 'declined' | 'challenged' | 'blocked' | 'reversed';

/** A state of the model. */
export interface World {
  /** State of the attempt's row in the database. */
  readonly row: AttemptState | 'absent';
  readonly startedAt: number;
  readonly payment: 'processing' | 'success' | 'failed' | 'verificationRequired';
  /** A reversal of a late approval is requested. */
  readonly needsReversal: boolean;
  /** A process has recorded an approval that arrived after the end of the attempt. */
  readonly isApprovalSeen: boolean;
  /** State of the idempotency key at the bank. */
  readonly key: KeyState;
  /** Time of the clock of the charging process. */
  readonly payerTime: number;
  /** Time of the clock of the recovering processes. */
  readonly recoveryTime: number;
  /** Next step of the charging process, and the response that it has received. */
  readonly payer: { readonly at: PayerStep; readonly response?: AcquirerResponse['kind'] };
  /**
   * The charge in transit to the bank, or the bank's response in transit back. Such a message arrives even if its
   * sender has crashed.
   */
  readonly charge: 'none' | 'sent' | AcquirerResponse['kind'];
  readonly recoveries: readonly Recovery[];
}

interface Recovery {
  readonly at: RecoveryStep;
  readonly leased?: { readonly state: AttemptState; readonly startedAt: number };
  readonly response?: AcquirerResponse['kind'];
}

/** A key that is equal for worlds with the same future. The order of the two recovering processes does not matter. */
export function worldKey({ payer, recoveries, ...world }: World): string {
  const processes = recoveries.map(({ at, leased, response }) =>
    [at, leased?.state, leased?.startedAt, response].join(),
  );
  return [...Object.values(world), payer.at, payer.response, ...processes.sort()].join('|');
}

export const INITIAL_WORLD: World = {
  row: 'absent',
  startedAt: 0,
  payment: 'processing',
  needsReversal: false,
  isApprovalSeen: false,
  key: 'none',
  payerTime: 0,
  recoveryTime: 0,
  payer: { at: 'accept' },
  charge: 'none',
  recoveries: [{ at: 'lease' }, { at: 'lease' }],
};

/** Thrown when a world violates an invariant. */
export class Violation extends Error {}

const DECLINE: DeclineCode = 'card.declined';
function buildResponse(kind: AcquirerResponse['kind']): AcquirerResponse {
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

const RESPONSE_OF_KEY: Record<KeyState, AcquirerResponse['kind']> = {
  none: 'notFound',
  approved: 'approved',
  declined: 'declined',
  challenged: 'verificationRequired',
  blocked: 'neverCharged',
  reversed: 'reversed',
};

/** All worlds that one more step can lead to. */
export function listNextWorlds(world: World, bank: BankBehaviour, rules: Rules): World[] {
  return [
    ...nextValue(PAYER_TIMES, world.payerTime).map((payerTime) => ({ ...world, payerTime })),
    ...nextValue(RECOVERY_TIMES, world.recoveryTime).map((recoveryTime) => ({ ...world, recoveryTime })),
    ...bankSteps(world, bank),
    ...payerSteps(world, rules),
    ...world.recoveries.flatMap((_, nth) => recoverySteps(world, nth, rules)),
  ];
}

const nextValue = (times: readonly number[], now: number): number[] => times.slice(times.indexOf(now) + 1).slice(0, 1);

function bankSteps(world: World, bank: BankBehaviour): World[] {
  if (world.charge !== 'sent') return [];
  const charged: KeyState =
    bank === 'declines' ? 'declined' : bank === 'requires verification' ? 'challenged' : 'approved';
  const isNew = world.key === 'none' || (bank === 'charges a blocked key' && world.key === 'blocked');
  const key = isNew ? charged : world.key;
  return [{ ...world, key, charge: RESPONSE_OF_KEY[key] }];
}

function payerSteps(world: World, rules: Rules): World[] {
  const { payer, charge, row } = world;
  const payerAt = (at: PayerStep, response?: AcquirerResponse['kind']): World => ({
    ...world,
    payer: response ? { at, response } : { at },
  });
  const crashed = payerAt('end');
  switch (payer.at) {
    case 'accept':
      return [{ ...payerAt('check'), row: 'started', startedAt: world.payerTime }];
    case 'check': {
      if (!rules.needsLeaseBeforeCall(new Date(world.startedAt), new Date(world.payerTime)))
        return [crashed, payerAt('send')];
      const isLeased = CHARGEABLE_STATES.includes(row as AttemptState);
      return [
        crashed,
        isLeased ? { ...payerAt('send'), startedAt: world.payerTime } : payerAt('settle', 'notAttempted'),
      ];
    }
    case 'send':
      return [crashed, { ...payerAt('sent'), charge: 'sent' }];
    case 'sent':
      // The call ends with a timeout or a lost response, or with the response if the response has arrived.
      return [
        crashed,
        payerAt('settle', 'unknown'),
        ...(charge === 'sent' || charge === 'none' ? [] : [payerAt('settle', charge)]),
      ];
    case 'settle':
      return [
        crashed,
        ...settle(world, rules, payer.response!, (then, isDone) => ({
          ...then,
          payer: isDone ? { at: 'end' } : { ...payer, at: 'settleLocked' },
        })),
      ];
    case 'settleLocked':
      return [crashed, { ...settleLocked(world, payer.response!, rules), payer: { at: 'end' } }];
    case 'end':
      return [];
  }
}

function recoverySteps(world: World, nth: number, rules: Rules): World[] {
  const recovery = world.recoveries[nth]!;
  const withRecovery = (changed: World, ownRecovery: Recovery): World => ({
    ...changed,
    recoveries: changed.recoveries.map((unchanged, index) => (index === nth ? ownRecovery : unchanged)),
  });
  const crashed = withRecovery(world, { at: 'end' });
  switch (recovery.at) {
    case 'lease': {
      if (!isOpen(world.row)) return [];
      const leased = { state: world.row, startedAt: world.startedAt };
      const isQuery = rules.recoveryStep(leased.state, world.recoveryTime - leased.startedAt) === 'query';
      return [crashed, withRecovery(world, { at: isQuery ? 'query' : 'decide', leased })];
    }
    case 'query': {
      const leased = recovery.leased!;
      const ageMs = world.recoveryTime - leased.startedAt;
      const received = (response: AcquirerResponse['kind']): World =>
        withRecovery(
          world,
          rules.isChargeMissing(buildResponse(response), ageMs) ? { at: 'decide', leased } : { at: 'settle', response },
        );
      return [crashed, received(RESPONSE_OF_KEY[world.key]), received('unknown')];
    }
    case 'decide': {
      if (recovery.leased!.state === 'reversing') return [crashed, withRecovery(world, { at: 'reverse' })];
      const isLeasedAgain = world.startedAt !== recovery.leased!.startedAt;
      const decided = isLeasedAgain ? undefined : rules.decide(world.row as AttemptState);
      return [crashed, ...(decided ? [withRecovery(changeRowState(world, decided, rules), { at: 'reverse' })] : [])];
    }
    case 'reverse': {
      const reversed = {
        ...world,
        key: world.key === 'approved' || world.key === 'reversed' ? 'reversed' : 'blocked',
      } as const;
      const received = (from: World, response: AcquirerResponse['kind']): World =>
        withRecovery(from, { at: 'settle', response });
      return [
        crashed,
        received(reversed, RESPONSE_OF_KEY[reversed.key]),
        received(reversed, 'unconfirmed'),
        received(world, 'unconfirmed'),
      ];
    }
    case 'settle':
      return [
        crashed,
        ...settle(world, rules, recovery.response!, (then, isDone) =>
          withRecovery(then, isDone ? { at: 'end' } : { ...recovery, at: 'settleLocked' }),
        ),
      ];
    case 'settleLocked':
      return [crashed, withRecovery(settleLocked(world, recovery.response!, rules), { at: 'end' })];
    case 'end':
      return [];
  }
}

const isOpen = (row: World['row']): row is AttemptState =>
  row !== 'absent' && (CHARGEABLE_STATES.includes(row) || row === 'reversing');

/**
 * The first statement: records an end if the row allows it, or the state `unknown`. `isDone` is false if settleLocked
 * must follow.
 */
function settle(
  world: World,
  rules: Rules,
  kind: AcquirerResponse['kind'],
  then: (world: World, isDone: boolean) => World,
): World[] {
  const conclusion = rules.conclude(world.row as AttemptState, buildResponse(kind));
  if (conclusion.kind === 'end')
    return [
      then({ ...changeRowState(world, conclusion.end.state, rules), payment: conclusion.end.settlement.state }, true),
    ];
  if (isFinal(buildResponse(kind))) return [then(world, false)];
  return [then(conclusion.kind === 'unknown' ? changeRowState(world, 'unknown', rules) : world, true)];
}

/** The second statement, after a first statement without effect. */
function settleLocked(world: World, kind: AcquirerResponse['kind'], rules: Rules): World {
  const conclusion = rules.conclude(world.row as AttemptState, buildResponse(kind));
  const received = { ...world, isApprovalSeen: world.isApprovalSeen || kind === 'approved' };
  if (conclusion.kind === 'reverse') return changeRowState(received, 'reversing', rules);
  if (conclusion.kind !== 'incident') return received;
  return { ...received, needsReversal: received.needsReversal || conclusion.needsReversal };
}

function changeRowState(world: World, to: AttemptState, rules: Rules): World {
  const from = world.row as AttemptState;
  if (from !== to && !rules.isTransitionAllowed(from, to)) throw new Violation(`${from} → ${to} is not allowed`);
  return { ...world, row: to };
}

/** Checks the invariants of every world. */
export function checkInvariants(world: World, bank: BankBehaviour): void {
  const { payment, key } = world;
  if (payment === 'success' && key !== 'approved') throw new Violation(`success, but ${key} at the bank`);
  if (payment === 'failed' && key === 'approved' && bank !== 'charges a blocked key')
    throw new Violation('failed, but the bank holds the payer’s money');
}

/** Lets the jobs end the attempt and reverse charges that must be reversed, and then checks the final invariants. */
export function checkFinalInvariants(end: World, bank: BankBehaviour, rules: Rules): void {
  let world: World = { ...end, recoveryTime: 900_000 };
  for (let run = 1; isOpen(world.row); run++) {
    if (run > 3) throw new Violation(`the attempt stays ${world.row}`);
    world = { ...world, recoveries: [{ at: 'lease' }] };
    // The bank responds. The second step in the list is neither a crash nor a lost response.
    while (world.recoveries[0]!.at !== 'end') {
      const steps = recoverySteps(world, 0, rules);
      world = steps[1] ?? { ...world, recoveries: [{ at: 'end' }] };
      checkInvariants(world, bank);
    }
  }
  if (world.needsReversal && world.key === 'approved') world = { ...world, key: 'reversed' };
  checkInvariants(world, bank);
  if (world.row !== 'absent' && world.payment === 'processing') throw new Violation('the payment stays processing');
  const { payment, key } = world;
  // If a bank charges a blocked key and the response is lost, only a reconciliation can find this charge.
  if ((bank !== 'charges a blocked key' || world.isApprovalSeen) && (payment === 'success') !== (key === 'approved'))
    throw new Violation(`${payment}, but ${key} at the bank in the end`);
}
