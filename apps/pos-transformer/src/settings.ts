import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { dirname, resolve } from 'node:path';
import { ConfigError, IsBaseUrl } from '@svc/service/standalone';
import { plainToInstance, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsInt,
  IsIP,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateNested,
  validateSync,
  type ValidationError,
} from 'class-validator';

/** One site of the merchant: a store, or a part of a store. */
export class SiteSettings {
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  siteId: number;

  /** The till's identifier on invoices. For a till that sends the header `x-till`, the header is used instead. */
  @Matches(/^[\x20-\x7e]{1,100}$/, { message: '$property must be 1 to 100 printable ASCII characters' })
  siteReference: string;

  /** Name of the store, which customer displays show. Without it they show no name. */
  @IsOptional()
  @Matches(/^(?=.*\S)[^\u0000-\u001f\u007f-\u009f]{1,100}$/, {
    message: '$property must be 1 to 100 characters without control characters',
  })
  name?: string;

  /** The site's API key, a secret. The environment variable `TRANSFORMER_SITE_KEY_<siteId>` is a safer place for it. */
  @IsString({ message: '$property is missing: write it here, or set TRANSFORMER_SITE_KEY_ and the siteId' })
  @MinLength(1)
  @MaxLength(200)
  apiKey: string;
}

/** The configuration file (JSON). Unknown members fail the start, so that a misspelt name is noticed. */
class SettingsFile {
  /** URL of the platform's main API, without a slash at the end. */
  @IsBaseUrl()
  @Matches(/^https?:/, { message: '$property must begin with https:// or http://' })
  apiUrl: string;

  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  merchantId: number;

  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @ArrayUnique((site: SiteSettings) => site?.siteId, { message: 'sites must each have another siteId' })
  @Type(() => SiteSettings)
  sites: SiteSettings[];

  /**
   * The site of requests that contain no site: Basket, BasketClosed, GetPayment and SvcRefund (T5). Required if there
   * are several sites.
   */
  @IsOptional()
  @IsInt()
  facadeSiteId?: number;

  /** IP address to listen on. */
  @IsOptional()
  @IsIP()
  listenAddress: string = '127.0.0.1';

  /** Port to listen on; 0 chooses a free port. */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(65535)
  port: number = 7305;

  /** Addresses or networks of tills and displays, for example `192.168.1.0/24`: they need no key. */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @Matches(/^[0-9a-fA-F.:]+(\/\d{1,3})?$/, { each: true, message: '$property must be addresses or networks' })
  allowedClients?: string[];

  /**
   * URL of this program for tills and displays, if it differs from the listening address. The URLs of QR codes start
   * with it.
   */
  @IsOptional()
  @IsBaseUrl()
  @Matches(/^https?:/, { message: '$property must begin with https:// or http://' })
  publicUrl?: string;

  /** File of the database, created if it is missing. A relative path is relative to the configuration file. */
  @IsString()
  @MinLength(1)
  @MaxLength(4096)
  database: string;

  /** Minimum level of log messages. */
  @IsOptional()
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  logLevel: string = 'info';
}

/**
 * A till waits this long for the platform, then it gets a WARN. Refunds have more time, because the bank takes longer.
 */
const RESPONSE_TIMEOUT_MS = { invoices: 3_000, refunds: 10_000 };

