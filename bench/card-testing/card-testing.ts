/**
 * Part `card-testing` of the benchmark: an attacker tests stolen cards while regular payers pay. Measures how many of
 * his attempts reach the bank, what they cost him, and whether every regular payer can pay.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PartOptions } from '../main.ts';
import { newPlatform } from '../platforms/platform.ts';
import { type Figure, type Section, type Table, toThreeDigits } from '../report.ts';
import { type AttackResult, readAuthorisations } from './arena.ts';
import { CVV_ATTACK, LIST_ATTACK, REGULAR_DAY, runAttacks } from './attacks.ts';
import { measureSolvers, type SolverCost } from './checkouts/challenge-solver.ts';
import { moveTime } from './moved-time.ts';

/**
 * The challenges of this benchmark have a fiftieth of their work, because its attackers and regular payers share the
 * processors of one machine. The tables state the time of challenges with all their work.
 */
const WORK_DIVISOR = 50;
/** Default of SVC_CHALLENGE_NUMBERS. */
const NUMBERS_AT_LEVEL_1 = 2_000;
const SETTINGS = {
  // `off` measures the platform without protection.
  SVC_VELOCITY_LIMITS_TEST: process.env['SVC_VELOCITY_LIMITS_TEST'] ?? 'on',
  SVC_CHALLENGE_NUMBERS: String(NUMBERS_AT_LEVEL_1 / WORK_DIVISOR),
  // The limit for each address as in production. The other parts of the benchmark have only one address.
  SVC_PAYMENTS_PER_MINUTE: '3000',
};

export async function measureCardTesting({ scale, log }: PartOptions): Promise<Section> {
  const cost = await measureSolvers();
  const running = await newPlatform('rabbitmq', { folder: 'card-testing', settings: SETTINGS }).start();
  try {
    const chargesFile = join(running.dataDir, 'acquirer', 'charges.jsonl');
    const platform = {
      demo: running.demo,
      listAuthorisations: (merchantId: number) => readAuthorisations(readFileSync(chargesFile, 'utf8'), merchantId),
      letTimePass: (seconds: number) => moveTime(running.sql, seconds),
    };
    return buildSection(await runAttacks({ platform, scale, salt: 0, log }), cost);
  } finally {
    await running.stop();
  }
}

function buildSection(results: readonly AttackResult[], cost: SolverCost): Section {
  return {
    title: 'Card testing; RabbitMQ, all in one',
    tables: [
      newAttackersTable(results.filter(({ name }) => name !== REGULAR_DAY)),
      newCostTable(
        results.filter(({ solvesChallenges }) => solvesChallenges),
        cost,
      ),
      newRegularPayersTable(results),
    ],
    figures: buildFigures(results),
    problems: results.flatMap(({ problems }) => problems),
    data: { results, cost },
  };
}

function newAttackersTable(results: readonly AttackResult[]): Table {
  return {
    title: 'Attempts of the attacker',
    columns: [
      '',
      'solves challenges',
      'cards',
      'answered by the bank',
      'good cards found',
      'refused',
      'stopped by the challenge',
      'bank asks to verify the payer',
      'most of them of an address',
      'of a card',
      'most declines of an address',
    ],
    rows: results.map(
      ({ name, solvesChallenges, planned, authorisations, outcomes, maxVerifications, maxDeclinesOfOrigin }) => [
        name,
        solvesChallenges ? 'yes' : 'no',
        String(planned),
        `${authorisations} (${((100 * authorisations) / planned).toFixed(1)} %)`,
        String(outcomes.approved),
        String(outcomes.refused),
        String(outcomes.challenged),
        String(outcomes.verification),
        String(maxVerifications.ofOrigin),
        String(maxVerifications.ofCard),
        String(maxDeclinesOfOrigin),
      ],
    ),
  };
}

/** Processor seconds of the attacker. On average a solver tries half of the numbers of a challenge. */
function newCostTable(results: readonly AttackResult[], { pageSeconds, programSeconds }: SolverCost): Table {
  const seconds = (numbers: number, ofNumber: number): string => toThreeDigits((numbers * WORK_DIVISOR * ofNumber) / 2);
  return {
    title: 'Processor seconds of the attacker for his challenges: the script of the page, and a program for it',
    columns: [
      '',
      'challenges',
      'each, script',
      'each, program',
      'all, program',
      'for each answer of the bank, program',
    ],
    rows: results.map(({ name, solved, authorisations }) => [
      name,
      String(solved.challenges),
      seconds(solved.numbers / Math.max(1, solved.challenges), pageSeconds),
      seconds(solved.numbers / Math.max(1, solved.challenges), programSeconds),
      seconds(solved.numbers, programSeconds),
      seconds(solved.numbers / Math.max(1, authorisations), programSeconds),
    ]),
  };
}

function newRegularPayersTable(results: readonly AttackResult[]): Table {
  return {
    title: 'Regular payers at the same time',
    columns: [
      '',
      'the attacker solves challenges',
      'payers',
      'paid',
      'refused at least once',
      'page waited for others of the address',
      'had to press Pay again',
      'solved challenges',
    ],
    rows: results.map(({ name, solvesChallenges, regular }) => [
      name,
      name === REGULAR_DAY ? '' : solvesChallenges ? 'yes' : 'no',
      String(regular.payers),
      String(regular.paid),
      String(regular.refusedPayers),
      String(regular.waitingPayers),
      String(regular.payersPressingAgain),
      String(regular.solved),
    ]),
  };
}

/** The bounds of docs/card-testing.md. */
const MAX_UNSOLVED_LIST_SHARE = 0.01;
const MAX_DECLINES_OF_ADDRESS = 2;
const MAX_CVVS_AT_BANK = 4;

function buildFigures(results: readonly AttackResult[]): Figure[] {
  const find = (name: string, solves: boolean): AttackResult =>
    results.find((result) => result.name === name && result.solvesChallenges === solves)!;
  const atMost = (promised: number, name: string, value: number): Figure => ({
    name,
    value,
    unit: '',
    promised,
    direction: 'most',
  });
  const list = find(LIST_ATTACK, false);
  const unpaid = results.reduce((sum, { regular }) => sum + regular.payers - regular.paid, 0);
  return [
    atMost(MAX_UNSOLVED_LIST_SHARE, 'share of the list at the bank, unsolved', list.authorisations / list.planned),
    atMost(
      MAX_DECLINES_OF_ADDRESS,
      'declines of an address with the list, solved',
      find(LIST_ATTACK, true).maxDeclinesOfOrigin,
    ),
    atMost(MAX_CVVS_AT_BANK, 'CVVs of one card at the bank, unsolved', find(CVV_ATTACK, false).authorisations),
    atMost(MAX_CVVS_AT_BANK, 'CVVs of one card at the bank, solved', find(CVV_ATTACK, true).authorisations),
    atMost(0, 'regular payers who could not pay', unpaid),
    atMost(
      0,
      'regular payers who had to press Pay again',
      results.reduce((sum, { regular }) => sum + regular.payersPressingAgain, 0),
    ),
    atMost(
      0,
      'regular payers of a day without an attack who were refused',
      find(REGULAR_DAY, false).regular.refusedPayers,
    ),
  ];
}
