import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { MESSAGING_SERVICES } from '../../../libs/contracts/src/service-messages.ts';
import { readJson } from '../base/files.ts';
import { findIdentity, isAlive } from '../base/process-identity.ts';
import { findFreePort } from '../processes/ports.ts';
import type { Secrets } from '../settings/secrets.ts';
import { tryLogin } from './amqp-login.ts';
import { type RabbitMqPlan, startRabbitMq } from './rabbitmq.ts';
import { findRabbitMqBinaries, type RabbitMqBinaries } from './rabbitmq-binaries.ts';
import { type BrokerFile, brokerFilePath, findRabbitMq, stopRabbitMq } from './rabbitmq-process.ts';
import { definitionsOf } from './rabbitmq-users.ts';

describe('the RabbitMQ server of ./svc', () => {
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
      password: 'a-password_of-some-length',
      logFile: join(folder, 'log', 'rabbitmq.log'),
    };
  });

  afterAll(async () => {
    await stopRabbitMq(plan.directory);
    rmSync(folder, { recursive: true, force: true });
  });

  const readEpmdRecord = () => (readJson(brokerFilePath(plan.directory)) as BrokerFile).epmd;

  it('is created by the first start, and found by the next start', async () => {
    await startRabbitMq(plan, binaries);
    const first = findRabbitMq(plan.directory);
    expect(first).toMatchObject({ port: plan.port, container: undefined });
    await startRabbitMq(plan, binaries);
    expect(findRabbitMq(plan.directory)).toEqual(first);
  });

  it('accepts only its own user, and only the owner of its folder can read the password', async () => {
    const { url } = await startRabbitMq(plan, binaries);
    expect(await tryLogin(url)).toBe('accepted');
    expect(await tryLogin(`amqp://guest:guest@127.0.0.1:${plan.port}`)).toBe('refused');
    expect(await tryLogin(`amqp://svc:another-password@127.0.0.1:${plan.port}`)).toBe('refused');
    expect(statSync(join(plan.directory, 'rabbitmq.conf')).mode & 0o077).toBe(0);
    await expect(startRabbitMq({ ...plan, password: 'another-password' }, binaries)).rejects.toThrow(/secrets\.json/);
  });

  it('has all confirmed messages after a kill -9 and a start on another port', async () => {
    const { url: firstUrl } = await startRabbitMq(plan, binaries);
    await withChannel(
      firstUrl,
      async (channel) => void (await channel.assertQueue('durable-queue', { durable: true })),
    );
    // RabbitMQ confirms a message after it has written the message to disk. It confirms a new queue before it has
    // written the queue, and a clean stop writes the queue.
    await stopRabbitMq(plan.directory);
    const { url } = await startRabbitMq(plan, binaries);
    await withChannel(url, async (channel) => {
      channel.sendToQueue('durable-queue', Buffer.from('content'), { persistent: true });
      await channel.waitForConfirms();
    });
    process.kill(findRabbitMq(plan.directory)?.pid ?? 0, 'SIGKILL');
    const movedPlan = { ...plan, port: await findFreePort() };
    const { url: movedUrl } = await startRabbitMq(movedPlan, binaries);
    expect(findRabbitMq(plan.directory)?.port).toBe(movedPlan.port);
    await withChannel(movedUrl, async (channel) => {
      const message = await channel.get('durable-queue', { noAck: true });
      expect(message === false ? undefined : message.content.toString()).toBe('content');
    });
  });

  it('restarts when the users of the services change, and its queues then contain the same messages', async () => {
    const passwords = Object.fromEntries(MESSAGING_SERVICES.map((name) => [name, `password-of-${name}`]));
    const users = { vhost: '/', administrator: { name: 'svc', password: plan.password } };
    const definitionsWith = (servicePasswords: typeof passwords) =>
      JSON.stringify(definitionsOf({ ...users, passwords: servicePasswords as Secrets['brokerPasswords'] }));
    const { url } = await startRabbitMq(plan, binaries);
    await withChannel(url, async (channel) => {
      await channel.assertQueue('queue of the users test', { durable: true });
      channel.sendToQueue('queue of the users test', Buffer.from('content'), { persistent: true });
      await channel.waitForConfirms();
    });
    const definitions = definitionsWith(passwords);
    await startRabbitMq({ ...plan, definitions }, binaries);
    const identityUrl = `amqp://svc-identity:password-of-identity@127.0.0.1:${plan.port}`;
    expect([await tryLogin(url), await tryLogin(identityUrl)]).toEqual(['accepted', 'accepted']);
    const first = findRabbitMq(plan.directory);
    await startRabbitMq({ ...plan, definitions }, binaries);
    expect(findRabbitMq(plan.directory)).toEqual(first);
    await startRabbitMq({ ...plan, definitions: definitionsWith({ ...passwords, identity: 'another' }) }, binaries);
    expect(await tryLogin(identityUrl)).toBe('refused');
    await withChannel(url, async (channel) => {
      const message = await channel.get('queue of the users test', { noAck: true });
      expect(message === false ? undefined : message.content.toString()).toBe('content');
    });
  });

  it('continues to run without its name server, and when it stops, no name server remains', async () => {
    const { url } = await startRabbitMq(plan, binaries);
    const epmd = readEpmdRecord();
    process.kill(epmd?.process.pid ?? 0, 'SIGKILL');
    expect(await tryLogin(url)).toBe('accepted');
    const pid = findRabbitMq(plan.directory)?.pid ?? 0;
    expect(await stopRabbitMq(plan.directory)).toBe('stopped');
    expect(findIdentity(pid)).toBeUndefined();
    expect(await stopRabbitMq(plan.directory)).toBe('was not running');
    expect(await tryLogin(url)).toBe('no answer');

    await startRabbitMq(plan, binaries);
    const second = readEpmdRecord();
    await stopRabbitMq(plan.directory);
    expect(second === undefined || isAlive(second.process.pid, second.process.identity)).toBe(false);
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

type ChannelAction = (
  channel: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createConfirmChannel']>>,
) => Promise<void>;

async function withChannel(url: string, action: ChannelAction): Promise<void> {
  const connection = await connect(url);
  connection.on('error', () => undefined); // The broker is killed on purpose.
  try {
    await action(await connection.createConfirmChannel());
  } finally {
    await connection.close();
  }
}
