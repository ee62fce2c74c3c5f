import 'reflect-metadata';
import { EVENTS_PER_MESSAGE_MAX } from '@svc/messaging';
import { plainToInstance } from 'class-transformer';
import { IsIP, IsIn, IsInt, IsOptional, IsUrl, Matches, Max, Min, validateSync } from 'class-validator';
import { ConfigError } from './config-error.js';
import { IsErrorPagesUrl } from './setting-rules.js';

const OURS = 'SVC_';

/** What migrations need. A service's keys are not among it, so whoever migrates is not given them. */
export class DatabaseConfig {
  /** `postgres://role:password@host:port/database`; a secret. */
  @IsUrl({ protocols: ['postgres', 'postgresql'], require_tld: false })
  SVC_DATABASE_URL: string;

  /** Most connections to PostgreSQL. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  SVC_DATABASE_POOL_MAX: number = 10;
}

/**
 * What every service is told by its environment. A service extends it with its own; the class is the one place that
 * documents a variable. Parsed once at the start; a variable that begins with SVC_ and is not declared fails it, so
 * that a misspelt name is noticed.
 */
export class ServiceConfig extends DatabaseConfig {
  /** `development` accepts http and loopback addresses of merchants; `production` does not. */
  @IsIn(['development', 'production'])
  SVC_ENVIRONMENT: 'development' | 'production';

  /**
   * `amqp://user:password@host:port/vhost` of RabbitMQ 3.10 or later, or `amqps://`; a secret. Needed wherever services
   * run in processes of their own. Not set, a service talks to those of its own process only.
   */
  @IsOptional()
  @IsUrl({ protocols: ['amqp', 'amqps'], require_tld: false })
  SVC_AMQP_URL?: string;

  /**
   * Most events that are published in one message of RabbitMQ. 1 while replicas of a release that reads one event from
   * each message still run (ADR 34).
   */
  @IsInt()
  @Min(1)
  @Max(EVENTS_PER_MESSAGE_MAX)
  SVC_EVENTS_PER_MESSAGE: number = EVENTS_PER_MESSAGE_MAX;

  /** Port when the service runs in a process of its own. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  SVC_PORT: number = 0;

  /** Address to listen on; 0.0.0.0 in a container, where the network in front decides who may connect. */
  @IsOptional()
  @IsIP()
  SVC_LISTEN_ADDRESS: string = '127.0.0.1';

  /**
   * Proxies whose X-Forwarded-For says who calls (M4): addresses or networks, separated by commas, for example
   * `10.0.0.0/8`. Not set, it is whoever is connected. Name only what strips the header from its own callers.
   */
  @IsOptional()
  @Matches(/^[0-9a-fA-F.:]+(\/\d{1,3})?(,[0-9a-fA-F.:]+(\/\d{1,3})?)*$/, {
    message: '$property must be addresses or networks separated by commas',
  })
  SVC_TRUSTED_PROXIES?: string;

  /** Public address of the pages of errors, `{base_url}/errors`. Not set: answers name the path `/errors/<code>` (ADR 60). */
  @IsErrorPagesUrl()
  SVC_ERROR_PAGES_URL?: string;

  /** Least serious that is written down; `info` has one line for each request, `debug` also what Nest says. */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';
}

/** Reads a configuration class from environment variables, or says everything that is wrong with them at once. */
export function loadConfig<C extends object>(type: new () => C, env: Readonly<Record<string, string | undefined>>): C {
  const given = Object.entries(env).flatMap(([name, text]) =>
    name.startsWith(OURS) && text !== undefined && text !== '' ? [[name, valueOf(type, name, text)] as const] : [],
  );
  const config = plainToInstance(type, Object.fromEntries(given), { exposeDefaultValues: true });
  const problems = validateSync(config, { whitelist: true, forbidNonWhitelisted: true }).flatMap((problem) =>
    Object.values(problem.constraints ?? {}).map((text) =>
      text.replace(/^property (\S+) should not exist$/, '$1 is not a variable of this service'),
    ),
  );
  if (problems.length > 0) throw new ConfigError(`The configuration is not usable: ${problems.join('; ')}.`);
  return Object.freeze(config);
}

/**
 * A variable's text as the declared type. Text that is not plainly of that type stays as it is, so that validation
 * names it: JavaScript's own conversions would take `false` for true and `1e3` for a port.
 */
function valueOf(type: new () => object, name: string, text: string): string | number | boolean {
  const declared: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  if (declared === Number && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (declared === Boolean && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
