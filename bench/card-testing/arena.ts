/**
 * Runs attacks on a running platform, each with regular payers beside it. An attack has merchants of its own, and its
 * cards and addresses are used in no other attack, so that no attack changes the limits for the next.
 */
import type { Demo } from '../../tools/svc/demo/seed.ts';
import { CardNumbers } from './card-numbers.ts';
import { ChallengeSolver } from './checkouts/challenge-solver.ts';
import { type AttemptOutcome, type Checkout, isAuthorisation } from './checkouts/checkout.ts';
import { type Browser, Browsers, PageCheckout } from './checkouts/page-checkout.ts';
import { PartnerServer } from './checkouts/partner-checkout.ts';
import { payAsRegularPayer, planRegularPayers, type PurchaseResult, type RegularPayer } from './regular-payers.ts';
import { retry, type Shop, Shops } from './shops.ts';
import { type PlannedAttempt, Thief } from './thief.ts';

const REGULAR_PAYERS = 500;
const SECONDS_BETWEEN_PHASES = 3_600;

export interface TestedPlatform {
  readonly demo: Demo;
  /** References of the payments of this merchant that the bank has approved or declined. */
  listAuthorisations(merchantId: number): ReadonlySet<string>;
  /** Simulates that time passes: makes everything older that the limits have stored. */
  letTimePass(seconds: number): Promise<void>;
}

export interface AttackOptions {
  readonly platform: TestedPlatform;
  /** Factor for all counts; 1 for the documented attacks. */
  readonly scale: number;
  /** 0 to 99; runs on the same platform need different values. */
  readonly salt: number;
  readonly log: (line: string) => void;
}

export interface AttackResult {
  readonly name: string;
  readonly solvesChallenges: boolean;
  /** Attempts that the attacker planned, and attempts that he made. */
  readonly planned: number;
  readonly attempts: number;
  readonly outcomes: Readonly<Record<AttemptOutcome, number>>;
  /** The bank's declines of the attacker's address with the most of them. */
  readonly maxDeclinesOfOrigin: number;
  /** The bank's requests to verify the payer, of the attacker's address and of his card with the most of them. */
  readonly maxVerifications: { readonly ofOrigin: number; readonly ofCard: number };
  /** Attempts of the attacker that the bank has approved or declined, by the bank's records. */
  readonly authorisations: number;
  /** Challenges that the attacker solved, and the sum of their numbers. */
  readonly solved: { readonly challenges: number; readonly numbers: number };
  readonly regular: {
    readonly payers: number;
    readonly paid: number;
    /** Payers of whom a limit refused at least one attempt. */
    readonly refusedPayers: number;
    /** Payers whose page waited, because other payments of their address were in flight, and then continued by itself. */
    readonly waitingPayers: number;
    /** Payers who had to press Pay again at least once, although no limit refused them. */
    readonly payersPressingAgain: number;
    /** Challenges that the regular payers' browsers solved. */
    readonly solved: number;
    /** The outcomes of the payers who could not pay. */
    readonly unpaid: readonly (readonly AttemptOutcome[])[];
  };
  readonly problems: readonly string[];
}

/** A prepared attack. */
export interface Preparation {
  readonly shops: readonly Shop[];
  /** The attempts of the attacker, in phases. An hour passes after each phase but the last. */
  readonly phases: readonly (readonly PlannedAttempt[])[];
  readonly regularCheckout: RegularCheckout;
}

/** Begins the purchase of the regular payer with this index. */
type RegularCheckout = (index: number, address: string, solver: ChallengeSolver) => Promise<Checkout>;

/** @param solver the attacker's solver; undefined if he solves no challenges */
export type Prepare = (arena: Arena, solver: ChallengeSolver | undefined) => Promise<Preparation>;

/** Everything that the attacks share: connections, cards, addresses. */
export class Arena {
  readonly numbers: CardNumbers;
  readonly shops: Shops;
  private readonly options: AttackOptions;
  private readonly browsers: Browsers;
  private readonly partners: PartnerServer[] = [];
  private addresses = 0;

  private constructor(options: AttackOptions, shops: Shops) {
    this.options = options;
    this.shops = shops;
    this.numbers = new CardNumbers(options.salt);
    this.browsers = new Browsers(options.platform.demo.gatewayUrl);
  }

  static async open(options: AttackOptions): Promise<Arena> {
    return new Arena(options, await Shops.open(options.platform.demo));
  }

  async close(): Promise<void> {
    await Promise.all(this.partners.map((partner) => partner.close()));
    await this.browsers.close();
    await this.shops.close();
  }

  scaled(count: number, atLeast: number): number {
    return Math.max(atLeast, Math.round(count * this.options.scale));
  }

  /** A loopback address that nothing else of this run uses. */
  newAddress(): string {
    const number = this.addresses++;
    return `127.${10 + this.options.salt}.${number >> 8}.${number & 255}`;
  }

  newAddresses(count: number): string[] {
    return Array.from({ length: count }, () => this.newAddress());
  }

