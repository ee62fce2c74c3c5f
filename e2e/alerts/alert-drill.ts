/** Causes the condition of an alert, waits until it fires, follows its runbook, and waits until it is resolved. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findFreePort, waitUntil } from '@svc/testing';
import type pg from 'pg';
import type { SupervisedAppName } from '../../tools/svc/processes/processes.ts';
import { ADYEN_APPROVED, ADYEN_CARD, AdyenEmulator } from '../callers/adyen-emulator.js';
import { createSessions, gatewayClient } from '../callers/merchant.js';
import { type Answer, MerchantEndpoint } from '../callers/merchant-endpoint.js';
import { type PayAnswer, type PayRequest, preparePayRequest, sendPayRequest } from '../callers/payer.js';
import { Platform } from '../platform/platform.js';
import { rabbitmqctl } from '../platform/rabbitmqctl.js';
import type { AlertCase, Caused, Values } from './alert-case.js';
import { ObservedPrometheus } from './observed-prometheus.js';
import { commandsOf, fillIn, findRunbook, logLinesOf, type RunbookCommand } from './runbook.js';

const FIRING_MS = 150_000;
const RESOLVED_MS = 240_000;
const SPACES = /\s/g;

export interface DrillResult {
  readonly alert: string;
  readonly how: string;
  readonly firingSeconds?: number;
  readonly resolvedSeconds?: number;
  /** The commands that were run, and the steps that a person takes elsewhere. */
  readonly steps: readonly string[];
}

export class AlertDrill {
  /** The answer of the merchant to a webhook. */
  answer: Answer = 200;
  readonly emulator: AdyenEmulator;
  private readonly clients: pg.Client[] = [];
  private readonly acceptingServer = createServer((request, response) => {
    request.resume();
    response.end();
  }).listen(0, '127.0.0.1');
  private readonly stopped = new Set<number>();

  private constructor(
    readonly platform: Platform,
    readonly endpoint: MerchantEndpoint,
    readonly prometheus: ObservedPrometheus,
  ) {
    this.emulator = new AdyenEmulator(platform.adyenEmulatorUrl);
  }

  static async start(): Promise<AlertDrill> {
    // An SMTP server that does not answer: nothing listens on its port.
    const settings = {
      SVC_SMTP_URL: `smtp://127.0.0.1:${await findFreePort()}`,
      // A stopped acquirer is noticed soon, and a payment of the last moment is not too young to be compared.
      SVC_ACQUIRER_TIMEOUT_MS: '5000',
      SVC_RECONCILIATION_GRACE_MS: '500',
      SVC_VELOCITY_LIMITS_TEST: 'on',
      SVC_CHALLENGE_NUMBERS: '10',
    };
    const options = ['--acquirer', 'adyen-emulator', '--observe'];
    const platform = await Platform.start('alerts', settings, 'distributed', options);
    const prometheus = await ObservedPrometheus.prepare(platform);
    const endpoint = await MerchantEndpoint.start(platform.site(0, 0).webhookSecret, () => drill.answer);
    const drill = new AlertDrill(platform, endpoint, prometheus);
    return drill;
  }

  async stop(): Promise<void> {
    await this.undo();
    this.endpoint.release();
    await this.platform.stop();
    await this.endpoint.stop();
    this.acceptingServer.close();
  }

  /** A server that acknowledges everything. */
  get acceptingUrl(): string {
    return `http://127.0.0.1:${(this.acceptingServer.address() as AddressInfo).port}/`;
  }

  /** Ends everything that a failed case has left: stopped processes, open transactions, faults. */
  async undo(): Promise<void> {
    this.answer = 200;
    for (const pid of this.stopped) process.kill(pid, 'SIGCONT');
    this.stopped.clear();
    for (const client of this.clients.splice(0)) await client.end().catch(() => undefined);
    await this.emulator.clearFaults().catch(() => undefined);
    if (!(await this.platform.isReady())) await this.platform.up();
    await waitUntil('all services to be ready', 60_000, () => this.platform.isReady());
  }

