/**
 * Combines every fault of the bank and of the network with every action of the payer. Each combination leads to at most
 * one charge that is not reversed, and the page shows that charge. The test compares the table that it prints with
 * docs/never-pay-twice.md.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModulesContainer } from '@nestjs/core';
import { PATIENCE, waitUntil } from '@svc/testing';
import { type BankAndPlatform, type PageSnapshot, startBankAndPlatform } from '../test/bank-and-platform.js';
import { type Fault, FAULTS } from '../test/unreliable-acquirer.js';

const PAYER_ACTIONS = ['reloads', 'has a second tab', 'leaves'] as const;
type PayerAction = (typeof PAYER_ACTIONS)[number];
const CHARGES_AFTER_REVERSAL: Fault = 'approves after it confirmed the reversal';
const FIRST_AMOUNT = 10_000;
/** Each fault has its own range of amounts, so the simulated bank finds the fault by the amount. */
const AMOUNTS_PER_FAULT = 100;
/**
 * Timeout of a call to the acquirer. It is longer than the recovery job needs to find that a charge has not arrived, so
 * that the service still receives a late response. The service accepts less than 10 s.
 */
const ACQUIRER_TIMEOUT_MS = Math.min(4_000 * PATIENCE, 9_000);

/** One cell of the table: a fault, an action of the payer, and the session in which the test combines them. */
interface Cell {
  readonly fault: Fault;
  readonly payer: PayerAction;
  /** Cents. Different in each cell, so that its charges can be found in the bank's records. */
  readonly amount: number;
  readonly sessionId: string;
  readonly pendingPayments: Promise<void>[];
  attempts: number;
}

let testbed: BankAndPlatform;
/** Amounts that were charged once. The second charge of an amount has no fault. */
const chargedAmounts = new Set<number>();
const takeFault = (amount: number): Fault | undefined => {
  if (chargedAmounts.has(amount)) return undefined;
  chargedAmounts.add(amount);
  return FAULTS[Math.floor((amount - FIRST_AMOUNT) / AMOUNTS_PER_FAULT)];
};
beforeAll(async () => {
  testbed = await startBankAndPlatform(takeFault, ACQUIRER_TIMEOUT_MS);
  keepCircuitClosed();
});
afterAll(() => testbed.stop());

/** So many faults at the same time would open the circuit to the bank, and then no charge would reach the bank. */
function keepCircuitClosed(): void {
  const modules = [...testbed.processor.service.app.get(ModulesContainer).values()];
  const provider = modules
    .flatMap(({ providers }) => [...providers.values()])
    .find(({ name }) => name === 'AcquirerCircuits')!;
  const closed = { execute: (charge: () => unknown) => charge(), state: 'closed' };
  Object.assign(provider.instance as object, { get: () => closed });
}

async function createCells(faults: readonly Fault[]): Promise<Cell[]> {
  const kinds = faults.flatMap((fault) => PAYER_ACTIONS.map((payer) => ({ fault, payer })));
  return Promise.all(
    kinds.map(async ({ fault, payer }) => {
      const amount = FIRST_AMOUNT + AMOUNTS_PER_FAULT * FAULTS.indexOf(fault) + PAYER_ACTIONS.indexOf(payer);
      return { fault, payer, amount, sessionId: await testbed.createSession(amount), pendingPayments: [], attempts: 0 };
    }),
  );
}

function pay(cell: Cell, page: PageSnapshot): void {
  cell.attempts++;
  cell.pendingPayments.push(testbed.pay(page));
}

/** Advances the clock, and waits until the recovery job has queried the bank about every attempt that is due. */
async function advance(seconds: number): Promise<void> {
  testbed.clock.advance(seconds * 1_000);
  await waitForRecovery();
}

async function waitForRecovery(): Promise<void> {
  await waitUntil('the recovery job to process all due attempts', 20_000, async () => {
    const [row] = await testbed.processor.dataSource.query<{ due: number }[]>(
      `SELECT count(*) AS due FROM attempts WHERE next_query_at <= $1`,
      [testbed.clock.now()],
    );
    return row?.due === 0;
  });
  await testbed.relayAllEvents();
}

