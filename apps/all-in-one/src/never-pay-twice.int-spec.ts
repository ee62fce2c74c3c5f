/**
 * Every fault of the bank and of the network, with every behaviour of the payer, leads to one charge at most, or to a charge that
 * was reversed, and the page shows that. The test compares the table that it prints with docs/never-pay-twice.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE, waitUntil } from '@svc/testing';
import { type BankAndPlatform, type PageSnapshot, startBankAndPlatform } from '../test/bank-and-platform.js';
import { type Fault, FAULTS } from '../test/unreliable-acquirer.js';

const PAYERS = ['reloads', 'has a second tab', 'leaves'] as const;
type Payer = (typeof PAYERS)[number];
const CHARGES_AFTER_REVERSAL: Fault = 'approves what it said it never would';
/**
 * Longer than the recovery job needs to find that a charge has not arrived, so that the service still receives a late response. At
 * most the limit of the service.
 */
const TIMEOUT_MS = Math.min(4_000 * PATIENCE, 9_000);

interface Cell {
  readonly fault: Fault;
  readonly payer: Payer;
  /** Cents; different in each cell, to identify its charges in the bank's records. */
  readonly amount: number;
  readonly sessionId: string;
  readonly pendingPayments: Promise<void>[];
  attempts: number;
}

let env: BankAndPlatform;
/** Amounts with a first charge: the second charge of an amount reaches a bank without faults. */
const chargedOnce = new Set<number>();
const faultOf = (amount: number): Fault | undefined => {
  if (chargedOnce.has(amount)) return undefined;
  chargedOnce.add(amount);
  return FAULTS[Math.floor((amount - 10_000) / 100)];
};
beforeAll(async () => {
  env = await startBankAndPlatform(faultOf, TIMEOUT_MS);
});
afterAll(() => env.stop());

async function cellsOf(faults: readonly Fault[]): Promise<Cell[]> {
  const kinds = faults.flatMap((fault) => PAYERS.map((payer) => ({ fault, payer })));
  return Promise.all(
    kinds.map(async ({ fault, payer }) => {
      const amount = 10_000 + 100 * FAULTS.indexOf(fault) + PAYERS.indexOf(payer);
      return { fault, payer, amount, sessionId: await env.createSession(amount), pendingPayments: [], attempts: 0 };
    }),
  );
}

function pay(cell: Cell, page: PageSnapshot): void {
  cell.attempts++;
  cell.pendingPayments.push(env.pay(page));
}

/** Advances the clock, and waits until the recovery job has polled every attempt that is due. */
async function advance(seconds: number): Promise<void> {
  env.clock.advance(seconds * 1_000);
  await settled();
}

async function settled(): Promise<void> {
  await waitUntil('the recovery job', 20_000, async () => {
    const [row] = await env.processor.dataSource.query<{ due: number }[]>(
      `SELECT count(*) AS due FROM attempts WHERE next_ask_at <= $1`,
      [env.clock.now()],
    );
    return row?.due === 0;
  });
  await env.relayAllEvents();
}

/** The states that a page may show, from payment-processor's tables. */
async function expectedStates(cell: Cell): Promise<string[]> {
  const [row] = await env.processor.dataSource.query<{ state: string }[]>(
    `SELECT state FROM payables WHERE payable_id = $1`,
    [cell.sessionId],
  );
  switch (row?.state) {
    case 'reserved':
      return ['processing'];
    case 'paid':
      return ['succeeded', 'already-paid'];
    default:
      return ['declined'];
  }
}

async function loadPage(cell: Cell): Promise<PageSnapshot> {
  const page = await env.page(cell.sessionId);
  await env.relayAllEvents();
  // Load it again, because the first load may have fetched the outcome.
  const seen = await env.page(cell.sessionId);
  expect([cell.fault, cell.payer, await expectedStates(cell)]).toEqual([
    cell.fault,
    cell.payer,
    expect.arrayContaining([seen.state]),
  ]);
  // No page may show a form while the bank has a charge, except when the bank charged after it confirmed a reversal.
  if (page.html.includes('<form id="pay-form"') && cell.fault !== CHARGES_AFTER_REVERSAL)
    expect(env.chargeCount(cell.amount)).toBe(0);
  return seen;
}

async function loadAllPages(cells: readonly Cell[]): Promise<void> {
  for (const cell of cells) {
    if (cell.payer === 'leaves') continue;
    const page = await loadPage(cell);
    // The second tab pays as soon as it shows a form.
    if (cell.payer === 'has a second tab' && page.html.includes('<form id="pay-form"')) {
      pay(cell, page);
      await Promise.all(cell.pendingPayments.slice(-1));
    }
  }
}