  async openSession(shop: Shop, browser: Omit<Browser, 'browsers'>): Promise<Checkout> {
    return new PageCheckout({ ...browser, browsers: this.browsers }, await this.shops.createSession(shop));
  }

  async newPartner(name: string): Promise<PartnerServer> {
    const credentials = await this.shops.createPartner(name);
    const partner = await retry(() => PartnerServer.logIn(this.options.platform.demo.apiUrl, credentials));
    this.partners.push(partner);
    await retry(() => partner.checkAccess());
    return partner;
  }

  async run(name: string, solvesChallenges: boolean, prepare: Prepare): Promise<AttackResult> {
    const solver = new ChallengeSolver();
    const { shops, phases, regularCheckout } = await prepare(this, solvesChallenges ? solver : undefined);
    const payers = planRegularPayers(this.scaled(REGULAR_PAYERS, 10), this.numbers, () => this.newAddress());
    const regular = new RegularTrade(payers, regularCheckout);
    const thief = new Thief();
    const planned = phases.reduce((sum, phase) => sum + phase.length, 0);
    const startedAt = performance.now();
    let begun = 0;
    for (const [index, phase] of phases.entries()) {
      if (index > 0) await this.options.platform.letTimePass(SECONDS_BETWEEN_PHASES);
      await thief.run(phase, () => regular.startUntil(++begun / planned));
      regular.startUntil((index + 1) / phases.length);
      await regular.wait();
    }
    const purchases = await regular.wait();
    const authorisations =
      this.countAuthorisations(shops) - purchases.flatMap(({ outcomes }) => outcomes).filter(isAuthorisation).length;
    const result: AttackResult = {
      name,
      solvesChallenges,
      planned,
      attempts: thief.attempts,
      outcomes: thief.outcomes,
      maxDeclinesOfOrigin: thief.maxDeclinesOfOrigin,
      maxVerifications: thief.maxVerifications,
      authorisations,
      solved: { challenges: solver.solved, numbers: solver.numbers },
      regular: {
        payers: purchases.length,
        paid: purchases.filter(({ isPaid }) => isPaid).length,
        refusedPayers: purchases.filter(({ outcomes }) => outcomes.includes('refused')).length,
        waitingPayers: purchases.filter(({ waits }) => waits > 0).length,
        payersPressingAgain: purchases.filter(({ pressesAgain }) => pressesAgain > 0).length,
        solved: regular.solver.solved,
        unpaid: purchases.filter(({ isPaid }) => !isPaid).map(({ outcomes }) => outcomes),
      },
      problems:
        authorisations === thief.authorisations
          ? []
          : [`${name}: the bank has ${authorisations} attempts of the attacker, who saw ${thief.authorisations}`],
    };
    this.options.log(describe(result, (performance.now() - startedAt) / 1_000));
    return result;
  }

  private countAuthorisations(shops: readonly Shop[]): number {
    const { platform } = this.options;
    return shops.reduce((sum, { merchantId }) => sum + platform.listAuthorisations(merchantId).size, 0);
  }
}

function describe({ name, solvesChallenges, planned, authorisations, regular }: AttackResult, seconds: number): string {
  const attack = `${name}${solvesChallenges ? ', solving' : ''}: ${authorisations} of ${planned} reached the bank`;
  const unpaid = regular.unpaid.map((outcomes) => ` (not: ${outcomes.join(', ')})`).join('');
  return `${attack}; ${regular.paid} of ${regular.payers} regular payers paid${unpaid}; ${seconds.toFixed(0)} s`;
}

/** The regular payers beside an attack. They start evenly over its attempts. */
class RegularTrade {
  readonly solver = new ChallengeSolver();
  private readonly payers: readonly RegularPayer[];
  private readonly checkOut: RegularCheckout;
  private readonly running: Promise<PurchaseResult>[] = [];

  constructor(payers: readonly RegularPayer[], checkOut: RegularCheckout) {
    this.payers = payers;
    this.checkOut = checkOut;
  }

  /** Starts the payers up to this share of all payers. */
  startUntil(share: number): void {
    while (this.running.length < Math.floor(share * this.payers.length)) {
      const index = this.running.length;
      const payer = this.payers[index]!;
      const purchase = this.checkOut(index, payer.address, this.solver).then((checkout) =>
        payAsRegularPayer(payer, checkout),
      );
      purchase.catch(() => undefined); // wait() throws it
      this.running.push(purchase);
    }
  }

  wait(): Promise<PurchaseResult[]> {
    return Promise.all(this.running);
  }
}

/**
 * References of the payments of a merchant that the simulated bank has approved or declined, from the lines of its file.
 */
export function readAuthorisations(lines: string, merchantId: number): Set<string> {
  const account = `merchant-${merchantId}`;
  const records = lines
    .split('\n')
    .filter((line) => line.includes(`"${account}"`))
    .map((line) => JSON.parse(line) as { account: string; outcome: string; paymentReference: string });
  return new Set(
    records
      .filter((record) => record.account === account && record.outcome !== 'challenged')
      .map(({ paymentReference }) => paymentReference),
  );
}
