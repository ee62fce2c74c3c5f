import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { urlsOfServices } from '../rabbitmq/rabbitmq-users.ts';
import { completeSecrets } from '../settings/secrets.ts';
import { readSettings, SERVICES } from '../settings/settings.ts';
import {
  appVariables,
  type BrokerAccess,
  formatEnvFile,
  ownerRoleOf,
  ownerVariables,
  writeEnvFiles,
} from './env-files.ts';

const secrets = completeSecrets(undefined, createSecretGenerator());

describe('the environment files', () => {
  it('contain values that Node.js reads back unchanged', () => {
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

  it('give the console a host name, because browsers have no passkeys for an IP address, unless it is in the network', () => {
    const settings = readSettings('/repo', {}, '/');
    const urlsOf = (lan: string | undefined) => {
      const { identity, console } = appVariables(lan === undefined ? settings : { ...settings, lan }, secrets);
      return [identity['SVC_CONSOLE_URL'], console['SVC_CONSOLE_URL']];
    };
    expect(urlsOf(undefined)).toEqual(['http://localhost:7307', 'http://localhost:7307']);
    expect(urlsOf('192.0.2.7')).toEqual(['https://192.0.2.7:7307', 'https://192.0.2.7:7307']);
  });

  it('let identity and the gateway write mails into files, or send them with the SMTP server of the caller', () => {
    const mailOf = (env: NodeJS.ProcessEnv) => {
      const variables = appVariables(readSettings('/repo', env, '/'), secrets);
      return (['identity', 'hosted-gateway'] as const).map((app) => {
        const { SVC_MAIL_FROM, SVC_MAIL_FOLDER, SVC_SMTP_URL } = variables[app];
        return [SVC_MAIL_FROM, SVC_MAIL_FOLDER ?? SVC_SMTP_URL];
      });
    };
    const file = ['payments@svc.example', '/repo/.data/mail'];
    expect(mailOf({})).toEqual([file, file]);
    const server = ['shop@svc.example', 'smtp://127.0.0.1:2525'];
    expect(mailOf({ SVC_SMTP_URL: server[1], SVC_MAIL_FROM: server[0] })).toEqual([server, server]);
  });

  it("contain the port of the service's own PostgreSQL server, also for its migrations", () => {
    const settings = readSettings('/repo', { SVC_OWN_DATABASES: 'payment-processor' }, '/');
    const portsOf = (app: 'identity' | 'payment-processor') =>
      [appVariables(settings, secrets)[app], ownerVariables(settings, secrets)[app]].map(
        ({ SVC_DATABASE_URL }) => new URL(SVC_DATABASE_URL!).port,
      );
    expect(portsOf('identity')).toEqual(['7332', '7332']);
    expect(portsOf('payment-processor')).toEqual(['7335', '7335']);
  });

  it('contain for each service the login of its own database role', () => {
    const variables = appVariables(readSettings('/repo', {}, '/'), secrets);
    const urls = Object.values(variables).flatMap(({ SVC_DATABASE_URL }) =>
      SVC_DATABASE_URL === undefined ? [] : [SVC_DATABASE_URL],
    );
    expect(urls).toHaveLength(SERVICES.length);
    expect(new Set(urls.map((url) => new URL(url).username)).size).toBe(SERVICES.length);
    expect(new Set(urls.map((url) => new URL(url).password)).size).toBe(SERVICES.length);
    expect(variables['all-in-one']['SVC_DATABASE_URL']).toBeUndefined();
  });

  it('contain the password of a schema’s owner only in the files for migrations', () => {
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

  it('contain an encryption key only for services that store secrets, and the admin key for all but the shop', () => {
    const variables = appVariables(readSettings('/repo', {}, '/'), secrets);
    const appsWith = (name: string) =>
      Object.entries(variables).flatMap(([app, values]) => (name in values ? [app] : []));
    expect(appsWith('SVC_SEALING_KEY')).toEqual(['identity', 'payment-processor', 'webhook-dispatcher']);
    expect(appsWith('SVC_ADMIN_KEY')).toEqual(SERVICES.filter((service) => service !== 'demo-shop'));
  });

  it.each([
    ['SVC_ACQUIRER_LATENCY_MS', 'simulated-acquirer'],
    ['SVC_ACQUIRER_TIMEOUT_MS', 'payment-processor'],
    ['SVC_RECONCILIATION_GRACE_MS', 'payment-processor'],
    ['SVC_ADYEN_TEST_API_KEY', 'payment-processor'],
    ['SVC_CARD_VAULT', 'payment-processor'],
    ['SVC_DELIVERY_TIMEOUT_MS', 'webhook-dispatcher'],
    ['SVC_PAYMENTS_PER_MINUTE', 'hosted-gateway'],
    ['SVC_INVOICE_LIFETIME_SECONDS', 'code-decoder'],
  ])('contain the variable %s of the caller only in the file of %s', (name, app) => {
    const variables = appVariables(readSettings('/repo', { [name]: '250' }, '/'), secrets);
    expect(
      Object.entries(variables)
        .filter(([, values]) => values[name] === '250')
        .map(([receiver]) => receiver),
    ).toEqual([app]);
  });

  it('contain the address of RabbitMQ and a login only for services that send messages', () => {
    const appsWith = (name: string, broker?: BrokerAccess) =>
      Object.entries(appVariables(readSettings('/repo', {}, '/'), secrets, broker)).flatMap(([app, values]) =>
        name in values ? [app] : [],
      );
    const amqpUrls = urlsOfServices('amqp://svc:x@127.0.0.1:7333', secrets.brokerPasswords);
    const users = Object.values(
      appVariables(readSettings('/repo', {}, '/'), secrets, { amqpUrls, isBehindFront: true }),
    ).flatMap(({ SVC_AMQP_URL: url }) => (url === undefined ? [] : [new URL(url)]));
    expect(new Set(users.map(({ username, password }) => `${username} ${password}`)).size).toBe(SERVICES.length - 1);
    expect(appsWith('SVC_AMQP_URL')).toEqual([]);
    expect(appsWith('SVC_AMQP_URL', { amqpUrls, isBehindFront: true })).toEqual(
      SERVICES.filter((service) => service !== 'demo-shop'),
    );
    // A service without a reverse proxy must not trust the caller's X-Forwarded headers.
    expect(appsWith('SVC_TRUSTED_PROXIES', { amqpUrls, isBehindFront: true })).toEqual(SERVICES);
    expect(appsWith('SVC_TRUSTED_PROXIES', { amqpUrls, isBehindFront: false })).toEqual([]);
  });

  describe('on a platform with --lan', () => {
    const lan = appVariables({ ...readSettings('/repo', {}, '/'), lan: '192.168.1.5' }, secrets);
    const loopback = appVariables(readSettings('/repo', {}, '/'), secrets);

    it('contain the network address in all links for payers and partners', () => {
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

    it('contain loopback addresses for requests between programs', () => {
      expect(lan['payment-processor']['SVC_ACQUIRER_URL']).toBe('http://127.0.0.1:7304');
      expect(lan['demo-shop']).toMatchObject({
        SVC_GATEWAY_URL: 'http://127.0.0.1:7301',
        SVC_SHOP_NOTIFICATIONS_URL: 'http://127.0.0.1:7302',
      });
    });

    it('let only the reverse proxy, all-in-one and the page of the bank listen on the network address', () => {
      const listeners = Object.entries(lan).flatMap(([app, values]) => ('SVC_TLS_KEY_FILE' in values ? [app] : []));
      expect(listeners.sort()).toEqual(['all-in-one', 'front', 'simulated-acquirer']);
      expect(JSON.stringify(loopback)).not.toMatch(/SVC_TLS|https:/);
    });
  });

  it('contain the address of every service for the reverse proxy', () => {
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
      const ownerFolder = join(dataDir, 'owner-env');
      expect(readdirSync(ownerFolder).sort()).toEqual(SERVICES.map((service) => `${service}.env`).sort());
      expect(
        [ownerFolder, ...readdirSync(ownerFolder).map((file) => join(ownerFolder, file))].map(
          (path) => statSync(path).mode & 0o777,
        ),
      ).toEqual([0o700, ...SERVICES.map(() => 0o600)]);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});

describe('the secrets', () => {
  it('are all different', () => {
    const all = JSON.stringify(secrets).match(/secret-number-\d+-padded/g) ?? [];
    // 9 database roles, 9 owners of schemas, 8 RabbitMQ users, 3 encryption keys, 4 secrets of Adyen's emulator, the
    // keys for challenges and for hashes of cards, and 3 of the whole platform.
    expect(all).toHaveLength(38);
    expect(new Set(all).size).toBe(38);
  });

  it('do not change when missing secrets are generated', () => {
    const { 'demo-shop': _new, ...olderRoles } = secrets.rolePasswords;
    const completed = completeSecrets({ ...secrets, rolePasswords: olderRoles }, () => 'secret-of-the-new-service');
    expect(completed).toEqual({
      ...secrets,
      rolePasswords: { ...olderRoles, 'demo-shop': 'secret-of-the-new-service' },
    });
  });

  it('are rejected, not replaced, when one of them is damaged', () => {
    expect(() => completeSecrets({ ...secrets, postgresPassword: '' }, () => 'x')).toThrow(/secrets.json/);
  });
});

function createSecretGenerator(): () => string {
  let count = 0;
  return () => `secret-number-${++count}-padded`;
}
