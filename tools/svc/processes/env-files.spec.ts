import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { urlsOfServices } from '../rabbitmq/rabbitmq-users.ts';
import { completeSecrets } from '../settings/secrets.ts';
import { readSettings, SERVICES } from '../settings/settings.ts';
import {
  type BrokerAccess,
  formatEnvFile,
  ownerRoleOf,
  ownerVariables,
  appVariables,
  writeEnvFiles,
} from './env-files.ts';

const secrets = completeSecrets(undefined, countingSecrets());

describe('the environment files', () => {
  it('have the same values when Node.js reads them', () => {
    const variables = {
      PLAIN: 'postgres://svc:a-b_c@127.0.0.1:7332/svc',
      PATH_WITH: '/home/me/My Shop #2/.data',
      EMPTY: '',
    };
    expect(parseEnv(formatEnvFile(variables))).toEqual(variables);
  });

  it('reject a value with a quote', () => {
    expect(() => formatEnvFile({ SECRET: "a b'\nOTHER=1" })).toThrow(/SECRET/);
  });

  it('give each service its own role and no other', () => {
    const variables = appVariables(readSettings('/repo', {}, '/'), secrets);
    const urls = Object.values(variables).flatMap(({ SVC_DATABASE_URL }) =>
      SVC_DATABASE_URL === undefined ? [] : [SVC_DATABASE_URL],
    );
    expect(urls).toHaveLength(SERVICES.length);
    expect(new Set(urls.map((url) => new URL(url).username)).size).toBe(SERVICES.length);
    expect(new Set(urls.map((url) => new URL(url).password)).size).toBe(SERVICES.length);
    expect(variables['all-in-one']['SVC_DATABASE_URL']).toBeUndefined();
  });

  it('give the password of a schema’s owner only to its migrations', () => {
    const owners = ownerVariables(readSettings('/repo', {}, '/'), secrets);
    expect(Object.entries(owners).map(([service, values]) => [service, Object.keys(values)])).toEqual(
      SERVICES.map((service) => [service, ['SVC_DATABASE_URL']]),
    );
    for (const service of SERVICES) {
      const { username, password } = new URL(owners[service]['SVC_DATABASE_URL']!);
      expect([username, password]).toEqual([ownerRoleOf(service), secrets.ownerPasswords[service]]);
      expect(JSON.stringify(appVariables(readSettings('/repo', {}, '/'), secrets))).not.toContain(password);
    }
  });

  it('give sealing keys to the services that seal, and the admin key to those with an administration API', () => {
    const variables = appVariables(readSettings('/repo', {}, '/'), secrets);
    const having = (name: string) =>
      Object.entries(variables).flatMap(([app, values]) => (name in values ? [app] : []));
    expect(having('SVC_SEALING_KEY')).toEqual(['identity', 'payment-processor', 'webhook-dispatcher']);
    expect(having('SVC_ADMIN_KEY')).toEqual(SERVICES.filter((service) => service !== 'demo-shop'));
  });

  it.each([
    ['SVC_ACQUIRER_LATENCY_MS', 'simulated-acquirer'],
    ['SVC_ACQUIRER_TIMEOUT_MS', 'payment-processor'],
    ['SVC_RECONCILIATION_GRACE_MS', 'payment-processor'],
    ['SVC_DELIVERY_TIMEOUT_MS', 'webhook-dispatcher'],
    ['SVC_PAYMENTS_PER_MINUTE', 'hosted-gateway'],
    ['SVC_INVOICE_LIFETIME_SECONDS', 'code-decoder'],
  ])('pass the variable %s of the caller only to %s', (name, app) => {
    const variables = appVariables(readSettings('/repo', { [name]: '250' }, '/'), secrets);
    expect(
      Object.entries(variables)
        .filter(([, values]) => values[name] === '250')
        .map(([having]) => having),
    ).toEqual([app]);
  });

  it('give the address of the broker only to the services', () => {
    const having = (name: string, over?: BrokerAccess) =>
      Object.entries(appVariables(readSettings('/repo', {}, '/'), secrets, over)).flatMap(([app, values]) =>
        name in values ? [app] : [],
      );
    const amqpUrls = urlsOfServices('amqp://svc:x@127.0.0.1:7333', secrets.brokerPasswords);
    const users = Object.values(
      appVariables(readSettings('/repo', {}, '/'), secrets, { amqpUrls, isBehindFront: true }),
    ).flatMap(({ SVC_AMQP_URL: url }) => (url === undefined ? [] : [new URL(url)]));
    expect(new Set(users.map(({ username, password }) => `${username} ${password}`)).size).toBe(SERVICES.length - 1);
    expect(having('SVC_AMQP_URL')).toEqual([]);
    expect(having('SVC_AMQP_URL', { amqpUrls, isBehindFront: true })).toEqual(
      SERVICES.filter((service) => service !== 'demo-shop'),
    );
    // A service without a front must not trust the caller's own headers.
    expect(having('SVC_TRUSTED_PROXIES', { amqpUrls, isBehindFront: true })).toEqual(SERVICES);
    expect(having('SVC_TRUSTED_PROXIES', { amqpUrls, isBehindFront: false })).toEqual([]);
  });

  describe('of a platform that is served on the network', () => {
    const { lan, alone } = {
      lan: appVariables({ ...readSettings('/repo', {}, '/'), lan: '192.168.1.5' }, secrets),
      alone: appVariables(readSettings('/repo', {}, '/'), secrets),
    };

    it('use the network address in all links for payers and partners', () => {
      expect(lan['hosted-gateway']['SVC_GATEWAY_URL']).toBe('https://192.168.1.5:7301');
      expect(lan['code-decoder']['SVC_CODES_URL']).toBe('https://192.168.1.5:7301');
      expect(lan['payment-processor']).toMatchObject({
        SVC_API_URL: 'https://192.168.1.5:7300',
        SVC_CODES_URL: 'https://192.168.1.5:7301',
      });
      expect(lan['demo-shop']).toMatchObject({
        SVC_SHOP_URL: 'https://192.168.1.5:7302',
        SVC_PAYMENT_PAGES_URL: 'https://192.168.1.5:7301',
      });
      expect(lan['simulated-acquirer']['SVC_ACQUIRER_PUBLIC_URL']).toBe('https://192.168.1.5:7304');
    });

    it('use loopback addresses for requests between programs', () => {
      expect(lan['payment-processor']['SVC_ACQUIRER_URL']).toBe('http://127.0.0.1:7304');
      expect(lan['demo-shop']).toMatchObject({
        SVC_GATEWAY_URL: 'http://127.0.0.1:7301',
        SVC_SHOP_NOTIFICATIONS_URL: 'http://127.0.0.1:7302',
      });
    });

    it('let only the fronts and the page of the bank listen there', () => {
      const having = Object.entries(lan).flatMap(([app, values]) => ('SVC_TLS_KEY_FILE' in values ? [app] : []));
      expect(having.sort()).toEqual(['all-in-one', 'front', 'simulated-acquirer']);
      expect(JSON.stringify(alone)).not.toMatch(/SVC_TLS|https:/);
    });
  });

  it('give the front the address of every service', () => {
    const variables = appVariables(readSettings('/repo', {}, '/'), secrets);
    for (const service of SERVICES)
      expect(Object.values(variables.front)).toContain(`http://127.0.0.1:${variables[service]['SVC_PORT']}`);
  });

  it('are readable only by their owner', () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-env-'));
    try {
      writeEnvFiles({ ...readSettings('/repo', {}, '/'), dataDir }, secrets);
      const folder = join(dataDir, 'env');
      expect(statSync(folder).mode & 0o777).toBe(0o700);
      expect(readdirSync(folder).sort()).toEqual(
        Object.keys(appVariables(readSettings('/repo', {}, '/'), secrets))
          .map((app) => `${app}.env`)
          .sort(),
      );
      for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
      expect(parseEnv(readFileSync(join(folder, 'all-in-one.env'), 'utf8'))['SVC_ENV_DIR']).toBe(folder);
      const owners = join(dataDir, 'owner-env');
      expect(readdirSync(owners).sort()).toEqual(SERVICES.map((service) => `${service}.env`).sort());
      expect(
        [owners, ...readdirSync(owners).map((file) => join(owners, file))].map((path) => statSync(path).mode & 0o777),
      ).toEqual([0o700, ...SERVICES.map(() => 0o600)]);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});

describe('the secrets', () => {
  it('are all different', () => {
    const all = JSON.stringify(secrets).match(/secret-number-\d+-padded/g) ?? [];
    expect(all).toHaveLength(29);
    expect(new Set(all).size).toBe(29);
  });

  it('are kept, and only missing ones are generated', () => {
    const { 'demo-shop': _new, ...olderRoles } = secrets.rolePasswords;
    const completed = completeSecrets({ ...secrets, rolePasswords: olderRoles }, () => 'made-for-the-new-service');
    expect(completed).toEqual({
      ...secrets,
      rolePasswords: { ...olderRoles, 'demo-shop': 'made-for-the-new-service' },
    });
  });

  it('that are damaged are rejected, not replaced', () => {
    expect(() => completeSecrets({ ...secrets, postgresPassword: '' }, () => 'x')).toThrow(/secrets.json/);
  });
});

function countingSecrets(): () => string {
  let count = 0;
  return () => `secret-number-${++count}-padded`;
}
