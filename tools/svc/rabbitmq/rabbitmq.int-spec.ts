import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { MESSAGING_SERVICES } from '../../../libs/contracts/src/service-messages.ts';
import { tryLogin } from './amqp-login.ts';
import { readJson } from '../base/files.ts';
import { findIdentity, isAlive } from '../base/process-identity.ts';
import { findRabbitMqBinaries, type RabbitMqBinaries } from './rabbitmq-binaries.ts';
import { brokerFileOf, findRabbitMq, stopRabbitMq, type BrokerFile } from './rabbitmq-process.ts';
import { definitionsOf } from './rabbitmq-users.ts';
import { startRabbitMq, type RabbitMqPlan } from './rabbitmq.ts';
import type { Secrets } from '../base/secrets.ts';
import { findFreePort } from '../processes/ports.ts';

describe("RabbitMQ of the project's own", () => {
  let folder: string;
  let plan: RabbitMqPlan;
  let binaries: RabbitMqBinaries;

  beforeAll(async () => {
    const found = findRabbitMqBinaries();
    if (found === undefined) throw new Error('there is no RabbitMQ here; ./svc test brings one');
    binaries = found;
    folder = mkdtempSync(join(tmpdir(), 'svc-rabbitmq-')); // made with mode 700
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

  const epmdOf = () => (readJson(brokerFileOf(plan.directory)) as BrokerFile).epmd;

  it('is made and started, and found again by the next start', async () => {
    await startRabbitMq(plan, binaries);
    const first = findRabbitMq(plan.directory);
    expect(first).toMatchObject({ port: plan.port, container: undefined });
    await startRabbitMq(plan, binaries);
    expect(findRabbitMq(plan.directory)).toEqual(first);
  });

  it('lets in its own user alone, and keeps the password to its owner', async () => {
    const { url } = await startRabbitMq(plan, binaries);
    expect(await tryLogin(url)).toBe('accepted');
    expect(await tryLogin(`amqp://guest:guest@127.0.0.1:${plan.port}`)).toBe('refused');
    expect(await tryLogin(`amqp://svc:another-password@127.0.0.1:${plan.port}`)).toBe('refused');
    expect(statSync(join(plan.directory, 'rabbitmq.conf')).mode & 0o077).toBe(0);
    await expect(startRabbitMq({ ...plan, password: 'another-password' }, binaries)).rejects.toThrow(/secrets\.json/);
  });

  it('keeps what it confirmed through a kill -9 of the broker, and a move to another port', async () => {
    const { url: before } = await startRabbitMq(plan, binaries);
    await withChannel(before, async (channel) => void (await channel.assertQueue('kept', { durable: true })));
    // It confirms messages when they are on the disk, but a queue before it is: those of the services are older than that.
    await stopRabbitMq(plan.directory);
    const { url } = await startRabbitMq(plan, binaries);
    await withChannel(url, async (channel) => {
      channel.sendToQueue('kept', Buffer.from('here'), { persistent: true });
      await channel.waitForConfirms();
    });
    process.kill(findRabbitMq(plan.directory)?.pid ?? 0, 'SIGKILL');
    const moved = { ...plan, port: await findFreePort() };
    const { url: movedUrl } = await startRabbitMq(moved, binaries);
    expect(findRabbitMq(plan.directory)?.port).toBe(moved.port);
    await withChannel(movedUrl, async (channel) => {
      const message = await channel.get('kept', { noAck: true });
      expect(message === false ? undefined : message.content.toString()).toBe('here');
    });
  });

  it('starts anew when the users of the services are others, and keeps what is in its queues', async () => {
    const passwords = Object.fromEntries(MESSAGING_SERVICES.map((name) => [name, `password-of-${name}`]));
    const users = { vhost: '/', administrator: { name: 'svc', password: plan.password } };
    const definitionsWith = (own: typeof passwords) =>
      JSON.stringify(definitionsOf({ ...users, passwords: own as Secrets['brokerPasswords'] }));
    const { url } = await startRabbitMq(plan, binaries);
    await withChannel(url, async (channel) => {
      await channel.assertQueue('kept too', { durable: true });
      channel.sendToQueue('kept too', Buffer.from('here'), { persistent: true });
      await channel.waitForConfirms();
    });
    const definitions = definitionsWith(passwords);
    await startRabbitMq({ ...plan, definitions }, binaries);
    const own = `amqp://svc-identity:password-of-identity@127.0.0.1:${plan.port}`;
    expect([await tryLogin(url), await tryLogin(own)]).toEqual(['accepted', 'accepted']);
    const first = findRabbitMq(plan.directory);
    await startRabbitMq({ ...plan, definitions }, binaries);
    expect(findRabbitMq(plan.directory)).toEqual(first);
    await startRabbitMq({ ...plan, definitions: definitionsWith({ ...passwords, identity: 'another' }) }, binaries);
    expect(await tryLogin(own)).toBe('refused');
    await withChannel(url, async (channel) => {
      const message = await channel.get('kept too', { noAck: true });
      expect(message === false ? undefined : message.content.toString()).toBe('here');
    });
  });

  it('goes on without its name server, and leaves none behind when it stops', async () => {
    const { url } = await startRabbitMq(plan, binaries);
    const epmd = epmdOf();
    process.kill(epmd?.process.pid ?? 0, 'SIGKILL');
    expect(await tryLogin(url)).toBe('accepted');
    const pid = findRabbitMq(plan.directory)?.pid ?? 0;
    expect(await stopRabbitMq(plan.directory)).toBe('stopped');
    expect(findIdentity(pid)).toBeUndefined();
    expect(await stopRabbitMq(plan.directory)).toBe('was not running');
    expect(await tryLogin(url)).toBe('no answer');

    await startRabbitMq(plan, binaries);
    const second = epmdOf();
    await stopRabbitMq(plan.directory);
    expect(second === undefined || isAlive(second.process.pid, second.process.identity)).toBe(false);
  });

  it('says that its port is taken, and leaves nothing running', async () => {
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

type Work = (
  channel: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createConfirmChannel']>>,
) => Promise<void>;

async function withChannel(url: string, work: Work): Promise<void> {
  const connection = await connect(url);
  connection.on('error', () => undefined); // The broker is killed on purpose.
  try {
    await work(await connection.createConfirmChannel());
  } finally {
    await connection.close();
  }
}