  async run(alertCase: AlertCase): Promise<DrillResult> {
    const { alert } = alertCase;
    if ('notCaused' in alertCase) {
      return this.report({ alert, how: `not caused: ${alertCase.notCaused}`, steps: [] });
    }
    await this.waitUntilResolved(alert);
    const logFrom = this.platform.log().length;
    const causedAt = Date.now();
    const caused = await alertCase.cause(this);
    await waitUntil(`${alert} to fire`, FIRING_MS, async () =>
      (await this.prometheus.alerts(alert)).some(({ state }) => state === 'firing'),
    );
    const firingAt = Date.now();
    const steps = await this.follow(alert, caused, logFrom);
    const repairedAt = Date.now();
    await this.waitUntilResolved(alert);
    return this.report({
      alert,
      how: alertCase.how,
      firingSeconds: (firingAt - causedAt) / 1_000,
      resolvedSeconds: (Date.now() - repairedAt) / 1_000,
      steps,
    });
  }

  private report(result: DrillResult): DrillResult {
    // Not only at the end: the drill takes an hour.
    process.stdout.write(formatResult(result));
    return result;
  }

  /** Prepares payments of the first demo site, in the browser's form. */
  async prepare(count: number, card = ADYEN_APPROVED, holderName?: string): Promise<PayRequest[]> {
    const sessions = await createSessions(gatewayClient(this.platform), count, this.endpoint.url);
    return Promise.all(sessions.map(({ redirectUrl }) => this.preparePage(redirectUrl, card, holderName)));
  }

  preparePage(redirectUrl: string, card = ADYEN_APPROVED, holderName?: string): Promise<PayRequest> {
    const { cvv } = ADYEN_CARD;
    const changes = { cvv, expiryMonth: 3, expiryYear: 2030, ...(holderName === undefined ? {} : { holderName }) };
    return preparePayRequest(redirectUrl, card.replaceAll(SPACES, ''), changes);
  }

