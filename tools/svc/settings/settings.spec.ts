import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databasePortOf, planPorts, readSettings, SERVICES } from './settings.ts';

describe('the ports of a platform', () => {
  it('are offsets from SVC_PORT_BASE', () => {
    expect(planPorts('8300')).toMatchObject({
      api: 8300,
      gateway: 8301,
      shop: 8302,
      admin: 8303,
      postgres: 8332,
      rabbitMq: 8333,
    });
  });

  it('start at 7300 by default', () => {
    expect(planPorts(undefined).api).toBe(7300);
  });

  it('are all different', () => {
    const { services, ownDatabases, ...others } = planPorts(undefined);
    const ports = [others, services, ownDatabases].flatMap((group) => Object.values(group));
    expect(ports).toHaveLength(13 + 2 * SERVICES.length);
    expect(new Set(ports).size).toBe(ports.length);
  });

  it.each(['0', '80', '65494', '7300.5', 'abc', '-7300'])('cannot start at %s', (base) => {
    expect(() => planPorts(base)).toThrow(/SVC_PORT_BASE must be a whole number/);
  });

  it('stay below 65536 with the highest allowed SVC_PORT_BASE', () => {
    expect(planPorts('65493').ownDatabases.console).toBe(65_535);
  });
});

describe('the settings', () => {
  it('use the folder .data of the repository by default', () => {
    expect(readSettings('/repo', {}, '/elsewhere').dataDir).toBe('/repo/.data');
  });

  it("resolve a relative data folder from the caller's working directory", () => {
    expect(readSettings('/repo', { SVC_DATA_DIR: 'copy 2' }, '/home/me').dataDir).toBe('/home/me/copy 2');
  });

  it('forward only the variables of the apps', () => {
    const env = { SVC_ACQUIRER_LATENCY_MS: '50', SVC_LOG_LEVEL: 'debug', SVC_ADMIN_KEY: 'of the caller', PATH: '/bin' };
    expect(readSettings('/repo', env, '/').forwarded).toEqual({
      SVC_ACQUIRER_LATENCY_MS: '50',
      SVC_LOG_LEVEL: 'debug',
    });
  });

  it('prefer SVC_AMQP_URL to AMQP_URL', () => {
    const urlFrom = (env: NodeJS.ProcessEnv) => readSettings('/repo', env, '/').externalAmqpUrl;
    expect(urlFrom({ SVC_AMQP_URL: '' })).toBeUndefined();
    expect(urlFrom({ AMQP_URL: 'amqp://a' })).toBe('amqp://a');
    expect(urlFrom({ AMQP_URL: 'amqp://a', SVC_AMQP_URL: 'amqp://b' })).toBe('amqp://b');
  });

  it('reject a data folder that env files cannot contain', () => {
    expect(() => readSettings('/repo', { SVC_DATA_DIR: "/data/it's" }, '/')).toThrow(/SVC_DATA_DIR/);
  });
});

describe('the services with a PostgreSQL server of their own', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-own-databases-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true }));
  const readFrom = (names: string | undefined) =>
    readSettings('/repo', { SVC_DATA_DIR: dataDir, ...(names === undefined ? {} : { SVC_OWN_DATABASES: names }) }, '/');

  it('are none by default', () => {
    expect(readFrom(undefined).ownDatabases).toEqual([]);
  });

  it('are those of SVC_OWN_DATABASES, each with a port', () => {
    const settings = readFrom('webhook-dispatcher,payment-processor');
    expect(settings.ownDatabases).toEqual(['payment-processor', 'webhook-dispatcher']);
    const ports = SERVICES.map((service) => databasePortOf(settings, service));
    expect(new Set(ports).size).toBe(3);
    expect(databasePortOf(settings, 'identity')).toBe(settings.ports.postgres);
  });

  it('must exist', () => {
    expect(() => readFrom('payments')).toThrow(/no service "payments"/);
  });

  it('stay the same for a data folder with data, also without the variable', () => {
    mkdirSync(join(dataDir, 'postgres'));
    mkdirSync(join(dataDir, 'databases', 'payment-processor'), { recursive: true });
    expect(readFrom(undefined).ownDatabases).toEqual(['payment-processor']);
    expect(readFrom('payment-processor').ownDatabases).toEqual(['payment-processor']);
  });

  it('cannot be added to a data folder with data, because the service would start without its rows', () => {
    mkdirSync(join(dataDir, 'postgres'));
    expect(() => readFrom('payment-processor')).toThrow(/already has its data in the common database/);
  });
});
