import { IsBoolean, IsNumber, IsOptional, Matches } from 'class-validator';
import { loadConfig, ServiceConfig } from './config.js';
import { ConfigError } from './config-error.js';

class TillConfig extends ServiceConfig {
  /** A secret, so it has no default. */
  @Matches(/^.{16,}$/)
  SVC_TILL_SECRET: string;

  @IsOptional()
  @IsBoolean()
  SVC_TILL_OPEN: boolean = true;
}

const env = {
  SVC_ENVIRONMENT: 'development',
  SVC_DATABASE_URL: 'postgres://role:password@127.0.0.1:5432/database',
  SVC_TILL_SECRET: 'a secret of the till',
};

function loadErrorText(given: Record<string, string>): string {
  try {
    loadConfig(TillConfig, given);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('loadConfig accepted the variables.');
}

test('variables have the declared types, missing variables have their defaults, and the configuration is read-only', () => {
  const config = loadConfig(TillConfig, { ...env, SVC_PORT: '8080', PATH: '/bin', HOME: '/' });
  expect(config).toEqual({
    ...env,
    SVC_PORT: 8080,
    SVC_LISTEN_ADDRESS: '127.0.0.1',
    SVC_DATABASE_POOL_MAX: 10,
    SVC_LOG_LEVEL: 'info',
    SVC_TILL_OPEN: true,
  });
  expect(Object.isFrozen(config)).toBe(true);
});

test.each([
  ['true', true],
  ['false', false],
])('SVC_TILL_OPEN=%s is read as %s', (text, value) => {
  expect(loadConfig(TillConfig, { ...env, SVC_TILL_OPEN: text }).SVC_TILL_OPEN).toBe(value);
});

test.each(['yes', '0', 'False'])('SVC_TILL_OPEN=%s is rejected, because it is not a boolean', (text) => {
  expect(loadErrorText({ ...env, SVC_TILL_OPEN: text })).toContain('SVC_TILL_OPEN');
});

test('an unknown variable with the prefix SVC_ is rejected, and the error contains its name', () => {
  expect(loadErrorText({ ...env, SVC_TILL_SECRETS: 'x' })).toContain(
    'SVC_TILL_SECRETS is not a variable of this service',
  );
});

test('a secret has no default, and an empty secret counts as missing', () => {
  expect(loadErrorText({ ...env, SVC_TILL_SECRET: '' })).toContain('SVC_TILL_SECRET must match');
});

test('the error contains the names of all invalid variables, but not their values', () => {
  const problems = loadErrorText({
    SVC_ENVIRONMENT: 'prod',
    SVC_DATABASE_URL: 'mysql://u:hidden@h/d',
    SVC_PORT: '80x',
    SVC_TILL_SECRET: 'short',
  });
  for (const name of ['SVC_ENVIRONMENT', 'SVC_DATABASE_URL', 'SVC_PORT', 'SVC_TILL_SECRET'])
    expect(problems).toContain(name);
  expect(problems).not.toMatch(/hidden|short/);
});

test.each<[name: string, text: string, value: string | number]>([
  ['SVC_PORT', '0', 0],
  ['SVC_PORT', '65535', 65_535],
  ['SVC_DATABASE_POOL_MAX', '1', 1],
  ['SVC_DATABASE_POOL_MAX', '100', 100],
  ['SVC_DATABASE_URL', 'postgresql://role:password@database/x', 'postgresql://role:password@database/x'],
  ['SVC_AMQP_URL', 'amqp://user:password@broker:5672/x', 'amqp://user:password@broker:5672/x'],
  ['SVC_AMQP_URL', 'amqps://user:password@broker/x', 'amqps://user:password@broker/x'],
  [
    'SVC_AMQP_URL',
    'amqp://u:p@rabbit-1, amqp://u:p@rabbit-2:5673/x',
    'amqp://u:p@rabbit-1, amqp://u:p@rabbit-2:5673/x',
  ],
  ['SVC_LISTEN_ADDRESS', '::1', '::1'],
  ['SVC_ENVIRONMENT', 'production', 'production'],
  ['SVC_TRUSTED_PROXIES', '10.0.0.0/8,::1', '10.0.0.0/8,::1'],
  ...['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level): [string, string, string] => [
    'SVC_LOG_LEVEL',
    level,
    level,
  ]),
])('%s=%s is accepted', (name, text, value) => {
  const config = loadConfig(TillConfig, { ...env, [name]: text });
  expect(config[name as keyof TillConfig]).toBe(value);
});

test.each([
  ['SVC_DATABASE_POOL_MAX', '0'],
  ['SVC_DATABASE_POOL_MAX', '101'],
  ['SVC_AMQP_URL', 'http://broker'],
  ['SVC_AMQP_URL', 'amqp://u:p@rabbit-1,http://rabbit-2'],
  ['SVC_AMQP_URL', 'amqp://u:p@rabbit-1,rabbit-2'],
  ['SVC_AMQP_URL', Array.from({ length: 21 }, () => 'amqp://u:p@rabbit').join()],
  ['SVC_LISTEN_ADDRESS', 'localhost'],
  ['SVC_TRUSTED_PROXIES', 'everybody'],
  ['SVC_TRUSTED_PROXIES', '10.0.0.0/8;10.1.0.0/8'],
  ['SVC_LOG_LEVEL', 'loud'],
])('%s=%s is rejected, and the error contains the name of the variable', (name, text) => {
  expect(loadErrorText({ ...env, [name]: text })).toContain(name);
});

test('a number is read as a decimal number, which may be negative or a fraction', () => {
  class ScaleConfig {
    @IsNumber()
    SVC_SCALE: number;
  }
  expect(loadConfig(ScaleConfig, { SVC_SCALE: '-12.25' }).SVC_SCALE).toBe(-12.25);
  for (const text of ['--1', '1.', '.5', 'x1', '1x', '1.5.5'])
    expect(() => loadConfig(ScaleConfig, { SVC_SCALE: text })).toThrow('SVC_SCALE must be a number');
});

test('the error message is a sentence that lists the problems', () => {
  const error: unknown = (() => {
    try {
      return loadConfig(TillConfig, { ...env, SVC_PORT: 'x', SVC_OTHER: '1', OTHER_SVC_X: '1' });
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toMatchObject({ name: 'ConfigError' });
  expect((error as Error).message).toMatch(
    /^The configuration is not usable: (SVC_OTHER is not a variable of this service; SVC_PORT|SVC_PORT .*; SVC_OTHER is not a variable of this service\.$)/,
  );
});

test.each(['-1', '65536', '1.5', '0x10', '1e3', ' 80'])('SVC_PORT=%j is rejected, because it is not a port', (port) => {
  expect(loadErrorText({ ...env, SVC_PORT: port })).toContain('SVC_PORT');
});