/** The validated configuration; also its injection token. */
export abstract class TransformerSettings {
  abstract readonly apiUrl: string;
  abstract readonly merchantId: number;
  abstract readonly sites: readonly SiteSettings[];
  abstract readonly facadeSiteId: number;
  abstract readonly listenAddress: string;
  abstract readonly port: number;
  abstract readonly apiKey: string | undefined;
  abstract readonly allowedClients: BlockList | undefined;
  abstract readonly publicUrl: string | undefined;
  abstract readonly database: string;
  abstract readonly logLevel: string;
  abstract readonly responseTimeoutMs: Readonly<Record<'invoices' | 'refunds', number>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @param file path from the command line; default TRANSFORMER_CONFIG. @throws ConfigError */
export function readSettings(file: string | undefined, env: Environment): TransformerSettings {
  const path = file ?? env['TRANSFORMER_CONFIG'];
  if (!path) throw new ConfigError('Name the configuration file: pos-transformer <file>, or TRANSFORMER_CONFIG.');
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new ConfigError(`The configuration file ${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  return parseSettings(json, env, dirname(resolve(path)));
}

/**
 * @param json content of the configuration file
 * @param folder base of relative paths
 * @throws ConfigError
 */
export function parseSettings(json: unknown, env: Environment, folder: string): TransformerSettings {
  const file = validateFile(mergeSiteKeys(json, env));
  const apiKey = env['TRANSFORMER_API_KEY'] || undefined;
  if (apiKey !== undefined && !/^[\x21-\x7e]{16,200}$/.test(apiKey))
    throw new ConfigError('TRANSFORMER_API_KEY must be 16 to 200 printable characters without blanks.');
  const [first, ...others] = file.sites;
  const facadeSiteId = file.facadeSiteId ?? (others.length === 0 ? first?.siteId : undefined);
  if (!file.sites.some(({ siteId }) => siteId === facadeSiteId))
    throw new ConfigError(
      'facadeSiteId must be the siteId of one of the sites; it is required where there are several.',
    );
  const allowedClients = file.allowedClients && parseNetworks(file.allowedClients);
  if (!isLoopback(file.listenAddress) && apiKey === undefined && allowedClients === undefined)
    throw new ConfigError(
      `Every computer of the network could make refunds: to listen on ${file.listenAddress}, set TRANSFORMER_API_KEY or allowedClients.`,
    );
  return {
    apiUrl: file.apiUrl,
    merchantId: file.merchantId,
    sites: file.sites,
    facadeSiteId: facadeSiteId!,
    listenAddress: file.listenAddress,
    port: file.port,
    apiKey,
    allowedClients,
    publicUrl: file.publicUrl,
    database: resolve(folder, file.database),
    logLevel: file.logLevel,
    responseTimeoutMs: RESPONSE_TIMEOUT_MS,
  };
}

export function isLoopback(address: string): boolean {
  return LOOPBACK.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

function mergeSiteKeys(json: unknown, env: Environment): unknown {
  const sites: unknown = (json as { sites?: unknown } | null)?.sites;
  if (!Array.isArray(sites)) return json;
  const withKey = (site: { siteId?: unknown }): object => {
    const apiKey = env[`TRANSFORMER_SITE_KEY_${String(site?.siteId)}`];
    return apiKey ? { ...site, apiKey } : site;
  };
  return { ...(json as object), sites: sites.map(withKey) };
}

function validateFile(json: unknown): SettingsFile {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new ConfigError('The configuration file must hold a JSON object.');
  const file = plainToInstance(SettingsFile, json, { exposeDefaultValues: true });
  const problems = validateSync(file, { whitelist: true, forbidNonWhitelisted: true }).flatMap(validationMessages);
  if (problems.length > 0) throw new ConfigError(`The configuration is not usable: ${problems.join('; ')}.`);
  return file;
}

function validationMessages({ constraints = {}, children = [] }: ValidationError): string[] {
  const messages = Object.values(constraints).map((text) =>
    text.replace(/^property (\S+) should not exist$/, '$1 is not a member of the configuration'),
  );
  return [...messages, ...children.flatMap(validationMessages)];
}

function parseNetworks(texts: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const text of texts) {
    const [address = '', prefix] = text.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    try {
      if (prefix === undefined) networks.addAddress(address, family);
      else networks.addSubnet(address, Number(prefix), family);
    } catch (cause) {
      throw new ConfigError(`allowedClients: ${text} is neither an address nor a network.`, { cause });
    }
  }
  return networks;
}
