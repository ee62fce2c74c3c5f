/**
 * A process of payment-processor is killed (SIGKILL) just before each message of a refund to PostgreSQL or to the
 * acquirer. Only the state of PostgreSQL and of the acquirer survives. A kill after a message has the same effect as a
 * kill before the next message. Afterwards acquirer, refunds, ledger and the site's webhook agree on one refund.
 */
import { randomUUID } from 'node:crypto';
import { MerchantClient } from '@svc/sdk';
import { waitUntil } from '@svc/testing';
import { BackOffice } from './callers/back-office.js';
import {
  APPROVED,
  CALL_TIMEOUT_MS,
  expectConsistentRefunds,
  payForRefund,
  REFUND_DROPS_THE_ANSWER,
  waitForRefunds,
} from './consistency/refund-records.js';
import { httpRequests, MessageProxy, postgresStatements } from './platform/message-proxy.js';
import type { Platform } from './platform/platform.js';
import { ServiceReplica } from './platform/service-replica.js';
import { sharedPlatform } from './platform/shared-platform.js';

const AMOUNT = 4_321;

/** Finds the messages of one refund among all messages of a process. */
class RefundMessages {
  /** Connections with an open transaction; true if the transaction has sent a statement of the refund. */
  private readonly transactions = new Map<number, boolean>();

  /** Returns the message's name, or undefined if the message does not belong to the refund. */
  nameOf(text: string, connection: number): string | undefined {
    const statement = text.replaceAll(/\s+/g, ' ').trim();
    if (/^(GET|POST) \/refunds/.test(statement)) return `acquirer: ${statement.replace(/\/[0-9a-f-]{36}$/, '/…')}`;
    if (/^(START TRANSACTION|BEGIN)/.test(statement)) return void this.transactions.set(connection, false);
    const isOpen = this.transactions.has(connection);
    const isOfRefund = /refund/.test(statement) || this.transactions.get(connection) === true;
    if (/^(COMMIT|ROLLBACK)/.test(statement)) this.transactions.delete(connection);
    // SKIP LOCKED is in the query of the job for due refunds.
    if (!isOfRefund || /SKIP LOCKED/.test(statement)) return undefined;
    if (isOpen && this.transactions.has(connection)) this.transactions.set(connection, true);
    const [, what = statement] = /^(?:WITH \w+ AS \( ?)?(.{1,60})/.exec(statement) ?? [];
    return `PostgreSQL: ${what}`;
  }
}

let platform: Platform;
let backOffice: BackOffice;
let database: MessageProxy;
let acquirer: MessageProxy;
beforeAll(async () => {
  platform = await sharedPlatform('distributed');
  backOffice = await BackOffice.start(platform, platform.site(0, 0));
  const variables = ServiceReplica.variablesOf(platform, 'payment-processor');
  database = await MessageProxy.to(new URL(variables['SVC_DATABASE_URL']!), postgresStatements);
  acquirer = await MessageProxy.to(new URL(variables['SVC_ACQUIRER_URL']!), httpRequests);
});
afterAll(() => {
  backOffice?.stop();
  database?.close();
  acquirer?.close();
});

const startReplica = (): Promise<ServiceReplica> => {
  for (const proxy of [database, acquirer]) proxy.restore();
  return ServiceReplica.start(platform, 'payment-processor', {
    SVC_DATABASE_URL: database.url,
    SVC_ACQUIRER_URL: acquirer.url,
  });
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
 * Requests a refund, and kills the process before the nth message of the refund.
 *
 * @returns the names of the messages up to the nth message; the names of all messages if `nth` is 0
 */
async function callAndKill(replica: ServiceReplica, call: Call, nth: number): Promise<readonly string[]> {
  const messages = new RefundMessages();
  const names: string[] = [];
  const watch = (text: string, connection: number): void => {
    const name = messages.nameOf(text, connection);
    if (name === undefined || (nth > 0 && names.length === nth)) return;
    names.push(name);
    if (names.length !== nth) return;
    // The process is killed before the connections are cut, so that it cannot react to the cut.
    replica.kill();
    for (const proxy of [database, acquirer]) proxy.cut();
  };
  database.onMessage = watch;
  acquirer.onMessage = (text) => watch(text, 0);
  const answer = await refund(replica.url, call).then(
    ({ status }) => status,
    () => 'no response',
  );
  for (const proxy of [database, acquirer]) proxy.onMessage = () => undefined;
  expect(answer).toBe(nth === 0 ? 'succeeded' : 'no response');
  await replica.end();
  return names;
}

/** The client and the jobs of other processes recover the refund, as after any kill. Either of them may be first. */
async function recover(call: Call, isClientFirst: boolean): Promise<void> {
  const repeat = (): Promise<{ status: string }> => refund(platform.demo.apiUrl, call);
  if (!isClientFirst) await waitForRefunds(platform, [call.payment]);
  const { status } = await repeat();
  if (status === 'pending') await waitForRefunds(platform, [call.payment]);
  expect((await repeat()).status).toBe('succeeded');
}

// In each turn, the service is killed before one of the messages that it exchanges with PostgreSQL and the acquirer.
it.each([
  ['the acquirer responds', APPROVED, 0],
  ['the acquirer’s response is lost, and the refund’s status is queried', REFUND_DROPS_THE_ANSWER, 1],
])('when %s, a kill before any message leads to exactly one refund', async (situation, card, caseIndex) => {
  const calls: Call[] = [];
  const newCall = async (): Promise<Call> => {
    const call = { payment: await payForRefund(platform, card), key: randomUUID() };
    calls.push(call);
    return call;
  };
  const all = await callAndKill(await startReplica(), await newCall(), 0);
  // The messages before the acquirer's first answer are the same in both cases, so the second case leaves them out.
  const first = caseIndex === 0 ? 1 : all.findIndex((name) => name.startsWith('acquirer')) + 2;
  expect(all.length).toBeGreaterThanOrEqual(first + 5);
  for (let nth = first; nth <= all.length; nth++) {
    const [replica, call] = await Promise.all([startReplica(), newCall()]);
    const seen = await callAndKill(replica, call, nth);
    expect(seen).toEqual(all.slice(0, nth));
    await recover(call, nth % 2 === 0);
  }
  process.stdout.write(
    `${situation}: killed before\n${all
      .slice(first - 1)
      .map((name) => `  ${name}\n`)
      .join('')}`,
  );

  const references: string[] = [];
  for (const { payment } of calls) {
    const records = await expectConsistentRefunds(platform, payment);
    expect([records.acquirer.length, records.acquirerAmount]).toEqual([1, AMOUNT]);
    references.push(...records.acquirer);
  }
  await waitUntil('the webhook of every refund', 60_000, () =>
    Promise.resolve(references.every((reference) => backOffice.refunds().has(reference))),
  );
  for (const reference of references) {
    const { id, refund: refund } = backOffice.refunds().get(reference)!;
    expect([id, refund.status, refund.amount]).toEqual([reference, 'succeeded', AMOUNT]);
  }
});
