/**
 * A process of payment-processor is killed (SIGKILL) just before each message of a refund to PostgreSQL or to the
 * acquirer. Only the state of PostgreSQL and of the acquirer survives. A kill after a message has the same effect as a
 * kill before the next message. Afterwards acquirer, refunds, ledger and the site's webhook agree on one refund.
 *
 * One kill can end several refunds: a proxy holds back another message of each of them until the kill.
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
    // Each refund that is held back occupies a connection.
    SVC_DATABASE_POOL_MAX: '40',
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

/** Requests a refund. Returns the names of all its messages. */
async function listMessages(call: Call): Promise<readonly string[]> {
  const replica = await startReplica();
  const messages = new RefundMessages();
  const names: string[] = [];
  watchMessages((text, connection) => {
    const name = messages.nameOf(text, connection);
    if (name !== undefined) names.push(name);
    return false;
  });
  expect((await refund(replica.url, call)).status).toBe('succeeded');
  watchMessages(() => false);
  await replica.end();
  return names;
}

/** Requests refunds, one after the other, and holds each back before the given message. Then kills the process. */
async function killBefore(stops: readonly { readonly call: Call; readonly message: number }[]): Promise<string[][]> {
  const replica = await startReplica();
  const answers: Promise<string>[] = [];
  const seen: string[][] = [];
  for (const { call, message } of stops) {
    const messages = new RefundMessages();
    const names: string[] = [];
    seen.push(names);
    const isHeld = new Promise<void>((resolve) => {
      watchMessages((text, connection) => {
        const name = names.length < message ? messages.nameOf(text, connection) : undefined;
        if (name === undefined) return false;
        names.push(name);
        if (names.length === message) resolve();
        return names.length === message;
      });
    });
    const answer = refund(replica.url, call).then(
      ({ status }) => status,
      () => 'no response',
    );
    answers.push(answer);
    await Promise.race([isHeld, answer]);
  }
  // The process is killed before its connections are cut, so that it cannot react to the cut.
  replica.kill();
  for (const proxy of [database, acquirer]) proxy.cut();
  watchMessages(() => false);
  expect(await Promise.all(answers)).toEqual(stops.map(() => 'no response'));
  await replica.end();
  return seen;
}

/** Sets which messages are held back. The acquirer's requests have no transaction, so their connection is 0. */
function watchMessages(isHeldBack: (text: string, connection: number) => boolean): void {
  database.onMessage = isHeldBack;
  acquirer.onMessage = (text) => isHeldBack(text, 0);
}

/** The client and the jobs of other processes recover the refund, as after any kill. Either of them may be first. */
async function recover(call: Call, isClientFirst: boolean): Promise<void> {
  const repeat = (): Promise<{ status: string }> => refund(platform.demo.apiUrl, call);
  if (!isClientFirst) await waitForRefunds(platform, [call.payment]);
  const { status } = await repeat();
  if (status === 'pending') await waitForRefunds(platform, [call.payment]);
  expect((await repeat()).status).toBe('succeeded');
}

interface Situation {
  readonly card: string;
  /**
   * The first and the last message before which the process is killed. The second case leaves out the messages that are
   * the same in the first: those that request the refund, and those that record its outcome.
   */
  readonly range: (names: readonly string[]) => readonly [number, number];
  /** The number of refunds that one kill ends. */
  readonly refundsPerKill: number;
}

it.each<[string, Situation]>([
  [
    'the acquirer responds',
    // The refunds are held back within a second, before a job queries the status of the first.
    { card: APPROVED, range: (names) => [1, names.length], refundsPerKill: 20 },
  ],
  [
    'the acquirer’s response is lost, and the refund’s status is queried',
    {
      card: REFUND_DROPS_THE_ANSWER,
      range: (names) => {
        const [sent, queried] = ['POST', 'GET'].map((method) =>
          names.findIndex((name) => name.includes(` ${method} `)),
        );
        return [sent! + 2, queried! + 2];
      },
      // A query follows a lost response after a second, so that refunds would be held back too long.
      refundsPerKill: 1,
    },
  ],
])(
  'when %s, a kill before any message leads to exactly one refund',
  async (situation, { card, range, refundsPerKill }) => {
    const newCall = async (): Promise<Call> => ({ payment: await payForRefund(platform, card), key: randomUUID() });
    const firstCall = await newCall();
    const all = await listMessages(firstCall);
    const [first, last] = range(all);
    expect(last - first).toBeGreaterThanOrEqual(5);
    // A later message first: a refund in a transaction, or after the acquirer's call, is not held back for long.
    const numbers = Array.from({ length: last - first + 1 }, (_, index) => last - index);
    const stops = await Promise.all(numbers.map(async (message) => ({ call: await newCall(), message })));
    for (let index = 0; index < stops.length; index += refundsPerKill) {
      const killed = stops.slice(index, index + refundsPerKill);
      expect(await killBefore(killed)).toEqual(killed.map(({ message }) => all.slice(0, message)));
      await Promise.all(killed.map(({ call, message }) => recover(call, message % 2 === 0)));
    }
    const killedBefore = all.slice(first - 1, last).map((name) => `  ${name}\n`);
    process.stdout.write(`${situation}: killed before\n${killedBefore.join('')}`);

    const references: string[] = [];
    for (const { payment } of [firstCall, ...stops.map(({ call }) => call)]) {
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
  },
);