/** The states that a page may show, derived from the payable's state in payment-processor's table. */
async function expectedStates(cell: Cell): Promise<string[]> {
  const [row] = await testbed.processor.dataSource.query<{ state: string }[]>(
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
  const page = await testbed.loadPage(cell.sessionId);
  await testbed.relayAllEvents();
  // Load the page again, because the first load may have queried the result from the bank.
  const reloadedPage = await testbed.loadPage(cell.sessionId);
  expect([cell.fault, cell.payer, await expectedStates(cell)]).toEqual([
    cell.fault,
    cell.payer,
    expect.arrayContaining([reloadedPage.state]),
  ]);
  // No page may show a form while the bank holds a charge, except when the bank charged after it confirmed the
  // reversal.
  if (page.html.includes('<form id="pay-form"') && cell.fault !== CHARGES_AFTER_REVERSAL)
    expect(testbed.chargeCount(cell.amount)).toBe(0);
  return reloadedPage;
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

async function describeOutcome(cell: Cell): Promise<string> {
  const { state } = await loadPage(cell);
  const isPaid = state === 'succeeded' || state === 'already-paid';
  expect([cell.fault, cell.payer, testbed.chargeCount(cell.amount)]).toEqual([cell.fault, cell.payer, isPaid ? 1 : 0]);
  const [processorRow] = await testbed.processor.dataSource.query<
    { captures: number; reversed: number; reason: string | null }[]
  >(
    `SELECT count(t.transfer_id) AS captures, max(p.errors->0->>'errorReference') AS reason,
            (SELECT count(*) FROM attempts a JOIN payments o USING (payment_id) WHERE o.payable_id = $1 AND a.state = 'reversed') AS reversed
       FROM payments p LEFT JOIN transfers t ON t.payment_id = p.payment_id AND t.kind = 'capture' WHERE p.payable_id = $1`,
    [cell.sessionId],
  );
  expect(processorRow?.captures).toBe(isPaid ? 1 : 0);
  expect(processorRow?.reversed).toBe(testbed.reversalCount(cell.amount));
  const failed = processorRow?.reason
    ? `failed (${processorRow.reason})${testbed.reversalCount(cell.amount) > 0 ? ', reversed' : ''}`
    : '';
  const paid = isPaid ? 'one charge' : '';
  return [failed, paid].filter(Boolean).join(', then ');
}

test('every fault with every action of the payer leads to at most one charge, which the page shows', async () => {
  const cells = await createCells(FAULTS.filter((fault) => fault !== CHARGES_AFTER_REVERSAL));
  for (const cell of cells) pay(cell, await testbed.loadPage(cell.sessionId));
  // Until payment-processor has received a payment, the page correctly shows a form.
  await waitUntil('payment-processor to receive every payment', 20_000, async () => {
    const [arrived] = await testbed.processor.dataSource.query<{ count: number }[]>(
      `SELECT count(DISTINCT payable_id) FROM payments WHERE payable_id = ANY ($1)`,
      [cells.map(({ sessionId }) => sessionId)],
    );
    return Number(arrived?.count) === cells.length;
  });
  // No page shows a form while the charge is in flight.
  for (const cell of cells.filter(({ payer }) => payer !== 'leaves'))
    expect((await testbed.loadPage(cell.sessionId)).html).not.toContain('<form');
  await Promise.all(cells.flatMap(({ pendingPayments }) => pendingPayments));
  await testbed.relayAllEvents();
  await loadAllPages(cells);
  // The recovery job queries the bank at fixed times. The steps reach all these times, and last 15.5 minutes together.
  for (const seconds of [2, 3, 5, 10, 40, 240, 600, 30]) {
    await advance(seconds);
    if (seconds === 3) testbed.acquirer.release('very slow: arrives after 5 s');
    if (seconds === 10) testbed.acquirer.release('very slow: arrives after 20 s');
    await loadAllPages(cells);
  }
  await waitForRecovery();

  const chargedAfterReversal = await createCells([CHARGES_AFTER_REVERSAL]);
  // One cell at a time, because the bank must respond before the real timeout of the call, also on a busy machine.
  for (const cell of chargedAfterReversal) await testChargeAfterReversal(cell);

  const rows: string[] = [];
  for (const fault of FAULTS) {
    const cellsOfFault = [...cells, ...chargedAfterReversal].filter((cell) => cell.fault === fault);
    const outcomes: string[] = [];
    for (const cell of cellsOfFault) outcomes.push(await describeOutcome(cell));
    rows.push(`| ${fault} | ${outcomes.join(' | ')} |`);
  }
  const table = [`| The bank | The payer ${PAYER_ACTIONS.join(' | ')} |`, '| --- | --- | --- | --- |', ...rows].join(
    '\n',
  );
  process.stdout.write(`\n${table}\n`);
  const documented = readFileSync(join(import.meta.dirname, '../../../docs/never-pay-twice.md'), 'utf8');
  expect(withoutPadding(documented)).toContain(withoutPadding(table));
});

/** The bank confirms the reversal of an unknown charge, then makes that charge and responds to the original request. */
async function testChargeAfterReversal(cell: Cell): Promise<void> {
  pay(cell, await testbed.loadPage(cell.sessionId));
  await waitUntil('the attempt to start', 5_000, async () => {
    const [row] = await testbed.processor.dataSource.query<{ begun: number }[]>(
      `SELECT count(*) AS begun FROM attempts WHERE state = 'started'`,
    );
    return row?.begun === 1;
  });
  await advance(10);
  await loadAllPages([cell]);
  testbed.acquirer.release(CHARGES_AFTER_REVERSAL);
  await Promise.all(cell.pendingPayments);
  await waitUntil('the bank to confirm the reversal', 10_000, async () => {
    const [row] = await testbed.processor.dataSource.query<{ open: number }[]>(
      `SELECT count(*) AS open FROM reversals WHERE confirmed_at IS NULL`,
    );
    return row?.open === 0;
  });
  // Relay repeatedly: the event of the reversal may be written after the relay.
  await waitUntil('the page to show the reversal', 10_000, async () => {
    await testbed.relayAllEvents();
    return (await testbed.loadPage(cell.sessionId)).html.includes('was refunded to your card');
  });
}

const withoutPadding = (text: string): string => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