  /** Payments whose answer was lost are missing. */
  async send(requests: readonly PayRequest[]): Promise<PayAnswer[]> {
    const { gatewayUrl } = this.platform.demo;
    const answers = await Promise.allSettled(requests.map((one) => sendPayRequest(gatewayUrl, one)));
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  /** Pays successfully, and returns the reference of the payment at the acquirer. */
  async pay(): Promise<string> {
    const [request] = await this.prepare(1);
    await this.paySuccessfully(request!);
    return this.referenceOf(request!);
  }

  async paySuccessfully(request: PayRequest): Promise<void> {
    const [answer] = await this.send([request]);
    if (answer?.state !== 'succeeded') throw new Error(`The payment was not successful: ${JSON.stringify(answer)}`);
  }

  async referenceOf({ sessionId }: PayRequest): Promise<string> {
    const [row] = await this.platform.sql<{ reference: string }>(
      `SELECT payment_reference AS reference FROM payment_processor.payments WHERE payable_id = $1 ORDER BY accepted_at DESC LIMIT 1`,
      [sessionId],
    );
    if (row === undefined) throw new Error('The session has no payment.');
    return row.reference;
  }

  /** Runs `./svc admin …`. Throws if it fails. */
  async admin(...args: string[]): Promise<string> {
    const { code, output } = await this.platform.svc('admin', ...args);
    if (code !== 0) throw new Error(`./svc admin ${args.join(' ')} failed (${code}):\n${output}`);
    return output;
  }

  /** Stops a process as if it had no processor: connections stay open, and nothing responds. */
  freeze(app: SupervisedAppName): void {
    const { pid } = this.platform.process(app);
    process.kill(pid, 'SIGSTOP');
    this.stopped.add(pid);
  }

  thaw(app: SupervisedAppName): Promise<void> {
    const { pid } = this.platform.process(app);
    process.kill(pid, 'SIGCONT');
    this.stopped.delete(pid);
    return Promise.resolve();
  }

  /** A transaction that stays open, with the result of a statement such as LOCK TABLE. */
  async openTransaction(statement: string): Promise<{ readonly pid: string; readonly end: () => Promise<void> }> {
    const client = await this.platform.sqlClient();
    this.clients.push(client);
    // A limit of the server would end the transaction before the alert fires.
    await client.query('SET idle_in_transaction_session_timeout = 0');
    await client.query('BEGIN');
    await client.query(statement);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return { pid: String(rows[0]!.pid), end: () => client.end() };
  }

  private async waitUntilResolved(alert: string): Promise<void> {
    await waitUntil(
      `${alert} to be resolved`,
      RESOLVED_MS,
      async () => (await this.prometheus.alerts(alert)).length === 0,
    );
  }

  /** Follows the runbook: the commands of "Look at", the repair, then the commands of "Do". Returns the steps. */
  private async follow(alert: string, caused: Caused, logFrom: number): Promise<string[]> {
    const runbook = findRunbook(alert);
    const log = this.platform.log(logFrom);
    const steps: string[] = [];
    for (const line of logLinesOf(runbook)) {
      if (!log.includes(line)) throw new Error(`The log has no line "${line}", to which the runbook refers.`);
      steps.push(`log: ${line}`);
    }
    const { values = {}, isBrokerDown = false, repair, afterwards } = caused;
    const filled = typeof values === 'function' ? await values() : values;
    const look = commandsOf(runbook.look).filter(({ kind }) => !(isBrokerDown && kind === 'rabbitmqctl'));
    steps.push(...(await this.execute(look, filled)));
    if (repair !== undefined) {
      await repair();
      steps.push('repair');
    }
    steps.push(...(await this.execute(commandsOf(runbook.act), filled)));
    if (afterwards !== undefined) {
      await afterwards();
      steps.push('afterwards');
    }
    return steps;
  }

  private async execute(commands: readonly RunbookCommand[], values: Values): Promise<string[]> {
    const steps: string[] = [];
    for (const command of commands) {
      const text = fillIn(command, values);
      if (text === undefined) continue;
      await this.executeOne(command.kind, text);
      steps.push(text);
    }
    return steps;
  }

  private async executeOne(kind: RunbookCommand['kind'], text: string): Promise<string> {
    if (kind === 'sql') return JSON.stringify(await this.platform.sql(text));
    // The demo has the mode "test" only.
    const [, ...args] = text.split(' ').filter((word) => word !== '--live');
    if (kind === 'rabbitmqctl') return rabbitmqctl(this.platform, ...args);
    const { code, output } = await this.platform.svc(...args);
    // A reconciliation that finds a difference and a status that is not ready exit with 1, and have their tables.
    if (code !== 0 && !/^\.\/svc (?:admin reconcile|status)/.test(text))
      throw new Error(`${text} failed (${code}):\n${output}`);
    return output;
  }

  /** The environment of a service of the platform. */
  variable(app: string, name: string): string {
    const line = readFileSync(join(this.platform.dataDir, 'env', `${app}.env`), 'utf8')
      .split('\n')
      .find((one) => one.startsWith(`${name}=`));
    if (line === undefined) throw new Error(`${app} has no ${name}`);
    return line.slice(name.length + 1).replace(/^(['"])(.*)\1$/, '$2');
  }
}

function formatResult({ alert, how, firingSeconds, resolvedSeconds, steps }: DrillResult): string {
  const seconds = (value: number | undefined): string => (value === undefined ? '-' : value.toFixed(0));
  return (
    `${alert}\n  ${how}\n  firing after ${seconds(firingSeconds)} s, resolved after ${seconds(resolvedSeconds)} s\n` +
    steps.map((step) => `    ${step}\n`).join('')
  );
}
