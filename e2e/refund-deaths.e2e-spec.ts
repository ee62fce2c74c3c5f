/**
 * A process of payment-processor is killed (SIGKILL) just before each message of a refund to PostgreSQL or to the acquirer.
 * Only their state survives; a kill after a message equals a kill before the next one. Afterwards acquirer, refunds,
 * ledger and the site's webhook agree on one refund.
 */
import { randomUUID } from 'node:crypto';
import { MerchantClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import {
  APPROVED,
  CALL_TIMEOUT_MS,
  expectRefundsToAgree,
  payForRefund,
  REFUND_DROPS_THE_ANSWER,
  waitForRefunds,
} from './books/refund-books.js';
import { BackOffice } from './callers/back-office.js';
import { httpRequests, MessageProxy, postgresStatements } from './platform/message-proxy.js';
import { Platform } from './platform/platform.js';
import { ProcessorReplica } from './platform/processor-replica.js';

const AMOUNT = 4_321;

/** Finds the messages of one refund among all messages of a process. */
class RefundMessages {
  /** Connections with an open transaction that has sent a statement of the refund. */
  private readonly transactions = new Map<number, boolean>();

  /** The message's name if it belongs to the refund. */
  nameOf(text: string, connection: number): string | undefined {
    const statement = text.replaceAll(/\s+/g, ' ').trim();
    if (/^(GET|POST) \/refunds/.test(statement)) return `the bank: ${statement.replace(/\/[0-9a-f-]{36}$/, '/…')}`;
    if (/^(START TRANSACTION|BEGIN)/.test(statement)) return void this.transactions.set(connection, false);
    const isOpen = this.transactions.has(connection);
    const isOfRefund = /refund/.test(statement) || this.transactions.get(connection) === true;
    if (/^(COMMIT|ROLLBACK)/.test(statement)) this.transactions.delete(connection);
    // The query of the job for due refunds.
    if (!isOfRefund || /SKIP LOCKED/.test(statement)) return undefined;
    if (isOpen && this.transactions.has(connection)) this.transactions.set(connection, true);
    const [, what = statement] = /^(?:WITH \w+ AS \( ?)?(.{1,60})/.exec(statement) ?? [];
    return `PostgreSQL: ${what}`;
  }
}

let platform: Platform;
let office: BackOffice;
let database: MessageProxy;
let bank: MessageProxy;
beforeAll(async () => {
  platform = await Platform.start('refund-deaths', {}, 'distributed');
  office = await BackOffice.start(platform, platform.site(0, 0));
  const variables = ProcessorReplica.variablesOf(platform);
  database = await MessageProxy.to(new URL(variables['SVC_DATABASE_URL']!), postgresStatements);
  bank = await MessageProxy.to(new URL(variables['SVC_ACQUIRER_URL']!), httpRequests);
});
afterAll(async () => {
  await platform?.stop();
  office?.stop();
  database?.close();
  bank?.close();
});

const startReplica = (): Promise<ProcessorReplica> => {
  for (const proxy of [database, bank]) proxy.mend();
  return ProcessorReplica.start(platform, { SVC_DATABASE_URL: database.url, SVC_ACQUIRER_URL: bank.url });
};
const clientOf = (apiUrl: string): MerchantClient => {
  const { merchantId, apiKey } = platform.site(0, 0).merchant;
  return new MerchantClient({ apiUrl, merchantId, apiKey, timeoutMs: CALL_TIMEOUT_MS });
};

interface Call {
  readonly payment: string;
  readonly key: string;
}
const refund = (apiUrl: string, { payment, key }: Call) =>
  clientOf(apiUrl).refund(payment, { idempotencyKey: key, amount: AMOUNT });

/**
 * Calls for a refund, and kills the process before the nth message of it.
 *
 * @returns the names of the messages up to and including that one; all of them if `nth` is 0
 */
async function callAndKill(replica: ProcessorReplica, call: Call, nth: number): Promise<readonly string[]> {
  const messages = new RefundMessages();
  const names: string[] = [];
  const watch = (text: string, connection: number): void => {
    const name = messages.nameOf(text, connection);
    if (name === undefined || (nth > 0 && names.length === nth)) return;
    names.push(name);
    if (names.length !== nth) return;
    // In this order, so that the dying process gets no reaction of the others.
    replica.kill();
    for (const proxy of [database, bank]) proxy.cut();
  };
  database.onMessage = watch;
  bank.onMessage = (text) => watch(text, 0);
  const answer = await refund(replica.url, call).then(
    ({ status }) => status,
    () => 'no answer',
  );
  for (const proxy of [database, bank]) proxy.onMessage = () => undefined;
  expect(answer).toBe(nth === 0 ? 'succeeded' : 'no answer');
  await replica.end();
  return names;
}

/** Client and jobs of other processes recover as after any kill, in either order. */
async function recover(call: Call, clientFirst: boolean): Promise<void> {
  const repeat = (): Promise<{ status: string }> => refund(platform.demo.apiUrl, call);
  if (!clientFirst) await waitForRefunds(platform, [call.payment]);
  const { status } = await repeat();
  if (status === 'pending') await waitForRefunds(platform, [call.payment]);
  expect((await repeat()).status).toBe('succeeded');
}

it.each([
  ['the bank answers', APPROVED, 0],
  ['the bank’s answer is lost, and its status is queried', REFUND_DROPS_THE_ANSWER, 1],
])('%s: a kill before any message leaves one refund', async (what, card, from) => {
  const calls: Call[] = [];
  const newCall = async (): Promise<Call> => {
    const call = { payment: await payForRefund(platform, card), key: randomUUID() };
    calls.push(call);
    return call;
  };
  const all = await callAndKill(await startReplica(), await newCall(), 0);
  // The messages before the acquirer's first answer are the same in both cases.
  const first = from === 0 ? 1 : all.findIndex((name) => name.startsWith('the bank')) + 2;
  expect(all.length).toBeGreaterThanOrEqual(first + 5);
  for (let nth = first; nth <= all.length; nth++) {
    const [replica, call] = await Promise.all([startReplica(), newCall()]);
    const seen = await callAndKill(replica, call, nth);
    expect(seen).toEqual(all.slice(0, nth));
    await recover(call, nth % 2 === 0);
  }
  process.stdout.write(
    `${what}: killed before\n${all
      .slice(first - 1)
      .map((name) => `  ${name}\n`)
      .join('')}`,
  );

  const references: string[] = [];
  for (const { payment } of calls) {
    const books = await expectRefundsToAgree(platform, payment);
    expect([books.bank.length, books.bankAmount]).toEqual([1, AMOUNT]);
    references.push(...books.bank);
  }
  await waitUntil('the webhook of every refund', 60_000, () =>
    Promise.resolve(references.every((reference) => office.refunds().has(reference))),
  );
  for (const reference of references) {
    const { id, refund: refund } = office.refunds().get(reference)!;
    expect([id, refund.status, refund.amount]).toEqual([reference, 'succeeded', AMOUNT]);
  }
});
