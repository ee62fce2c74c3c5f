import 'reflect-metadata';
import { plainToInstance } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsIP,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  validateSync,
} from 'class-validator';
import { IsBrokerUrls } from './broker-urls.js';
import { ConfigError } from './config-error.js';
import { IsErrorPagesUrl } from './setting-rules.js';

const PREFIX = 'SVC_';

/** The configuration of a migration job. Such a job needs no keys of the service. */
export class DatabaseConfig {
  /** `postgres://role:password@host:port/database`. The URL is a secret. */
  @IsUrl({ protocols: ['postgres', 'postgresql'], require_tld: false })
  SVC_DATABASE_URL: string;

  /** Maximum number of connections to PostgreSQL. */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  SVC_DATABASE_POOL_MAX: number = 10;
}

/**
 * The environment variables of every service. A service extends this class with its own variables. They are read once
 * at the start. An unknown variable with the prefix SVC_ prevents the start, so that a misspelt name is noticed.
 */
export class ServiceConfig extends DatabaseConfig {
  /** `development` accepts URLs of merchants with a loopback address, also with http. `production` rejects them. */
  @IsIn(['development', 'production'])
  SVC_ENVIRONMENT: 'development' | 'production';

  /**
   * `amqp://user:password@host:port/vhost` of RabbitMQ 3.10 or later, or `amqps://`. For a cluster: one URL for each
   * node, separated by commas. A process begins at a random node, and moves to the next when it loses its connection.
   * The URLs are secrets. The setting is required if services run in separate processes. If it is not set, a service
   * only reaches the services in its process.
   */
  @IsOptional()
  @IsBrokerUrls()
  SVC_AMQP_URL?: string;

  /** Port to listen on if the service runs in a separate process. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  SVC_PORT: number = 0;

  /** Address to listen on. Use 0.0.0.0 in a container if the network restricts the callers. */
  @IsOptional()
  @IsIP()
  SVC_LISTEN_ADDRESS: string = '127.0.0.1';

  /**
   * Proxies whose X-Forwarded-For header is trusted (M4): addresses or networks, separated by commas, for example
   * `10.0.0.0/8`. If not set, the caller is the peer of the connection. List only proxies that remove this header from
   * incoming requests.
   */
  @IsOptional()
  @Matches(/^[0-9a-fA-F.:]+(\/\d{1,3})?(,[0-9a-fA-F.:]+(\/\d{1,3})?)*$/, {
    message: '$property must be addresses or networks separated by commas',
  })
  SVC_TRUSTED_PROXIES?: string;

  /**
   * Public address of the error pages, `{base_url}/errors`. If not set, responses have the path `/errors/<code>` (ADR
   * 60).
   */
  @IsErrorPagesUrl()
  SVC_ERROR_PAGES_URL?: string;

  /** File that moves the clock while `./svc up` creates demo data of the last days. Refused in production. */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  SVC_DEMO_CLOCK_FILE?: string;

  /** Lowest level that is logged. `info` logs one line for each request, and `debug` also logs the messages of Nest. */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  SVC_LOG_LEVEL: string = 'info';
}

/** Reads a configuration class from environment variables. Throws one {@link ConfigError} that lists all problems. */
export function loadConfig<C extends object>(type: new () => C, env: Readonly<Record<string, string | undefined>>): C {
  const variables = Object.entries(env).flatMap(([name, text]) =>
    name.startsWith(PREFIX) && text !== undefined && text !== '' ? [[name, convert(type, name, text)] as const] : [],
  );
  const config = plainToInstance(type, Object.fromEntries(variables), { exposeDefaultValues: true });
  const problems = validateSync(config, { whitelist: true, forbidNonWhitelisted: true }).flatMap((problem) =>
    Object.values(problem.constraints ?? {}).map((text) =>
      text.replace(/^property (\S+) should not exist$/, '$1 is not a variable of this service'),
    ),
  );
  if (problems.length > 0) throw new ConfigError(`The configuration is not usable: ${problems.join('; ')}.`);
  return Object.freeze(config);
}

/**
 * Converts the text of a variable to the declared type. A text with another format is not converted, so that the
 * validation reports it. JavaScript's conversions are not used: they would convert `false` to true and `1e3` to 1000.
 */
function convert(type: new () => object, name: string, text: string): string | number | boolean {
  const declared: unknown = Reflect.getMetadata('design:type', type.prototype as object, name);
  if (declared === Number && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (declared === Boolean && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
