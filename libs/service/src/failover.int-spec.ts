/** Tests with a database that becomes read-only and ends its connections, as the former primary does in a failover. */
import { Controller, Get, HttpCode, Inject, Module, Post } from '@nestjs/common';
import { commandType } from '@svc/contracts';
import { Commands, MessagePattern } from '@svc/messaging';
import { inTransaction } from '@svc/persistence';
import { startTestService, type TestService } from '@svc/testing';
import type pg from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { ServiceConfig, type ServiceDefinition } from './index.js';

const WriteV1 = commandType<object, string>('write.v1');

@Controller()
class WritesController {
  constructor(
    @Inject(DataSource) private readonly dataSource: DataSource,
    @Inject(Commands) private readonly commands: Commands,
  ) {}

  @Post('writes')
  @HttpCode(200)
  async write(): Promise<void> {
    await inTransaction(this.dataSource, (tx) => tx.query(`INSERT INTO written (at) VALUES ($1)`, [new Date()]));
  }

  @MessagePattern(WriteV1)
  async writeOnCommand(): Promise<string> {
    await this.dataSource.query(`INSERT INTO written (at) VALUES ($1)`, [new Date()]);
    return 'written';
  }

  @Post('commands')
  @HttpCode(200)
  command(): Promise<string> {
    return this.commands.request(WriteV1, {});
  }

  @Get('reads')
  async read(): Promise<unknown> {
    return this.dataSource.query(`SELECT count(*) FROM written`);
  }
}

@Module({ controllers: [WritesController] })
class WritesModule {}

class Written1763500000020 implements MigrationInterface {
  readonly name = 'Written1763500000020';
  async up(db: QueryRunner): Promise<void> {
    await db.query('CREATE TABLE written (at timestamptz NOT NULL)');
  }
  down(): Promise<void> {
    return Promise.reject(new Error('Forward only.'));
  }
}

const writes: ServiceDefinition = {
  name: 'writes',
  config: ServiceConfig,
  module: WritesModule,
  migrations: [Written1763500000020],
};

let running: TestService;
/** Connects outside the service's pool, as a database administrator. */
let administrator: pg.PoolClient;
let database: string;

beforeAll(async () => {
  running = await startTestService(writes, { env: { SVC_DATABASE_POOL_MAX: '3' } });
  const [row] = await running.dataSource.query<[{ name: string }]>('SELECT current_database() AS name');
  database = row.name;
  administrator = await running.superuser.connect();
});
afterAll(async () => {
  administrator.release();
  await running.stop();
});
afterEach(() => setReadOnly('off'));

const setReadOnly = (value: 'on' | 'off') =>
  administrator.query(`ALTER DATABASE ${database} SET default_transaction_read_only = ${value}`);

/** Resolves when the connections have ended. */
async function endConnections(): Promise<void> {
  await administrator.query(
    `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()`,
    [database],
  );
}

const requestStatus = async (method: 'GET' | 'POST', url: string): Promise<[status: number, retryAfter: unknown]> => {
  const { statusCode, headers } = await running.service.app.inject({ method, url });
  return [statusCode, headers['retry-after']];
};
const requestAll = (): Promise<[number, unknown][]> =>
  Promise.all([
    ...Array.from({ length: 4 }, () => requestStatus('POST', '/writes')),
    requestStatus('POST', '/commands'),
    requestStatus('GET', '/reads'),
    requestStatus('GET', '/health/ready'),
  ]);
const OK = [200, undefined];
const UNAVAILABLE = [503, '1'];

test('the service responds 503 with Retry-After to every request while the database is read-only, and all requests succeed afterwards', async () => {
  expect(await requestAll()).toEqual(Array(7).fill(OK));
  await setReadOnly('on');
  await endConnections();
  // There are several rounds, because the first requests may still use connections that the server has ended.
  for (let round = 0; round < 4; round++) expect(await requestAll()).toEqual(Array(7).fill(UNAVAILABLE));

  await setReadOnly('off');
  for (let round = 0; round < 4; round++) expect(await requestAll()).toEqual(Array(7).fill(OK));
});

test('a connection whose session becomes read-only is closed after the first failed statement', async () => {
  const [[first]] = [await running.dataSource.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid')];
  // The pool uses the most recently returned connection first, so the next request gets this connection.
  await running.dataSource.query('SET default_transaction_read_only = on');
  expect(await requestStatus('POST', '/writes')).toEqual(UNAVAILABLE);
  for (let round = 0; round < 4; round++) expect(await requestAll()).toEqual(Array(7).fill(OK));
  const { rows } = await administrator.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [first.pid]);
  expect(rows).toEqual([]);
});

test('after the server has ended the connections, each of them fails at most one request', async () => {
  expect(await requestAll()).toEqual(Array(7).fill(OK));
  await endConnections();
  for (const response of await requestAll()) expect([OK, UNAVAILABLE]).toContainEqual(response);
  expect(await requestAll()).toEqual(Array(7).fill(OK));
});
