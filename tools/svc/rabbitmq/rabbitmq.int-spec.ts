import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfirmChannel, connect } from 'amqplib';
import { MESSAGING_SERVICES } from '../../../libs/contracts/src/service-messages.ts';
import { readJson } from '../base/files.ts';
import { findIdentity, isAlive } from '../base/process-identity.ts';
import { findFreePort, isListening } from '../processes/ports.ts';
import type { Secrets } from '../settings/secrets.ts';
import { tryLogin } from './amqp-login.ts';
import { type RabbitMqPlan, startRabbitMq } from './rabbitmq.ts';
import { findRabbitMqBinaries, type RabbitMqBinaries } from './rabbitmq-binaries.ts';
import { type BrokerFile, brokerFilePath, findRabbitMq, stopRabbitMq } from './rabbitmq-process.ts';
import { definitionsOf } from './rabbitmq-users.ts';

const QUEUE = 'durable-queue';

/** The tests share one broker, because each start of a broker takes seconds. */
describe('the RabbitMQ server of ./svc', () => {
  const password = 'a-password_of-some-length';
  const passwordsOfServices = Object.fromEntries(MESSAGING_SERVICES.map((name) => [name, `password-of-${name}`]));
  let folder: string;
  let plan: RabbitMqPlan;
  let binaries: RabbitMqBinaries;

  beforeAll(async () => {
    const found = findRabbitMqBinaries();
    if (found === undefined) throw new Error('RabbitMQ is not installed; ./svc test installs it');
    binaries = found;
    folder = mkdtempSync(join(tmpdir(), 'svc-rabbitmq-')); // Mode 700.
    plan = {
      directory: join(folder, 'rabbitmq'),
      port: await findFreePort(),
      password,
      logFile: join(folder, 'log', 'rabbitmq.log'),
      definitions: definitionsWith(passwordsOfServices),
    };
  });

  afterAll(async () => {
    await stopRabbitMq(plan.directory);
    rmSync(folder, { recursive: true, force: true });
  });

  function definitionsWith(passwords: Record<string, string>): string {
    const users = { vhost: '/', administrator: { name: 'svc', password } };
    return JSON.stringify(definitionsOf({ ...users, passwords: passwords as Secrets['brokerPasswords'] }));
  }

  const readEpmdRecord = () => (readJson(brokerFilePath(plan.directory)) as BrokerFile).epmd;
  const urlOf = (user: string) => `amqp://${user}@127.0.0.1:${plan.port}`;

  it('is created by the first start, and found by the next start', async () => {
    await startRabbitMq(plan, binaries);
    const first = findRabbitMq(plan.directory);
    expect(first).toMatchObject({ port: plan.port, container: undefined });
    await startRabbitMq(plan, binaries);
    expect(findRabbitMq(plan.directory)).toEqual(first);
  });

  it('accepts only its own users, and only the owner of its folder can read the passwords', async () => {
    const { url } = await startRabbitMq(plan, binaries);
    expect(await tryLogin(url)).toBe('accepted');
    expect(await tryLogin(urlOf('svc-identity:password-of-identity'))).toBe('accepted');
    expect(await tryLogin(urlOf('guest:guest'))).toBe('refused');
    expect(await tryLogin(urlOf('svc:another-password'))).toBe('refused');
    for (const file of ['rabbitmq.conf', 'definitions.json'])
      expect(statSync(join(plan.directory, file)).mode & 0o077).toBe(0);
    await expect(startRabbitMq({ ...plan, password: 'another-password' }, binaries)).rejects.toThrow(/secrets\.json/);
  });

  it('restarts when the users of the services change, and its queues then contain the same messages', async () => {
    const { url } = await startRabbitMq(plan, binaries);
    await sendConfirmed(url);
    plan = { ...plan, definitions: definitionsWith({ ...passwordsOfServices, identity: 'another' }) };
    await startRabbitMq(plan, binaries);
    expect(await tryLogin(urlOf('svc-identity:password-of-identity'))).toBe('refused');
    expect(await tryLogin(urlOf('svc-identity:another'))).toBe('accepted');
    expect(await receive(url)).toBe('content');
  });

  it('has all confirmed messages after a kill -9 and a start on another port', async () => {
    // RabbitMQ confirms a message after it has written the message to disk. It confirms a new queue before it has
    // written the queue. The restart in the test above has written the queue.
    await sendConfirmed((await startRabbitMq(plan, binaries)).url);
    const epmd = readEpmdRecord();
    process.kill(findRabbitMq(plan.directory)?.pid ?? 0, 'SIGKILL');
    plan = { ...plan, port: await findFreePort() };
    const { url } = await startRabbitMq(plan, binaries);
    expect(findRabbitMq(plan.directory)?.port).toBe(plan.port);
    expect(await receive(url)).toBe('content');
    expect(epmd && isAlive(epmd.process.pid, epmd.process.identity)).toBe(false);
  });

  it('continues to run without its name server, and when it stops, no name server remains', async () => {
    const { url } = await startRabbitMq(plan, binaries);
    const epmd = readEpmdRecord();
    process.kill(epmd?.process.pid ?? 0, 'SIGKILL');
    expect(await tryLogin(url)).toBe('accepted');
    const pid = findRabbitMq(plan.directory)?.pid ?? 0;
    expect(await stopRabbitMq(plan.directory)).toBe('stopped');
    expect(findIdentity(pid)).toBeUndefined();
    expect(await isListening('127.0.0.1', epmd?.port ?? 0)).toBe(false);
    expect(await stopRabbitMq(plan.directory)).toBe('was not running');
    expect(await tryLogin(url)).toBe('no answer');
  });

  it('reports that its port is in use, and then does not run', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    try {
      await expect(startRabbitMq({ ...plan, port }, binaries)).rejects.toThrow(/RabbitMQ did not start: .*eaddrinuse/i);
      expect(findRabbitMq(plan.directory)).toBeUndefined();
    } finally {
      holder.close();
    }
  });
});

type Use<T> = (channel: ConfirmChannel) => Promise<T>;

async function withChannel<T>(url: string, use: Use<T>): Promise<T> {
  const connection = await connect(url);
  connection.on('error', () => undefined); // The broker is killed on purpose.
  try {
    return await use(await connection.createConfirmChannel());
  } finally {
    await connection.close();
  }
}

const sendConfirmed = (url: string): Promise<void> =>
  withChannel(url, async (channel) => {
    await channel.assertQueue(QUEUE, { durable: true });
    channel.sendToQueue(QUEUE, Buffer.from('content'), { persistent: true });
    await channel.waitForConfirms();
  });

/** Returns the content of the next message, or undefined if the queue is empty. */
const receive = (url: string): Promise<string | undefined> =>
  withChannel(url, async (channel) => {
    const message = await channel.get(QUEUE, { noAck: true });
    return message === false ? undefined : message.content.toString();
  });
