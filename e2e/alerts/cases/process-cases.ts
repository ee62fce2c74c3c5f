/** Alerts of processes, databases, e-mails and pages. */
import { once } from 'node:events';
import { request } from 'node:http';
import { letTimePass } from '@svc/testing';
import { SUPERVISED_APPS } from '../../../tools/svc/processes/processes.ts';
import { callTillApi } from '../../callers/till.js';
import type { AlertCase } from '../alert-case.js';
import type { AlertDrill } from '../alert-drill.js';

/** A lock holds the statements of payers' pages for this time, which is over the limit of a slow statement. */
const LOCKED_MS = 2_500;
const READERS = 30;
const MAILS_PER_PAYMENT = 3;

const LOCK = 'LOCK TABLE merchant_retrieval.payments IN ACCESS EXCLUSIVE MODE';

/** Look-ups of a till in merchant-retrieval, whose answers are not needed. */
function lookUp({ platform }: AlertDrill, count: number): Promise<unknown> {
  const read = async (): Promise<void> => {
    const response = await callTillApi(platform, 'GET', '/payments?externalReference=none', 'application/json');
    await response.body?.cancel();
  };
  return Promise.allSettled(Array.from({ length: count }, read));
}

async function lockWhileReading(drill: AlertDrill, statement: string, read: () => Promise<unknown>): Promise<void> {
  const holder = await drill.openTransaction(statement);
  const reads = read();
  await letTimePass(LOCKED_MS);
  await holder.end();
  await reads;
}

/** A report from one of many addresses, because each address may send only some in a minute. */
async function sendReport(gatewayUrl: string, localAddress: string): Promise<void> {
  const sent = request(`${gatewayUrl}/pay/csp-reports`, {
    method: 'POST',
    localAddress,
    headers: { 'content-type': 'application/csp-report' },
  });
  sent.end('{}');
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  response.resume();
  await once(response, 'end');
}

/** Asks for receipts of a paid session. */
async function requestReceipts(drill: AlertDrill): Promise<void> {
  const [paid] = await drill.prepare(1);
  await drill.send([paid!]);
  const { gatewayUrl } = drill.platform.demo;
  for (let count = 0; count < MAILS_PER_PAYMENT; count++)
    await fetch(`${gatewayUrl}/pay/${paid!.sessionId}/receipts`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `email=payer${count}@shop.example`,
    });
}

export const PROCESS_CASES: readonly AlertCase[] = [
  {
    alert: 'SvcNoMetrics',
    how: 'all processes are frozen (SIGSTOP), so Prometheus reads none',
    cause: (drill) => {
      const apps = SUPERVISED_APPS.filter((app) => app !== 'simulated-acquirer');
      for (const app of apps) drill.freeze(app);
      return Promise.resolve({ repair: () => Promise.all(apps.map((app) => drill.thaw(app))) });
    },
  },
  {
    alert: 'SvcServiceMissing',
    how: 'console is frozen (SIGSTOP), so its metrics are missing',
    cause: (drill) => {
      drill.freeze('console');
      return Promise.resolve({
        values: { SERVICE: 'console' },
        repair: () => drill.thaw('console'),
      });
    },
  },
  {
    alert: 'SvcEventLoopBlocked',
    how: 'hosted-gateway gets the processor for only a seventh of the time (SIGSTOP and SIGCONT)',
    cause: async (drill) => {
      const until = Date.now() + 90_000;
      while (Date.now() < until) {
        drill.freeze('hosted-gateway');
        await letTimePass(1_200);
        await drill.thaw('hosted-gateway');
        await letTimePass(200);
        if ((await drill.prometheus.alerts('SvcEventLoopBlocked')).some(({ state }) => state === 'firing')) break;
      }
      return {};
    },
  },
  {
    alert: 'SvcPageContentInjected',
    how: 'browsers at several addresses send 120 reports of violations',
    cause: async (drill) => {
      for (let count = 0; count < 120; count++)
        await sendReport(drill.platform.demo.gatewayUrl, `127.0.0.${10 + (count % 4)}`);
      return {};
    },
  },
  {
    alert: 'SvcMailsNotSent',
    how: 'the SMTP server does not answer, and payers request receipts',
    cause: async (drill) => {
      for (let payments = 0; payments < 3; payments++) await requestReceipts(drill);
      return {};
    },
  },
  {
    alert: 'SvcSlowStatements',
    how: 'a transaction locks the payments of merchant-retrieval for 2.5 s while they are read, four times',
    cause: async (drill) => {
      for (let round = 0; round < 4; round++) await lockWhileReading(drill, LOCK, () => lookUp(drill, READERS));
      return {};
    },
  },
  {
    alert: 'SvcDatabasePoolExhausted',
    how: 'a transaction locks the payments of merchant-retrieval, while more readers wait than the pool has connections',
    cause: async (drill) => {
      const holder = await drill.openTransaction(LOCK);
      const reads = lookUp(drill, READERS);
      return { repair: () => Promise.all([holder.end(), reads]) };
    },
  },
  {
    alert: 'SvcLookUpsFail',
    how: 'a transaction locks the payments of merchant-retrieval for 2.5 s while they are read',
    cause: async (drill) => {
      await lockWhileReading(drill, LOCK, () => lookUp(drill, READERS));
      return {};
    },
  },
];