async function outcome(cell: Cell): Promise<string> {
  const { state } = await loadPage(cell);
  const isPaid = state === 'succeeded' || state === 'already-paid';
  expect([cell.fault, cell.payer, env.chargeCount(cell.amount)]).toEqual([cell.fault, cell.payer, isPaid ? 1 : 0]);
  const [books] = await env.processor.dataSource.query<{ captures: number; reversed: number; reason: string | null }[]>(
    `SELECT count(t.transfer_id) AS captures, max(p.errors->0->>'errorReference') AS reason,
            (SELECT count(*) FROM attempts a JOIN payments o USING (payment_id) WHERE o.payable_id = $1 AND a.state = 'reversed') AS reversed
       FROM payments p LEFT JOIN transfers t ON t.payment_id = p.payment_id AND t.kind = 'capture' WHERE p.payable_id = $1`,
    [cell.sessionId],
  );
  expect(books?.captures).toBe(isPaid ? 1 : 0);
  expect(books?.reversed).toBe(env.reversalCount(cell.amount));
  const failed = books?.reason
    ? `failed (${books.reason})${env.reversalCount(cell.amount) > 0 ? ', given back' : ''}`
    : '';
  const paid = isPaid ? 'one charge' : '';
  return [failed, paid].filter(Boolean).join(', then ');
}

test('every fault and every payer: at most one charge, and the page shows the right state', async () => {
  const cells = await cellsOf(FAULTS.filter((fault) => fault !== CHARGES_AFTER_REVERSAL));
  for (const cell of cells) pay(cell, await env.page(cell.sessionId));
  // Until a payment arrives, a form is the right page.
  await waitUntil('every payment to arrive', 20_000, async () => {
    const [arrived] = await env.processor.dataSource.query<{ count: number }[]>(
      `SELECT count(DISTINCT payable_id) FROM payments WHERE payable_id = ANY ($1)`,
      [cells.map(({ sessionId }) => sessionId)],
    );
    return Number(arrived?.count) === cells.length;
  });
  // No page shows a form while the charge is in flight.
  for (const cell of cells.filter(({ payer }) => payer !== 'leaves'))
    expect((await env.page(cell.sessionId)).html).not.toContain('<form');
  await Promise.all(cells.flatMap(({ pendingPayments }) => pendingPayments));
  await env.relayAllEvents();
  await loadAllPages(cells);
  for (const seconds of [2, 3, 5, 10, 40, 240, 600, 30]) {
    await advance(seconds);
    if (seconds === 3) env.acquirer.release('very slow: arrives after 5 s');
    if (seconds === 10) env.acquirer.release('very slow: arrives after 20 s');
    await loadAllPages(cells);
  }
  await settled();

  const forgotten = await cellsOf([CHARGES_AFTER_REVERSAL]);
  await testChargeAfterReversal(forgotten);

  const rows: string[] = [];
  for (const fault of FAULTS) {
    const ofFault = [...cells, ...forgotten].filter((cell) => cell.fault === fault);
    const outcomes: string[] = [];
    for (const cell of ofFault) outcomes.push(await outcome(cell));
    rows.push(`| ${fault} | ${outcomes.join(' | ')} |`);
  }
  const table = [`| The bank | The payer ${PAYERS.join(' | ')} |`, '| --- | --- | --- | --- |', ...rows].join('\n');
  process.stdout.write(`\n${table}\n`);
  const documented = readFileSync(join(import.meta.dirname, '../../../docs/never-pay-twice.md'), 'utf8');
  expect(withoutPadding(documented)).toContain(withoutPadding(table));
});

/** The bank confirms the reversal of an unknown charge, then makes that charge and responds to the original request. */
async function testChargeAfterReversal(cells: readonly Cell[]): Promise<void> {
  for (const cell of cells) pay(cell, await env.page(cell.sessionId));
  await waitUntil('the attempts', 5_000, async () => {
    const [row] = await env.processor.dataSource.query<{ begun: number }[]>(
      `SELECT count(*) AS begun FROM attempts WHERE state = 'started'`,
    );
    return row?.begun === cells.length;
  });
  await advance(10);
  await loadAllPages(cells);
  env.acquirer.release(CHARGES_AFTER_REVERSAL);
  await Promise.all(cells.flatMap(({ pendingPayments }) => pendingPayments));
  await waitUntil('the reversals', 10_000, async () => {
    const [row] = await env.processor.dataSource.query<{ open: number }[]>(
      `SELECT count(*) AS open FROM reversals WHERE confirmed_at IS NULL`,
    );
    return row?.open === 0;
  });
  // Relay repeatedly: an open transaction of another test on the same server delays the relay.
  await waitUntil('every page to show the reversal', 10_000, async () => {
    await env.relayAllEvents();
    const pages = await Promise.all(cells.map((cell) => env.page(cell.sessionId)));
    return pages.every(({ html }) => html.includes('was given back to your card'));
  });
}

const withoutPadding = (text: string): string => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
