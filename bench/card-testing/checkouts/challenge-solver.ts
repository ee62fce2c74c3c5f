/** Solves the challenges of payment pages with the solver of the page's own script, and counts the work. */
import { pbkdf2Sync, randomUUID } from 'node:crypto';
import { solveChallenge } from '../../../apps/hosted-gateway/browser/challenge/solve-challenge.ts';
import {
  DIGEST_BYTES,
  ITERATIONS_PER_NUMBER,
  parseChallengeText,
} from '../../../apps/hosted-gateway/src/challenge/challenge-work.ts';

export interface ChallengeSolution {
  readonly challenge: string;
  readonly solution: number;
}

export class ChallengeSolver {
  solved = 0;
  /** Sum of the numbers of all solved challenges. On average a solver tries half of them. */
  numbers = 0;

  async solve(challenge: string): Promise<ChallengeSolution> {
    const task = parseChallengeText(challenge);
    if (task === undefined) throw new Error(`The page has the malformed challenge ${challenge}`);
    const solution = await solveChallenge(task, () => undefined);
    this.solved++;
    this.numbers += task.numbers;
    return { challenge, solution };
  }
}

/** Processor seconds to try one number: with the script of the page in Node.js, and with a program for Node.js. */
export interface SolverCost {
  readonly pageSeconds: number;
  readonly programSeconds: number;
}

const MEASURED_NUMBERS = 2_000;

export async function measureSolvers(): Promise<SolverCost> {
  const id = randomUUID();
  const digestNumber = (number: number): Buffer =>
    pbkdf2Sync(id, String(number), ITERATIONS_PER_NUMBER, DIGEST_BYTES, 'sha256');
  const digest = digestNumber(MEASURED_NUMBERS - 1).toString('base64url');
  const programSeconds = await measureCpuSeconds(() => {
    for (let number = 0; number < MEASURED_NUMBERS; number++) digestNumber(number);
  });
  const task = { id, numbers: MEASURED_NUMBERS, expiresAtMs: 0, digest };
  const pageSeconds = await measureCpuSeconds(() => solveChallenge(task, () => undefined));
  return { pageSeconds: pageSeconds / MEASURED_NUMBERS, programSeconds: programSeconds / MEASURED_NUMBERS };
}

async function measureCpuSeconds(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
