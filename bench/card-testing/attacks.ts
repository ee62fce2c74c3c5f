/** The attacks of the benchmark `card-testing`. */
import type { CardData } from '@svc/sdk/card';
import { Arena, type AttackOptions, type AttackResult, type Preparation, type Prepare } from './arena.ts';
import { newCard } from './card-numbers.ts';
import type { ChallengeSolver } from './checkouts/challenge-solver.ts';
import type { Checkout } from './checkouts/checkout.ts';
import { PartnerCheckout } from './checkouts/partner-checkout.ts';
import type { Shop } from './shops.ts';
import type { PlannedAttempt } from './thief.ts';

/** Counts of a run with scale 1. */
const LIST = { numbers: 10_000, addresses: 200 };
const CVVS = { count: 1_000, merchants: 50, addresses: 20 };
const PARTNER_LIST = 1_000;
const SLOW = { hours: 24, numbersOfHour: 10, addresses: 10 };
const FORGED_LIST = 200;

export const REGULAR_DAY = 'regular trade, no attack';
export const LIST_ATTACK = 'list of numbers at one site';
export const CVV_ATTACK = 'CVVs of one card at many merchants';
export const SLOW_ATTACK = 'ten numbers an hour at one site';
export const FORGED_ATTACK = 'list from one address with forged X-Forwarded-For';
export const PARTNER_ATTACK = 'numbers of one range through a partner';

/** Each attack, with the attackers who make it: without and with solutions of the challenges. */
const ATTACKS: readonly (readonly [name: string, prepare: Prepare, solves: readonly boolean[]])[] = [
  [REGULAR_DAY, trade, [false]],
  [LIST_ATTACK, attackWithList, [false, true]],
  [CVV_ATTACK, attackWithCvvs, [false, true]],
  [SLOW_ATTACK, attackSlowly, [false, true]],
  [FORGED_ATTACK, attackWithForgedHeader, [true]],
  // The main API has no challenge, because no browser calls it.
  [PARTNER_ATTACK, attackThroughPartner, [false]],
];

export async function runAttacks(options: AttackOptions): Promise<AttackResult[]> {
  const arena = await Arena.open(options);
  try {
    const results: AttackResult[] = [];
    for (const [name, prepare, attackers] of ATTACKS)
      for (const solves of attackers) results.push(await arena.run(name, solves, prepare));
    return results;
  } finally {
    await arena.close();
  }
}

/** A day of regular trade: a part of the payers pays in a partner's app, the others on the page. */
async function trade(arena: Arena): Promise<Preparation> {
  const [shop] = await arena.shops.create('Regular trade', 1);
  const partner = await arena.newPartner('Regular partner');
  return {
    shops: [shop!],
    phases: Array.from({ length: arena.scaled(SLOW.hours, 2) }, () => []),
    regularCheckout: async (index, address, solver) =>
      index % 3 === 0
        ? new PartnerCheckout(partner, await arena.shops.createInvoice(shop!))
        : arena.openSession(shop!, { address, solver }),
  };
}

async function attackWithList(arena: Arena, solver: ChallengeSolver | undefined): Promise<Preparation> {
  const shops = await arena.shops.create('List', 1);
  const cards = arena.numbers.newList(arena.scaled(LIST.numbers, 20)).map((number) => newCard(number));
  const addresses = arena.newAddresses(arena.scaled(LIST.addresses, 2));
  return { shops, phases: [planOnPages(arena, { cards, shops, addresses, solver })], ...payOnPages(arena, shops) };
}

async function attackWithCvvs(arena: Arena, solver: ChallengeSolver | undefined): Promise<Preparation> {
  const shops = await arena.shops.create('CVVs', arena.scaled(CVVS.merchants, 2));
  const { cardNumber } = arena.numbers.newWithCheckedCvv();
  const cards = Array.from({ length: arena.scaled(CVVS.count, 20) }, (_, index) =>
    newCard(cardNumber, String(index).padStart(3, '0')),
  );
  const addresses = arena.newAddresses(arena.scaled(CVVS.addresses, 2));
  return { shops, phases: [planOnPages(arena, { cards, shops, addresses, solver })], ...payOnPages(arena, shops) };
}

async function attackSlowly(arena: Arena, solver: ChallengeSolver | undefined): Promise<Preparation> {
  const shops = await arena.shops.create('Slow', 1);
  const hours = arena.scaled(SLOW.hours, 2);
  const cards = arena.numbers.newList(hours * SLOW.numbersOfHour).map((number) => newCard(number));
  const attempts = planOnPages(arena, { cards, shops, addresses: arena.newAddresses(SLOW.addresses), solver });
  const phases = Array.from({ length: hours }, (_, hour) =>
    attempts.slice(hour * SLOW.numbersOfHour, (hour + 1) * SLOW.numbersOfHour),
  );
  return { shops, phases, ...payOnPages(arena, shops) };
}

/** Each attempt claims another address. The platform must count all of them for the address of the connection. */
async function attackWithForgedHeader(arena: Arena, solver: ChallengeSolver | undefined): Promise<Preparation> {
  const shops = await arena.shops.create('Forged', 1);
  const cards = arena.numbers.newList(arena.scaled(FORGED_LIST, 60)).map((number) => newCard(number));
  const addresses = arena.newAddresses(1);
  const phases = [planOnPages(arena, { cards, shops, addresses, solver, forgesHeader: true })];
  return { shops, phases, ...payOnPages(arena, shops) };
}

/** Half of the regular payers use the same partner, the others the page of the same merchant. */
async function attackThroughPartner(arena: Arena): Promise<Preparation> {
  const [shop] = await arena.shops.create('Partner', 1);
  const partner = await arena.newPartner('Attacked partner');
  const checkOutInApp = async (): Promise<Checkout> =>
    new PartnerCheckout(partner, await arena.shops.createInvoice(shop!));
  const numbers = arena.numbers.newListOfOneRange(arena.scaled(PARTNER_LIST, 50));
  return {
    shops: [shop!],
    phases: [numbers.map((number) => ({ card: newCard(number), origin: 'partner', checkOut: checkOutInApp }))],
    regularCheckout: (index, address, solver) =>
      index % 2 === 0 ? checkOutInApp() : arena.openSession(shop!, { address, solver }),
  };
}

/** Attempts on payment pages, with the shops and addresses in turn. */
function planOnPages(
  arena: Arena,
  plan: {
    readonly cards: readonly CardData[];
    readonly shops: readonly Shop[];
    readonly addresses: readonly string[];
    readonly solver: ChallengeSolver | undefined;
    readonly forgesHeader?: boolean;
  },
): PlannedAttempt[] {
  const { cards, shops, addresses, solver, forgesHeader = false } = plan;
  return cards.map((card, index) => {
    const address = addresses[index % addresses.length]!;
    const forged = forgesHeader ? { forgedAddress: `198.51.${Math.floor(index / 250)}.${index % 250}` } : {};
    const checkOut = (): Promise<Checkout> =>
      arena.openSession(shops[index % shops.length]!, { address, solver, isImpatient: true, ...forged });
    return { card, origin: address, checkOut };
  });
}

/** Regular payers who pay on the pages of these shops, in turn. */
function payOnPages(arena: Arena, shops: readonly Shop[]): Pick<Preparation, 'regularCheckout'> {
  return {
    regularCheckout: (index, address, solver) => arena.openSession(shops[index % shops.length]!, { address, solver }),
  };
}
